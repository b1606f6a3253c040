"""How far off an estimator is on runs that it has not seen, as an interval for the next one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class LogInterval(NamedTuple):
    """Bounds of ln(truth / estimate); infinite where too few runs promise anything."""

    low: float
    high: float


UNBOUNDED = LogInterval(float("-inf"), float("inf"))


def conformal_interval(
    log_ratios: ArrayLike, coverage_ratio: float, clusters: ArrayLike | None = None
) -> LogInterval:
    r"""Return the interval that holds the next ln(truth / estimate) with at least this probability.

    Split-conformal, each side with half of the miss rate: the :math:`\lceil (n + 1)(1 + c)/2 \rceil`-th
    smallest of n held-out values above, its mirror below (Vovk et al., "Algorithmic Learning in a Random
    World", 2005; Lei et al., JASA 2018). The promise needs the next run to be exchangeable with these.

    Runs of one workload err together, so with ``clusters`` each workload counts as one run, its traces share
    that weight, and the promise is for a run of the next workload: hierarchical conformal prediction (Lee,
    Barber and Willett, "Distribution-free inference with hierarchical data", 2023).

    Parameters
    ----------
    log_ratios : array-like of shape (n_runs,)
        ln(truth / estimate) of runs that the estimator was not fitted on. NaN and infinite values count as
        misses on both sides.
    coverage_ratio : float
        Share of intervals that are to hold the truth, in (0, 1).
    clusters : array-like of shape (n_runs,), optional
        Workload of each run; each run by itself where not given.

    Examples
    --------
    >>> conformal_interval([0.0, 0.1], 0.9)
    LogInterval(low=-inf, high=inf)
    >>> conformal_interval([x / 100 for x in range(-50, 50)], 0.9)
    LogInterval(low=-0.46, high=0.45)
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    known = np.isfinite(values)
    weights = _shares(values, clusters)
    share = (1 + coverage_ratio) / 2
    low = -_upper_end(np.where(known, -values, np.inf), weights, share)
    high = _upper_end(np.where(known, values, np.inf), weights, share)
    return UNBOUNDED if np.isinf(low) and np.isinf(high) else LogInterval(low, high)


def widest(first: LogInterval, second: LogInterval) -> LogInterval:
    """Return the interval that holds both."""
    return LogInterval(min(first.low, second.low), max(first.high, second.high))


ROUNDING = 1e-9
"""Thirds of a workload add up to one but for the last bits."""


def _shares(values: NDArray[np.float64], clusters: ArrayLike | None) -> NDArray[np.float64]:
    """Return how much of a workload each run stands for."""
    if clusters is None:
        return np.ones(len(values))
    _, cluster_of, counts = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    return 1.0 / counts[cluster_of]


def _upper_end(values: NDArray[np.float64], weights: NDArray[np.float64], share: float) -> float:
    """Return the smallest value that this share of the workloads, the next one among them, lies below."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    needed = share * (weights.sum() + 1) - ROUNDING
    rank = int(np.searchsorted(reached, needed))
    return float(values[order[rank]]) if rank < len(values) else float("inf")


GUARD_COVERAGE_RATIO = 0.99
"""Share of benign runs that the upper bound for hostile ones holds before it is widened."""

MIN_FORMAT_RUNS = 20
"""Held-out runs in other formats that a bound needs: as many as an interval of 90 % does."""

SHIFT_COVER = 2.0
"""How much farther off a hostile run may be than the one of a hundred benign ones that is farthest off.

A hostile workload is not exchangeable with benign ones, so no quantile of theirs promises anything about it:
this factor is a decision (docs/adr/0017), and what it holds against is measured in the red team's results.
"""


def guard_log(log_ratios: ArrayLike) -> float:
    """Return an upper bound of ln(truth / estimate) for runs that are made to be under-counted.

    Infinite where too few runs say anything: 99 at least. NaN counts as a miss.

    Examples
    --------
    >>> guard_log([0.01] * 50)
    inf
    >>> round(guard_log([x / 1000 for x in range(200)]), 3)
    0.396
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    upper = np.sort(np.where(np.isfinite(values), values, np.inf))
    rank = int(np.ceil((len(values) + 1) * GUARD_COVERAGE_RATIO))
    return float("inf") if rank > len(values) else SHIFT_COVER * max(float(upper[rank - 1]), 0.0)


def format_guard_log(log_ratios: ArrayLike) -> float:
    """Return the same for runs in other number formats, which are few: the farthest of them, covered.

    Infinite with fewer than ``MIN_FORMAT_RUNS``.
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    if len(values) < MIN_FORMAT_RUNS or not np.isfinite(values).all():
        return float("inf")
    return SHIFT_COVER * max(float(values.max()), 0.0)


def bounds_flop(point_flop: ArrayLike, interval: LogInterval, spread: ArrayLike = 1.0) -> NDArray[np.float64]:
    """Return low and high beside each point, shape (n, 2); the point always lies between them.

    ``spread``, shape (n,) and > 0, says how many times the usual error each session may be off by.
    """
    point = np.asarray(point_flop, dtype=np.float64)
    low = point * np.exp(min(interval.low, 0.0) * np.asarray(spread))
    is_open = np.isinf(interval.high)  # 0 x infinity would be NaN
    stretch = np.exp((0.0 if is_open else max(interval.high, 0.0)) * np.asarray(spread))
    high = np.full(len(point), np.inf) if is_open else point * stretch
    return np.column_stack([low, high])
