"""Fit every estimator on datasets of one chip, with intervals from families that were held out."""

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.examples import examples_of
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import conformal_interval, format_guard_log
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.estimate.regressors.base import ALWAYS
from flopwitness.estimate.regressors.factories import ColumnsOf, columns_factory
from flopwitness.evaluate.examples import Examples, concatenated
from flopwitness.evaluate.protocols import MIN_FAMILIES

COVERAGE_RATIO = 0.9
N_FOLDS = 1_000
"""More than there are groups: each is held out by itself."""

N_WORKLOAD_FOLDS = 10


FORMAT_METHODS = frozenset({"pipe-cycles-calibrated", "fused"})
"""Methods that learn from runs in other number formats than half precision; others would be led astray."""


def calibrated(
    datasets: Sequence[Dataset],
    targets: Iterable[Target] = tuple(Target),
    *,
    formats: Sequence[Dataset] = (),
    methods: Collection[str] = METHODS,
) -> Calibration:
    """Fit every method for the targets.

    Parameters
    ----------
    datasets : sequence of Dataset
        Benign runs in half precision.
    targets : iterable of Target
        What to count.
    formats : sequence of Dataset
        Runs in every number format of the chip, for the methods that can tell them; never held out.
    methods : collection of str
        Which.

    Raises
    ------
    BadInputError
        When datasets are of several chips, or no run has a truth for a target.
    """
    everything = (*datasets, *formats)
    chips = sorted({chip for dataset in everything for chip in dataset.chips})
    if len(chips) != 1:
        raise BadInputError("datasets", "chip", expected="one chip in all", got=", ".join(chips))
    by_target = {target: _examples(datasets, formats, target) for target in targets}
    examples = next(iter(by_target.values()))[1]
    return Calibration(
        chip=chips[0],
        driver=", ".join(sorted({dataset.recording.provenance.driver for dataset in everything} - {""})),
        data={dataset.recording.name: recording_sha256(dataset) for dataset in everything},
        n_runs=len(examples),
        n_workloads=examples.n_workloads,
        coverage_ratio=COVERAGE_RATIO,
        fitted={
            target: {
                name: _fitted(name, target, known if name in FORMAT_METHODS else benign, len(benign))
                for name in methods
            }
            for target, (benign, known) in by_target.items()
        },
    )


def _examples(
    datasets: Sequence[Dataset], formats: Sequence[Dataset], target: Target
) -> tuple[Examples, Examples]:
    """Return the benign runs, and the same with the runs in other formats after them."""
    benign = examples_of(datasets, target)
    return benign, concatenated([benign, examples_of(formats, target)]) if formats else benign


def recording_sha256(dataset: Dataset) -> str:
    """Return the digest of the samples: of the file that they were read from, or of the traces."""
    recording = dataset.recording
    if recording.provenance.input_sha256:
        return recording.provenance.input_sha256
    return "+".join(trace.digest() for trace in recording.traces)


def _fitted(name: str, target: Target, examples: Examples, n_benign: int) -> Fitted:
    families = np.unique(examples.families[:n_benign])
    by_family = len(families) >= MIN_FAMILIES
    indices = tuple(examples.feature_names.index(column) for column in METHODS[name].columns)
    make = columns_factory(name, target, indices, N_FOLDS if by_family else N_WORKLOAD_FOLDS)
    groups = examples.families if by_family else examples.workloads
    estimator = make().fit(
        examples.features,
        examples.truth_flop,
        groups=np.where(np.arange(len(examples)) < n_benign, groups, ALWAYS),
        components=examples.components,
        workloads=examples.workloads,
    )
    regressor = estimator.regressor
    if name != "fused":
        return Fitted(regressor.state_, regressor.interval_, regressor.guard_log_)
    errors = _format_errors(columns_factory(name, target, indices, 0), examples, n_benign, columns=indices)
    return Fitted(
        regressor.state_,
        regressor.interval_,
        regressor.guard_log_,
        conformal_interval(errors, COVERAGE_RATIO),
        format_guard_log(errors),
    )


def _format_errors(
    make: Callable[[], ColumnsOf], examples: Examples, n_benign: int, *, columns: Sequence[int]
) -> NDArray[np.float64]:
    """Return ln(truth / estimate) of runs in other formats, each workload of them held out in turn.

    Where the format is not told without that workload, the bounds are those of open formats, and the error is
    none of these.
    """
    is_format = np.arange(len(examples)) >= n_benign
    errors = []
    for workload in np.unique(examples.workloads[is_format]):
        held = is_format & (examples.workloads == workload)
        known = examples.take(np.flatnonzero(~held))
        fitted = make().fit(known.features, known.truth_flop, components=known.components)
        state = fitted.regressor.state_
        if isinstance(state, FusedState):
            answer = state.answer(examples.features[held][:, list(columns)])
            ratio_log = np.log(examples.truth_flop[held] / answer.point_flop)
            errors.append(ratio_log[answer.is_other_format])
    return np.concatenate(errors) if errors else np.empty(0)
