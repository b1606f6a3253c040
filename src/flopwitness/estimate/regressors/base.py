"""What all our estimators share: checks, positive targets, and an interval from runs that were held out."""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import check_is_fitted, validate_data

from flopwitness.estimate.conformal import (
    UNBOUNDED,
    LogInterval,
    bounds_flop,
    conformal_interval,
    guard_log,
    widest,
)
from flopwitness.estimate.methods import PredictorState

ALWAYS = ""
"""Group of runs that teach number formats: with them held out their format is unknown, which says nothing."""

WORKLOAD_FOLDS = 10
"""Folds that hold out workloads, whose families stay, for the interval."""

SMALLEST_FLOP = 1e-300
"""Stands in for targets that are not positive, which no run has, so that a logarithm exists."""


class FlopRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators: ``fit`` learns ``state_``, plain constants that predict by themselves.

    Parameters
    ----------
    coverage_ratio : float
        Share of intervals that are to hold the truth, in (0, 1).
    n_folds : int
        Folds of groups held out in turn to calibrate the interval; 0 leaves it infinite.

    Attributes
    ----------
    state_ : PredictorState
        The fitted constants.
    interval_ : LogInterval
        Bounds of ln(truth / estimate) over a session's ``spread``: both for workloads of families that were
        held out and for workloads that were held out alone.
    guard_log_ : float
        Upper bound of ln(truth / estimate) over a session's ``strangeness``, to hold for workloads that are
        made to be under-counted.
    """

    def __init__(self, *, coverage_ratio: float = 0.9, n_folds: int = 0) -> None:
        self.coverage_ratio = coverage_ratio
        self.n_folds = n_folds

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        components: ArrayLike | None = None,
        workloads: ArrayLike | None = None,
    ) -> Self:
        """Learn from sessions of known FLOP.

        Parameters
        ----------
        X : array-like of shape (n_sessions, n_features)
            Feature columns of this estimator.
        y : array-like of shape (n_sessions,)
            True FLOP.
        groups : array-like of shape (n_sessions,), optional
            What is held out together when the interval is calibrated; each session alone where not given.
            Sessions of the group ``ALWAYS`` are always learned from and never held out.
        components : array-like of shape (n_sessions, 8), optional
            What each run was made of (``flopwitness.physics.components``), NaN where not known. Calibration
            runs are of known shape; sessions to be estimated are not.
        workloads : array-like of shape (n_sessions,), optional
            What counts once however many traces it has, and is held out a second time with its family there;
            each session by itself, held out with its group alone, where not given.
        """
        features, flop = validate_data(
            self, X, y, y_numeric=True, dtype=np.float64, ensure_all_finite=self._finite, ensure_min_samples=2
        )
        made_of = None if components is None else np.asarray(components, dtype=np.float64)
        self.state_ = self._learn(features, flop, made_of)
        self.interval_, self.guard_log_ = UNBOUNDED, float("inf")
        if self.n_folds:
            labels = np.arange(len(flop)).astype(np.str_) if groups is None else np.asarray(groups)
            seen = self._held_out(features, flop, labels, made_of, n_folds=self.n_folds)
            self.guard_log_ = guard_log(seen.ratio_log / seen.strangeness)
            names = None if workloads is None else np.asarray(workloads)
            self.interval_ = seen.interval(self.coverage_ratio, names)
            if names is not None:
                alone = np.where(labels == ALWAYS, ALWAYS, names)
                seen = self._held_out(features, flop, alone, made_of, n_folds=WORKLOAD_FOLDS)
                self.interval_ = widest(self.interval_, seen.interval(self.coverage_ratio, names))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,)."""
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=self._finite)
        flop: NDArray[np.float64] = self.state_.predict(features)
        return flop

    def predict_interval(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return low and high FLOP, shape (n_sessions, 2)."""
        return bounds_flop(self.predict(X), self.interval_, self.spread(X))

    def __sklearn_tags__(self) -> Any:
        """Say that random data, in which no law of ours holds, is not predicted well."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    def strangeness(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how unlike the calibration each session is, shape (n_sessions,): 1 where nobody can tell."""
        return np.ones(len(np.asarray(X)))

    def spread(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how many times the usual error each session may be off by, shape (n_sessions,), >= 1.

        1 where nobody can tell: then all intervals are alike.
        """
        return np.ones(len(np.asarray(X)))

    _finite: bool | str = True

    @abstractmethod
    def _learn(
        self, features: NDArray[np.float64], flop: NDArray[np.float64], components: NDArray[np.float64] | None
    ) -> PredictorState:
        """Return the fitted constants."""

    def _held_out(
        self,
        features: NDArray[np.float64],
        flop: NDArray[np.float64],
        labels: NDArray[np.str_],
        components: NDArray[np.float64] | None,
        *,
        n_folds: int,
    ) -> "HeldOut":
        """Ask about each session a fit that saw none of its group; NaN where one group is all there is."""
        always, scored = np.flatnonzero(labels == ALWAYS), np.flatnonzero(labels != ALWAYS)
        n_groups = len(np.unique(labels[scored]))
        ratios, strangeness, spread = np.full(len(flop), np.nan), np.ones(len(flop)), np.ones(len(flop))
        if n_groups < 2:
            return HeldOut(scored, ratios[scored], strangeness[scored], spread[scored])
        folds = GroupKFold(min(n_folds, n_groups)).split(scored, groups=labels[scored])
        for learned, held in folds:
            train, test = np.append(scored[learned], always), scored[held]
            fold = clone(self).set_params(n_folds=0)
            fold.fit(
                features[train], flop[train], components=None if components is None else components[train]
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios[test] = np.log(flop[test] / fold.predict(features[test]))
            strangeness[test] = fold.strangeness(features[test])
            spread[test] = fold.spread(features[test])
        return HeldOut(scored, ratios[scored], strangeness[scored], spread[scored])


class HeldOut(NamedTuple):
    """What fits that did not see them said of sessions: where they stand, and arrays beside it."""

    rows: NDArray[np.int64]
    ratio_log: NDArray[np.float64]
    strangeness: NDArray[np.float64]
    spread: NDArray[np.float64]

    def interval(self, coverage_ratio: float, workloads: NDArray[np.str_] | None) -> LogInterval:
        """Return the interval of a session of the usual spread; labels are those of all sessions."""
        names = None if workloads is None else workloads[self.rows]
        return conformal_interval(self.ratio_log / self.spread, coverage_ratio, names)


def log_ratio(flop: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln(flop / reference), shape (n_sessions,), with stand-ins for what is not positive."""
    ratio: NDArray[np.float64] = np.log(np.maximum(flop, SMALLEST_FLOP))
    return ratio - np.log(np.maximum(reference, SMALLEST_FLOP))
