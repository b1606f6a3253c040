"""Fit on one side, score the other: one split here, all of them in :mod:`flopwitness.evaluate.evaluation`.

Whoever calls says where splits run; everything that goes in or comes out can be pickled.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.ports import Estimator
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.splits import Split

MIN_FAMILIES = 5
"""With fewer families than this, an interval is calibrated on single workloads that are held out."""

EstimatorFactory = Callable[[], Estimator]
"""Makes an estimator that is not fitted; a class or a ``functools.partial``, so that it can be pickled."""


class Protocol(StrEnum):
    """Who is held out, and what one score is; figures of two protocols are never subtracted."""

    RANDOM = "random"
    ONE_TRACE = "one-trace"
    FOLDS = "folds"
    FAMILY = "leave-family"
    DATASET = "leave-dataset"
    FROZEN = "frozen"

    @property
    def scores_workloads(self) -> bool:
        """Whether a split gives one score a workload (median of its traces) instead of one a trace."""
        return self is Protocol.FOLDS


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What one estimator said of the held-out examples of one split.

    Attributes
    ----------
    point_flop : ndarray of shape (n_test,), float64
        As it came: may be NaN, negative or infinite.
    bounds_flop : ndarray of shape (n_test, 2), float64
        Low and high.
    nominal_coverage_ratio : float or None
        The ``coverage_ratio`` that the estimator says it was calibrated for; None where it says none.

    Raises
    ------
    InvalidNounError
        When shapes disagree.
    """

    point_flop: NDArray[np.float64]
    bounds_flop: NDArray[np.float64]
    nominal_coverage_ratio: float | None = None

    def __post_init__(self) -> None:
        """Refuse answers that do not fit together."""
        if self.point_flop.ndim != 1 or self.bounds_flop.shape != (len(self.point_flop), 2):
            shapes = f"{self.point_flop.shape} and {self.bounds_flop.shape}"
            raise InvalidNounError(f"points and bounds have shapes {shapes}, expected (n,) and (n, 2)")


@dataclass(frozen=True, slots=True, eq=False)
class SplitScores:
    """What every estimator said of the held-out side of one split.

    Attributes
    ----------
    split : Split
        Who was fitted on and who was held out.
    n_train_workloads : int
        How many workloads were fitted on.
    predictions : mapping of str to Predictions
        One entry an estimator, aligned with ``split.test``.

    Raises
    ------
    InvalidNounError
        When an estimator answered for another number of examples.
    """

    split: Split
    n_train_workloads: int
    predictions: Mapping[str, Predictions]

    def __post_init__(self) -> None:
        """Refuse answers to another question."""
        n_test = len(self.split.test)
        for name, given in self.predictions.items():
            if len(given.point_flop) != n_test:
                got = len(given.point_flop)
                raise InvalidNounError(f"estimator {name!r} answered for {got} examples, asked for {n_test}")


def score_split(estimators: Mapping[str, EstimatorFactory], examples: Examples, split: Split) -> SplitScores:
    """Fit each estimator on one side of a split and ask it about the other.

    An estimator sees every feature column and picks its own. One whose ``fit`` takes ``groups`` is told
    the family of each example, or its workload where there are few families, so that its own calibration
    can hold out what the next run may differ in; one that takes ``workloads`` is told those; one that takes
    ``components`` is told what the runs that it is fitted on were made of. What an
    estimator raises goes through: a failed evaluation is no result.

    Parameters
    ----------
    estimators : mapping of str to callable
        Makes a fresh estimator for each name.
    examples : Examples
        What the split indexes.
    split : Split
        The two sides.
    """
    train, test = examples.take(split.train), examples.take(split.test)
    predictions = {name: _asked(_fitted(make(), train), test) for name, make in estimators.items()}
    return SplitScores(split, train.n_workloads, predictions)


def _fitted(estimator: Estimator, train: Examples) -> Estimator:
    fit: Callable[..., Estimator] = estimator.fit
    known = {"groups": _groups(train), "components": train.components, "workloads": train.workloads}
    wanted = {name: known[name] for name in inspect.signature(fit).parameters if name in known}
    return fit(train.features, train.truth_flop, **wanted)


def _groups(train: Examples) -> NDArray[np.str_]:
    """Return what an estimator's own calibration holds out together: families where there are enough."""
    many = len(np.unique(train.families)) >= MIN_FAMILIES
    return train.families if many else train.workloads


def _asked(estimator: Estimator, test: Examples) -> Predictions:
    return Predictions(
        point_flop=np.asarray(estimator.predict(test.features), dtype=np.float64),
        bounds_flop=np.asarray(estimator.predict_interval(test.features), dtype=np.float64),
        nominal_coverage_ratio=getattr(estimator, "coverage_ratio", None),
    )
