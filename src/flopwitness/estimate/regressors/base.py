"""What all our estimators share: checks, positive targets, and an interval from runs that were held out."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import check_is_fitted, validate_data

from flopwitness.estimate.conformal import UNBOUNDED, bounds_flop, conformal_interval
from flopwitness.estimate.methods import PredictorState

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
        Bounds of ln(truth / estimate).
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
        components : array-like of shape (n_sessions, 8), optional
            What each run was made of (``flopwitness.physics.components``), NaN where not known. Calibration
            runs are of known shape; sessions to be estimated are not.
        """
        features, flop = validate_data(
            self, X, y, y_numeric=True, dtype=np.float64, ensure_all_finite=self._finite, ensure_min_samples=2
        )
        made_of = None if components is None else np.asarray(components, dtype=np.float64)
        self.state_ = self._learn(features, flop, made_of)
        self.interval_ = UNBOUNDED
        if self.n_folds:
            held_out = self._held_out_log_ratios(features, flop, groups, made_of)
            self.interval_ = conformal_interval(held_out, self.coverage_ratio)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,)."""
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=self._finite)
        flop: NDArray[np.float64] = self.state_.predict(features)
        return flop

    def predict_interval(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return low and high FLOP, shape (n_sessions, 2)."""
        return self.interval_of(self.predict(X))

    def interval_of(self, point_flop: ArrayLike) -> NDArray[np.float64]:
        """Return low and high beside points, shape (n_sessions, 2)."""
        return bounds_flop(point_flop, self.interval_)

    def __sklearn_tags__(self) -> Any:
        """Say that random data, in which no law of ours holds, is not predicted well."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    _finite: bool | str = True

    @abstractmethod
    def _learn(
        self, features: NDArray[np.float64], flop: NDArray[np.float64], components: NDArray[np.float64] | None
    ) -> PredictorState:
        """Return the fitted constants."""

    def _held_out_log_ratios(
        self,
        features: NDArray[np.float64],
        flop: NDArray[np.float64],
        groups: ArrayLike | None,
        components: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return ln(truth / estimate) of each session by a fit that saw nothing of its group."""
        labels = np.arange(len(flop)) if groups is None else np.asarray(groups)
        n_groups = len(np.unique(labels))
        ratios = np.full(len(flop), np.nan)
        if n_groups < 2:
            return ratios
        folds = GroupKFold(min(self.n_folds, n_groups)).split(features, flop, labels)
        for train, test in folds:
            fold = clone(self).set_params(n_folds=0)
            fold.fit(
                features[train], flop[train], components=None if components is None else components[train]
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios[test] = np.log(flop[test] / fold.predict(features[test]))
        return ratios


def log_ratio(flop: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln(flop / reference), shape (n_sessions,), with stand-ins for what is not positive."""
    ratio: NDArray[np.float64] = np.log(np.maximum(flop, SMALLEST_FLOP))
    return ratio - np.log(np.maximum(reference, SMALLEST_FLOP))
