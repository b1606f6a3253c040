"""Fit every estimator on datasets of one chip, with intervals from families that were held out."""

from collections.abc import Iterable, Sequence

import numpy as np

from flopwitness.app.examples import examples_of
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.regressors.factories import columns_factory
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.protocols import MIN_FAMILIES

COVERAGE_RATIO = 0.9
N_FOLDS = 1_000
"""More than there are groups: each is held out by itself."""

N_WORKLOAD_FOLDS = 10


def calibrated(
    datasets: Sequence[Dataset],
    targets: Iterable[Target] = tuple(Target),
    *,
    methods: Iterable[str] = METHODS,
) -> Calibration:
    """Fit every method for the targets.

    Raises
    ------
    BadInputError
        When datasets are of several chips, or no run has a truth for a target.
    """
    chips = sorted({chip for dataset in datasets for chip in dataset.chips})
    if len(chips) != 1:
        raise BadInputError("datasets", "chip", expected="one chip in all", got=", ".join(chips))
    by_target = {target: examples_of(datasets, target) for target in targets}
    examples = next(iter(by_target.values()))
    return Calibration(
        chip=chips[0],
        driver=", ".join(sorted({dataset.recording.provenance.driver for dataset in datasets} - {""})),
        data={dataset.recording.name: recording_sha256(dataset) for dataset in datasets},
        n_runs=len(examples),
        n_workloads=examples.n_workloads,
        coverage_ratio=COVERAGE_RATIO,
        fitted={
            target: {name: _fitted(name, target, found) for name in methods}
            for target, found in by_target.items()
        },
    )


def recording_sha256(dataset: Dataset) -> str:
    """Return the digest of the samples: of the file that they were read from, or of the traces."""
    recording = dataset.recording
    if recording.provenance.input_sha256:
        return recording.provenance.input_sha256
    return "+".join(trace.digest() for trace in recording.traces)


def _fitted(name: str, target: Target, examples: Examples) -> Fitted:
    families = np.unique(examples.families)
    by_family = len(families) >= MIN_FAMILIES
    indices = tuple(examples.feature_names.index(column) for column in METHODS[name].columns)
    make = columns_factory(name, target, indices, N_FOLDS if by_family else N_WORKLOAD_FOLDS)
    estimator = make().fit(
        examples.features,
        examples.truth_flop,
        groups=examples.families if by_family else examples.workloads,
        components=examples.components,
    )
    return Fitted(estimator.regressor.state_, estimator.regressor.interval_)
