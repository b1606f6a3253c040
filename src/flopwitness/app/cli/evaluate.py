"""``flopwitness evaluate``: how far off every estimator is on runs that it has not seen."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, CountedAs, DatasetPaths, Seed, Splits
from flopwitness.app.cli.output import percent, percent_fine, print_json, print_table, watching
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target

if TYPE_CHECKING:
    from flopwitness.evaluate.evaluation import Evaluation


class Chosen(StrEnum):
    """The protocols that a user may ask for."""

    RANDOM = "random"
    LEAVE_FAMILY = "leave-family"
    LEAVE_DATASET = "leave-dataset"
    FOLDS = "folds"
    FROZEN = "frozen"


ProtocolOption = Annotated[
    Chosen,
    typer.Option(
        "--protocol",
        help="random: the experiment's 2/3-1/3 splits by workload; leave-family: a family held out in turn; "
        "frozen: calibrated on the first dataset, or by --calibration, and tested on the others.",
    ),
]


def run(
    datasets: DatasetPaths,
    protocol: ProtocolOption = Chosen.RANDOM,
    calibration: CalibrationPath = None,
    splits: Splits = 200,
    seed: Seed = 0,
    target: CountedAs = Target.ALGORITHMIC,
    chip: Chip = DEFAULT_CHIP,
    json: AsJson = False,
) -> None:
    """Score every estimator on held-out runs, with the spread of each figure over workloads."""
    from flopwitness.evaluate.tables import evaluation_object  # noqa: PLC0415

    opened = [open_dataset(path, chip=chip) for path in datasets]
    if protocol is Chosen.FROZEN:
        found = _frozen(opened, calibration, target)
    else:
        found = _held_out(opened, protocol, splits, seed=seed, target=target)
    answer = evaluation_object(found, rng=np.random.default_rng(seed))
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


def _held_out(
    datasets: list[Dataset], protocol: Chosen, n_splits: int, *, seed: int, target: Target
) -> "Evaluation":
    from flopwitness.app.evaluating import evaluated, splits_of  # noqa: PLC0415  needs the research extra
    from flopwitness.app.examples import examples_of  # noqa: PLC0415
    from flopwitness.evaluate.protocols import Protocol  # noqa: PLC0415

    examples = examples_of(datasets, target)
    kind = Protocol(protocol.value)
    parts = splits_of(kind, examples, n_splits=n_splits, seed=seed)
    return evaluated(kind, examples, parts, watch=watching(f"{protocol}, {target}"))


def _frozen(datasets: list[Dataset], calibration: Path | None, target: Target) -> "Evaluation":
    from flopwitness.app.examples import examples_of  # noqa: PLC0415

    if calibration is not None:
        from flopwitness.app.frozen import frozen_by_file  # noqa: PLC0415

        return frozen_by_file(datasets, open_calibration(calibration), target)
    from flopwitness.app.evaluating import evaluated_frozen  # noqa: PLC0415  needs the research extra

    if len(datasets) < 2:
        raise BadInputError(
            "evaluate", "", expected="--calibration, or a dataset to calibrate on and one to test", got="one"
        )
    fit, test = examples_of(datasets[:1], target), examples_of(datasets[1:], target)
    return evaluated_frozen(fit, test, watch=watching(f"frozen, {target}"))


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
