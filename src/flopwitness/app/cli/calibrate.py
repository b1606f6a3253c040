"""``flopwitness calibrate``: fit every estimator on runs of known FLOP."""

from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.classifying import lessons_of, write_classifier
from flopwitness.app.cli.options import AsJson, Chip, DatasetPaths, Force
from flopwitness.app.cli.output import percent, print_json, print_table, talk
from flopwitness.app.opening import DEFAULT_CHIP, open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.storage.atomic import refuse_taken
from flopwitness.storage.calibrations import write_calibration

Output = Annotated[Path, typer.Option("--output", help="The calibration file to write.", show_default=False)]
OnlyTarget = Annotated[
    Target | None, typer.Option("--target", help="Fit for this target alone; for both where not given.")
]
Formats = Annotated[
    list[Path] | None,
    typer.Option(
        "--formats",
        help="Dataset folder of runs in other number formats, for the methods that tell them; repeatable.",
        show_default=False,
    ),
]

Classes = Annotated[
    bool,
    typer.Option(
        "--classes", help="Fit what tells training, inference and other work apart, and nothing else."
    ),
]


def run(
    datasets: DatasetPaths,
    output: Output,
    formats: Formats = None,
    target: OnlyTarget = None,
    classes: Classes = False,
    chip: Chip = DEFAULT_CHIP,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit every estimator on datasets of one chip and write one calibration file."""
    from flopwitness.app.calibrating import calibrated  # noqa: PLC0415  needs the research extra

    if not force:
        refuse_taken(output)  # before minutes of work, not after
    opened = [open_dataset(path, chip=chip) for path in datasets]
    if classes:
        _fit_classes(opened, output, force=force)
        return
    others = [open_dataset(path, chip=chip) for path in formats or ()]
    with talk().status("fitting every estimator, and each family held out in turn for the intervals"):
        fitted = calibrated(opened, [target] if target else tuple(Target), formats=others)
    payload = fitted.to_payload()
    write_calibration(output, payload, replace=force)
    talk().print(f"wrote {output}: {fitted.chip}, {fitted.n_runs} runs of {fitted.n_workloads} workloads")
    if json:
        print_json({name: payload[name] for name in ("chip", "driver", "data", "n_runs", "n_workloads")})
        return
    print_table("Interval of the truth around an estimate", COLUMNS, _rows(fitted))


def _fit_classes(datasets: list[Dataset], output: Path, *, force: bool) -> None:
    from flopwitness.estimate.classify.fitting import fitted_classifier  # noqa: PLC0415  as above

    chips = frozenset().union(*(dataset.chips for dataset in datasets))
    if len(chips) != 1:
        raise BadInputError("datasets", "", expected="one chip", got=", ".join(sorted(chips)) or "none")
    lessons = lessons_of(datasets)
    write_classifier(output, fitted_classifier(lessons, *chips), replace=force)
    n_runs = sum(len(dataset.runs) for dataset in datasets)
    talk().print(f"wrote {output}: {len(lessons.values)} windows of {n_runs} runs")


COLUMNS = ("method", "target", "lower end", "upper end", "coverage", "upper end if hostile")


def _rows(fitted: Calibration) -> list[tuple[str, ...]]:
    import numpy as np  # noqa: PLC0415

    return [
        (
            name,
            target.value,
            percent(float(np.expm1(one.interval.low))),
            percent(float(np.expm1(one.interval.high))),
            percent(fitted.coverage_ratio),
            percent(float(np.expm1(one.guard_log))) if isinstance(one.state, FusedState) else "none",
        )
        for target, by_name in fitted.fitted.items()
        for name, one in by_name.items()
    ]
