"""``flopwitness evaluate``: how far off every estimator is on runs that it has not seen."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, CountedAs, DatasetPaths, Seed, Splits
from flopwitness.app.cli.output import percent, percent_fine, print_json, print_table, watching
from flopwitness.app.cli.watch import DetectorName
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, open_dataset, shipped_calibration
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target
from flopwitness.estimate.methods import METHODS

if TYPE_CHECKING:
    from flopwitness.evaluate.evaluation import Evaluation


class Chosen(StrEnum):
    """The protocols that a user may ask for."""

    RANDOM = "random"
    LEAVE_FAMILY = "leave-family"
    LEAVE_DATASET = "leave-dataset"
    FOLDS = "folds"
    FROZEN = "frozen"
    LEARNING_CURVE = "learning-curve"
    DETECTION = "detection"
    STITCHING = "stitching"


ProtocolOption = Annotated[
    Chosen,
    typer.Option(
        "--protocol",
        help="random: the experiment's 2/3-1/3 splits by workload; leave-family: a family held out in turn; "
        "frozen: calibrated on the first dataset, by --fit-on or by --calibration, and tested on the others; "
        "learning-curve: calibrated on 4, 8, 16 ... workloads, --splits times; "
        "detection: each dataset replayed through the daemon, workloads and total FLOP against the log; "
        "stitching: sessions chained into jobs, as recorded, shuffled and split.",
    ),
]
DetectorOption = Annotated[
    DetectorName | None,
    typer.Option(
        "--detector",
        help="For detection: 'activity' at the recorded rate, 'experiment' at 2 Hz; both if absent.",
    ),
]
FitOn = Annotated[
    list[Path] | None,
    typer.Option(
        "--fit-on", help="For frozen: a dataset to calibrate on, may be repeated; then all others are tested."
    ),
]
EstimatorNames = Annotated[
    list[str] | None,
    typer.Option("--estimator", help="Score this estimator, may be repeated; all if absent."),
]
IntervalOption = Annotated[
    float | None,
    typer.Option(
        "--interval",
        help="Seconds between samples: score the datasets as if they had been sampled more slowly.",
    ),
]


def run(
    datasets: DatasetPaths,
    protocol: ProtocolOption = Chosen.RANDOM,
    calibration: CalibrationPath = None,
    fit_on: FitOn = None,
    estimator: EstimatorNames = None,
    interval: IntervalOption = None,
    detector: DetectorOption = None,
    splits: Splits = 200,
    seed: Seed = 0,
    target: CountedAs = Target.ALGORITHMIC,
    chip: Chip = DEFAULT_CHIP,
    json: AsJson = False,
) -> None:
    """Score every estimator on held-out runs, with the spread of each figure; or detection, or jobs."""
    if protocol is Chosen.DETECTION:
        _detection(datasets, detector, calibration, chip=chip, as_json=json)
        return
    if protocol is Chosen.STITCHING:
        _stitching(datasets, chip=chip, seed=seed, as_json=json)
        return
    opened = _opened(datasets, chip=chip, interval_seconds=interval)
    methods = _known(estimator)
    if protocol is Chosen.LEARNING_CURVE:
        _learning_curve(opened, splits, seed=seed, target=target, methods=methods, as_json=json)
        return
    from flopwitness.evaluate.tables import evaluation_object  # noqa: PLC0415

    if protocol is Chosen.FROZEN:
        fit = _opened(fit_on or [], chip=chip, interval_seconds=interval)
        found = _frozen(opened, fit, calibration, target=target, methods=methods)
    else:
        found = _held_out(opened, protocol, splits, seed=seed, target=target, methods=methods)
    answer = evaluation_object(found, rng=np.random.default_rng(seed)) | {"interval_seconds": interval}
    if json:
        print_json(answer)
        return
    print_evaluation(answer)


def print_evaluation(answer: dict[str, Any]) -> None:
    """Print what ``evaluation_object`` gave as a table."""
    print_table(_title(answer), COLUMNS, _rows(answer))


COLUMNS = (
    "estimator",
    "median",
    "95 % interval",
    "mean",
    "90th percentile",
    "worst under",
    "worst over",
    "coverage",
)


def _detection(
    paths: list[Path], detector: DetectorName | None, calibration: Path | None, *, chip: str, as_json: bool
) -> None:
    from flopwitness.app.cli.detection import detection_object, print_detection  # noqa: PLC0415
    from flopwitness.app.detecting import CADENCES, detection_of  # noqa: PLC0415

    named = open_calibration(calibration) if calibration else None
    calibration_for = cache(shipped_calibration) if named is None else lambda _: named
    asked = [(path, name) for path in paths for name in ([detector.value] if detector else CADENCES)]
    replays = (detection_of(path, name, chip=chip, calibration_for=calibration_for) for path, name in asked)
    answers = list(watching("detection")(replays, len(asked)))
    if as_json:
        print_json({"protocol": "detection", "replays": [detection_object(answer) for answer in answers]})
    else:
        print_detection(answers)


def _stitching(paths: list[Path], *, chip: str, seed: int, as_json: bool) -> None:
    from flopwitness.app.cli.stitching import print_stitching, stitching_object  # noqa: PLC0415
    from flopwitness.app.stitching import stitching_of  # noqa: PLC0415

    found = (stitching_of(path, chip=chip, seed=seed) for path in paths)
    rows = list(chain.from_iterable(watching("stitching")(found, len(paths))))
    if as_json:
        print_json(stitching_object(rows, seed=seed))
    else:
        print_stitching(rows)


def _opened(paths: Iterable[Path], *, chip: str, interval_seconds: float | None) -> list[Dataset]:
    """Open datasets, thinned where a slower sampler is asked for."""
    opened = [open_dataset(path, chip=chip) for path in paths]
    if interval_seconds is None:
        return opened
    from flopwitness.evaluate.cadence import sampled_every  # noqa: PLC0415

    if not 0 < interval_seconds < float("inf"):
        raise BadInputError("--interval", "", expected="seconds above 0", got=str(interval_seconds))
    return [
        replace(one, recording=sampled_every(one.recording, interval_seconds=interval_seconds))
        for one in opened
    ]


def _known(names: list[str] | None) -> tuple[str, ...]:
    """Return the estimators asked for, or all."""
    for name in names or ():
        if name not in METHODS:
            raise BadInputError("--estimator", "", expected=f"one of {', '.join(METHODS)}", got=name)
    return tuple(names or METHODS)


def _learning_curve(
    datasets: list[Dataset],
    n_draws: int,
    *,
    seed: int,
    target: Target,
    methods: Sequence[str],
    as_json: bool,
) -> None:
    from flopwitness.app.cli.learning import print_curve  # noqa: PLC0415
    from flopwitness.app.evaluating import learning_curve  # noqa: PLC0415  needs the research extra
    from flopwitness.app.examples import examples_of  # noqa: PLC0415
    from flopwitness.evaluate.learning_curve import curve_object  # noqa: PLC0415

    watch = watching(f"learning curve, {target}")
    curve = learning_curve(
        examples_of(datasets, target), n_draws=n_draws, seed=seed, watch=watch, methods=methods
    )
    answer = {"protocol": "learning-curve", **curve_object(curve)}
    if as_json:
        print_json(answer)
    else:
        print_curve(answer)


def _held_out(
    datasets: list[Dataset],
    protocol: Chosen,
    n_splits: int,
    *,
    seed: int,
    target: Target,
    methods: Sequence[str],
) -> "Evaluation":
    from flopwitness.app.evaluating import evaluated, splits_of  # noqa: PLC0415  needs the research extra
    from flopwitness.app.examples import examples_of  # noqa: PLC0415
    from flopwitness.evaluate.protocols import Protocol  # noqa: PLC0415

    examples = examples_of(datasets, target)
    kind = Protocol(protocol.value)
    parts = splits_of(kind, examples, n_splits=n_splits, seed=seed)
    return evaluated(kind, examples, parts, watch=watching(f"{protocol}, {target}"), methods=methods)


def _frozen(
    datasets: list[Dataset],
    fit_on: list[Dataset],
    calibration: Path | None,
    *,
    target: Target,
    methods: Sequence[str],
) -> "Evaluation":
    from flopwitness.app.examples import examples_of  # noqa: PLC0415

    if calibration is not None:
        from flopwitness.app.frozen import frozen_by_file  # noqa: PLC0415

        return frozen_by_file(datasets, open_calibration(calibration), target, methods=methods)
    from flopwitness.app.evaluating import evaluated_frozen  # noqa: PLC0415  needs the research extra

    if not fit_on and len(datasets) < 2:
        raise BadInputError(
            "evaluate", "", expected="--calibration, or a dataset to calibrate on and one to test", got="one"
        )
    calibrated, tested = (fit_on, datasets) if fit_on else (datasets[:1], datasets[1:])
    fit, test = examples_of(calibrated, target), examples_of(tested, target)
    return evaluated_frozen(fit, test, watch=watching(f"frozen, {target}"), methods=methods)


def _title(answer: dict[str, Any]) -> str:
    return (
        f"{answer['protocol']}, {answer['target']} FLOP: {answer['splits']} splits, "
        f"{answer['n_workloads']} workloads, {answer['n_traces']} traces; absolute error, worst signed"
    )


def _rows(answer: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, row in answer["estimators"].items():
        spread = row["median_abs_error_ratio_interval"]
        rows.append(
            (
                name,
                percent_fine(row["median_abs_error_ratio"]),
                f"{percent(spread['low_ratio'])} to {percent(spread['high_ratio'])}",
                percent_fine(row["mean_abs_error_ratio"]),
                percent_fine(row["p90_abs_error_ratio"]),
                percent(row["worst_under_ratio"]),
                percent(row["worst_over_ratio"]),
                percent(row["coverage"]["coverage_ratio"]) if row["coverage"]["nominal_ratio"] else "-",
            )
        )
    return rows
