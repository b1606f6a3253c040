"""Score every recorded attack and write docs/redteam.md: ``python benchmarks/redteam.py``.

Four scorings, two sets of twins by two targets, by the calibration that is shipped; then each attack on the
number format again, by a calibration that has no run in that format. Keeps the answers, with the versions
that gave them, under ``benchmarks/results/redteam/`` and draws the page and its figures from those.
``--pages`` draws them again from the answers that are there, and scores the first set alone for the figures;
``--left-out`` makes the answer to formats left out again before.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import results_figures
from redteam_page import page
from results import environment
from results_cases import FORMATS, OWN_PATHS, ROOT

from flopwitness.app.calibrating import calibrated
from flopwitness.app.cli.redteam_tables import scoring_object
from flopwitness.app.opening import DEFAULT_CHIP, open_dataset
from flopwitness.app.redteaming import materials_of, open_attacked, scored_attacks
from flopwitness.app.redteaming_score import Asked, gathered
from flopwitness.app.report.redteam_content import SHOWN_METHODS, RedteamContent
from flopwitness.app.report.redteam_page import redteam_plates
from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import Target
from flopwitness.redteam.catalogue import ATTACKS
from flopwitness.redteam.summary import summaries_of

RESULTS = ROOT / "benchmarks" / "results" / "redteam"
FIGURES = ROOT / "docs" / "figures"
PAGE = ROOT / "docs" / "redteam.md"

SETS: Mapping[str, tuple[str, ...]] = {
    "first": ("datasets/h200x2-f1", "datasets/h200x2-f2"),
    "second": ("datasets/h200x2-g",),
}
"""Recordings by the twins that were attacked. The first set was looked at while defences were made."""

MECHANISMS: Mapping[str, frozenset[str]] = {
    "fp8": frozenset({"fp8", "fp8-fast"}),
    "fp8-fast": frozenset({"fp8", "fp8-fast"}),
    "tf32": frozenset({"tf32"}),
    "fp32": frozenset({"fp32"}),
    "int8": frozenset({"int8"}),
}
"""Attacks on the number format, and the precisions whose runs a calibration is made without."""

DIGITS = 5


def answer(name: str, target: Target) -> tuple[RedteamContent, dict[str, object]]:
    """Score one set; return what figures are drawn of, and what is kept."""
    paths = SETS[name]
    content = gathered(
        Asked(datasets=tuple(ROOT / path for path in paths), target=target, twins=name, chip=DEFAULT_CHIP)
    )
    twins = [] if name == "first" else ["--twins", name]
    words = ["flopwitness redteam score", *paths, *twins, "--target", target.value, "--json"]
    told = dict(scoring_object(content))
    for key in ("effects", "summaries", "cheapest"):
        told[key] = [row for row in told[key] if row["method"] in SHOWN_METHODS]  # type: ignore[union-attr]
    told.pop("jobs")
    return content, {"command": " ".join(words), "environment": environment(), "answer": rounded(told)}


def left_out() -> dict[str, object]:
    """Score each attack on the format by a calibration without any run in that format."""
    benign = [open_dataset(ROOT / path, chip=DEFAULT_CHIP) for path in OWN_PATHS]
    formats = [open_dataset(ROOT / path, chip=DEFAULT_CHIP) for path in FORMATS]
    datasets = [open_attacked(ROOT / path, chip=DEFAULT_CHIP) for path in SETS["first"]]
    materials = [one for dataset in datasets for one in materials_of(dataset)]
    rows = []
    for attack, precisions in MECHANISMS.items():
        without = [_without(dataset, precisions) for dataset in formats]
        calibration = calibrated(
            benign, (Target.EXECUTED,), formats=without, methods=("pipe-cycles-calibrated", "fused")
        )
        scoring = scored_attacks(
            materials,
            {attack: ATTACKS[attack]},
            calibration_without=lambda _, chosen=calibration: chosen,
            target=Target.EXECUTED,
        )
        summaries = summaries_of(scoring.effects, rng=np.random.default_rng(0))
        found = next(one for one in summaries if (one.attack, one.method) == (attack, "fused"))
        effects = [one for one in scoring.effects if one.method == "fused"]
        rows.append(
            {
                "attack": attack,
                "median_abs_error_ratio": found.median_abs_error_ratio,
                "worst_under_ratio": min(one.signed_error_ratio for one in effects),
                "n_runs": sum(one.n_traces for one in effects),
                "n_high_holds": sum(one.n_high_holds for one in effects),
                "n_identified": sum(one.is_format_identified for one in effects),
                "n_settings": len(effects),
                "width_ratio": float(np.median([one.width_ratio for one in effects])),
            }
        )
    return {
        "command": "python benchmarks/redteam.py",
        "environment": environment(),
        "answer": rounded({"rows": rows}),
    }


def _without(dataset: Dataset, precisions: Iterable[str]) -> Dataset:
    kept = tuple(run for run in dataset.runs if run.config.parameters.get("precision") not in precisions)
    return replace(dataset, runs=kept)


def rounded(value: Any) -> Any:
    """Return JSON values with a few digits: that many carry meaning, and files stay small."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rounded(one) for one in value]
    return value


def draw(content: RedteamContent) -> list[tuple[str, str, str]]:
    """Write the figures; return name, heading and caption of each."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    told = []
    for plate in redteam_plates(content):
        name = f"redteam-{plate.ident}"
        (FIGURES / f"{name}.svg").write_text(results_figures.standalone(plate.figure))
        told.append((name, plate.heading, plate.caption))
    return told


def main() -> None:
    """Score, keep, draw."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    first, kept = answer("first", Target.EXECUTED)
    if "--left-out" in sys.argv[1:]:
        _keep("left-out", left_out())
    elif "--pages" not in sys.argv[1:]:
        _keep("first-executed", kept)
        for name, target in (
            ("first", Target.ALGORITHMIC),
            ("second", Target.EXECUTED),
            ("second", Target.ALGORITHMIC),
        ):
            _keep(f"{name}-{target.value}", answer(name, target)[1])
        _keep("left-out", left_out())
    answers = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    PAGE.write_text(page(answers, draw(first), first.scoring.attacks))


def _keep(name: str, content: Mapping[str, object]) -> None:
    (RESULTS / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
