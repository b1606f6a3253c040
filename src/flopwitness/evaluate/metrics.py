"""How far estimates are from the truth, and how often their bounds hold it. Knows arrays, not estimators.

An estimate that is not a number counts as infinitely too high: an estimator that fails on a session does not
leave the median, it raises it. A negative or infinite estimate is taken as it is.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.quantiles import quantile


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """What a set of signed relative errors comes to.

    Attributes
    ----------
    median_abs_error_ratio, mean_abs_error_ratio, p90_abs_error_ratio : float, >= 0
        Of the absolute errors; infinite where failed estimates reach that far.
    worst_under_ratio : float, <= 0
        The most negative error, 0 if none is negative; below -1 where an estimate was negative.
    worst_over_ratio : float, >= 0
        The most positive error, 0 if none is positive.
    median_signed_error_ratio : float
        Where the middle of the errors lies: the bias.
    n : int, > 0
        How many errors.
    n_failed : int
        How many of them are of an estimate that was not finite.
    """

    median_abs_error_ratio: float
    mean_abs_error_ratio: float
    p90_abs_error_ratio: float
    worst_under_ratio: float
    worst_over_ratio: float
    median_signed_error_ratio: float
    n: int
    n_failed: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals held the truth, and how wide they were.

    Attributes
    ----------
    coverage_ratio : float in [0, 1]
        Share of intervals that hold the truth; one with an end that is NaN holds nothing.
    low_ratio, high_ratio : float in [0, 1]
        Wilson interval of that share at 95 % confidence, with a trial a workload: traces of one workload
        are right or wrong together.
    upper_coverage_ratio : float in [0, 1]
        Share of truths at or below the upper end.
    median_width_ratio : float, >= 0
        Median length over the point; infinite where the point is not positive or an end is not finite.
    n, n_workloads : int, > 0
        How many intervals, of how many workloads.
    """

    coverage_ratio: float
    low_ratio: float
    high_ratio: float
    upper_coverage_ratio: float
    median_width_ratio: float
    n: int
    n_workloads: int


def signed_error_ratio(estimate_flop: ArrayLike, truth_flop: ArrayLike) -> NDArray[np.float64]:
    """Return estimate / truth - 1, element by element; plus infinity where the estimate is NaN.

    Examples
    --------
    >>> signed_error_ratio([90.0, 120.0, float("nan")], 100.0).round(3).tolist()
    [-0.1, 0.2, inf]
    """
    estimate = np.asarray(estimate_flop, dtype=np.float64)
    ratio: NDArray[np.float64] = estimate / np.asarray(truth_flop, dtype=np.float64) - 1.0
    return np.where(np.isnan(ratio), np.inf, ratio)


def summarised(signed_error: ArrayLike) -> ErrorSummary:
    """Sum up signed relative errors, shape (n,).

    Raises
    ------
    InvalidNounError
        When there is no error: of nothing, nothing can be said.

    Examples
    --------
    >>> summary = summarised([-0.1, 0.2, 0.0])
    >>> summary.median_abs_error_ratio, summary.worst_under_ratio, summary.worst_over_ratio
    (0.1, -0.1, 0.2)
    """
    signed = np.asarray(signed_error, dtype=np.float64)
    if not signed.size:
        raise InvalidNounError("no score to sum up")
    absolute = np.abs(signed)
    return ErrorSummary(
        median_abs_error_ratio=quantile(absolute, 0.5),
        mean_abs_error_ratio=float(absolute.mean()),
        p90_abs_error_ratio=quantile(absolute, 0.9),
        worst_under_ratio=min(0.0, float(signed.min())),
        worst_over_ratio=max(0.0, float(signed.max())),
        median_signed_error_ratio=quantile(signed, 0.5),
        n=signed.size,
        n_failed=int(np.isinf(signed).sum()),
    )


def interval_coverage(
    truth_flop: NDArray[np.float64],
    point_flop: NDArray[np.float64],
    *,
    bounds_flop: NDArray[np.float64],
    workloads: NDArray[np.str_],
) -> Coverage:
    """Compare intervals with the truth.

    Parameters
    ----------
    truth_flop, point_flop : ndarray of shape (n,)
        What was counted, > 0; what was estimated.
    bounds_flop : ndarray of shape (n, 2)
        Low and high; high may be infinite.
    workloads : ndarray of shape (n,), str
        Workload of each interval.

    Raises
    ------
    InvalidNounError
        When there is no interval.
    """
    if not len(truth_flop):
        raise InvalidNounError("no interval to compare")
    low, high = bounds_flop.T
    n_workloads = len(np.unique(workloads))
    coverage_ratio = float(((low <= truth_flop) & (truth_flop <= high)).mean())
    low_ratio, high_ratio = wilson_interval(coverage_ratio, n_workloads)
    return Coverage(
        coverage_ratio=coverage_ratio,
        low_ratio=low_ratio,
        high_ratio=high_ratio,
        upper_coverage_ratio=float((truth_flop <= high).mean()),
        median_width_ratio=quantile(_width_ratio(point_flop, low, high), 0.5),
        n=len(truth_flop),
        n_workloads=n_workloads,
    )


def wilson_interval(
    share_ratio: float, n_trials: int, *, confidence_ratio: float = 0.95
) -> tuple[float, float]:
    """Return the ends of Wilson's score interval of a share.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927. The share
    need not be a whole number of trials.

    Examples
    --------
    >>> low, high = wilson_interval(1.0, 30)
    >>> f"{low:.3f} to {high:.3f}"
    '0.886 to 1.000'
    """
    z_squared = NormalDist().inv_cdf((1 + confidence_ratio) / 2) ** 2
    shrink = 1 + z_squared / n_trials
    centre = (share_ratio + z_squared / (2 * n_trials)) / shrink
    variance = share_ratio * (1 - share_ratio) / n_trials + z_squared / (4 * n_trials**2)
    half = float(np.sqrt(z_squared * variance)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)


def _width_ratio(
    point: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return length over point; without a positive point and two finite ends an interval narrows nothing."""
    measurable = np.isfinite(low) & np.isfinite(high) & np.isfinite(point) & (point > 0)
    width = np.where(measurable, high, 0.0) - np.where(measurable, low, 0.0)
    return np.where(measurable, width / np.where(measurable, point, 1.0), np.inf)
