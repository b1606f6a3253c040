"""What ``flopwitness redteam score`` does: open, score by frozen calibrations, sum up, write the page."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from flopwitness.app.opening import open_calibration, open_dataset, shipped_calibration
from flopwitness.app.redteaming import BENIGN, materials_of, open_attacked, scored_attacks
from flopwitness.app.redteaming_jobs import job_lanes
from flopwitness.app.report.redteam_content import RedteamContent
from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.redteam.catalogue import ATTACK_SETS
from flopwitness.redteam.frontier import Figure, cheapest
from flopwitness.redteam.summary import summaries_of
from flopwitness.storage.atomic import write_atomically

TITLE = "Training compute under attack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to score.

    Attributes
    ----------
    datasets, benign : tuple of Path
        Attack runs with their twins; other runs for the benign band.
    calibration : Path or None
        Frozen before; the one shipped for the chip where None.
    without : Path or None
        Folder of calibrations that were each fitted without one attack.
    target : Target
        Which FLOP to count.
    twins : str
        Which set of the catalogue was run; a key of ``ATTACK_SETS``.
    chip : str
        Of recordings that do not name it.
    seed : int
        Of the bootstrap.
    """

    datasets: tuple[Path, ...]
    benign: tuple[Path, ...] = ()
    calibration: Path | None = None
    without: Path | None = None
    target: Target = Target.EXECUTED
    twins: str = "first"
    chip: str
    seed: int = 0


def gathered(asked: Asked) -> RedteamContent:
    """Score attacks and gather what tables and page show.

    Raises
    ------
    BadInputError
        When a dataset or calibration cannot be used, or no run is of an attack.
    CalibrationMismatchError
        When a calibration is for another chip or target.
    """
    datasets = [open_attacked(path, chip=asked.chip) for path in asked.datasets]
    benign = [open_dataset(path, chip=asked.chip) for path in asked.benign]
    base = _base(asked, datasets)
    own = {} if asked.without is None else {path.stem: path for path in asked.without.glob("*.json")}

    @cache
    def calibration_without(attack: str) -> Calibration:
        return open_calibration(own[attack]) if attack != BENIGN and attack in own else base

    scoring = scored_attacks(
        [one for dataset in datasets for one in materials_of(dataset)],
        ATTACK_SETS[asked.twins],
        benign=[one for dataset in benign for one in materials_of(dataset)],
        calibration_without=calibration_without,
        target=asked.target,
    )
    return RedteamContent(
        title=TITLE,
        scoring=scoring,
        summaries=summaries_of(scoring.effects, rng=np.random.default_rng(asked.seed)),
        cheapest=tuple(
            cheapest(scoring.effects, method, figure) for method in scoring.methods for figure in Figure
        ),
        lanes=job_lanes(datasets, scoring.attacks),
        generated_from={one.recording.name: one.recording.provenance.input_sha256 for one in datasets},
        calibrated_on=tuple(base.data),
        left_out_in_turn=tuple(attack.name for attack in scoring.attacks if attack.name in own),
    )


def write_report(path: Path, content: RedteamContent, *, replace: bool) -> None:
    """Write the page; drawing needs the research extra."""
    from flopwitness.app.report.redteam_page import render_redteam  # noqa: PLC0415  needs the research extra
    from flopwitness.app.svg import inline_svg  # noqa: PLC0415

    page = render_redteam(content, draw=inline_svg)
    write_atomically(path, lambda out: out.write(page.encode()), replace=replace)


def _base(asked: Asked, datasets: list[Dataset]) -> Calibration:
    if asked.calibration is not None:
        return open_calibration(asked.calibration)
    return shipped_calibration({chip for dataset in datasets for chip in dataset.chips})
