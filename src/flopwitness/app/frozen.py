"""Score a calibration file as it is: nothing is fitted, so nothing beyond numpy is needed."""

from collections.abc import Collection, Sequence

import numpy as np

from flopwitness.app.examples import examples_of, run_features
from flopwitness.core.dataset import Dataset
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.estimating import estimated_all
from flopwitness.estimate.methods import METHODS
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.protocols import Predictions, Protocol, SplitScores
from flopwitness.evaluate.splits import Split


def frozen_by_file(
    datasets: Sequence[Dataset],
    calibration: Calibration,
    target: Target,
    *,
    methods: Collection[str] = tuple(METHODS),
) -> Evaluation:
    """Ask a calibration about every run of known truth.

    Raises
    ------
    CalibrationMismatchError
        When it is for another chip, or was not fitted for this target.
    """
    features = [
        one
        for dataset in datasets
        for run, one in zip(dataset.runs, run_features(dataset), strict=True)
        if run.truth.flop(target) is not None
    ]
    answers = [answer.estimates for answer in estimated_all(features, calibration, target)]
    examples = examples_of(datasets, target)
    nominal = calibration.coverage_ratio
    predictions = {
        name: _predictions([answer.get(name) for answer in answers], nominal)
        for name in calibration.for_target(target)
        if name in methods
    }
    split = Split(np.empty(0, dtype=np.int64), np.arange(len(examples)), "frozen")
    scores = SplitScores(split, calibration.n_workloads, predictions)
    return Evaluation(Protocol.FROZEN, examples, (scores,))


def _predictions(answers: Sequence[Estimate | None], nominal: float) -> Predictions:
    """Put estimates into arrays; one that was not given is NaN, which counts as failed."""
    rows = np.array(
        [
            (np.nan, np.nan, np.nan) if one is None else (one.point_flop, one.low_flop, one.high_flop)
            for one in answers
        ]
    )
    return Predictions(rows[:, 0], rows[:, 1:], nominal_coverage_ratio=nominal)
