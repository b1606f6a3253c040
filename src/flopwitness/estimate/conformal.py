"""How far off an estimator is on runs that it has not seen, as an interval for the next one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class LogInterval(NamedTuple):
    """Bounds of ln(truth / estimate); infinite where too few runs promise anything."""

    low: float
    high: float


UNBOUNDED = LogInterval(float("-inf"), float("inf"))


def conformal_interval(log_ratios: ArrayLike, coverage_ratio: float) -> LogInterval:
    r"""Return the interval that holds the next ln(truth / estimate) with at least this probability.

    Split-conformal, each side with half of the miss rate: the :math:`\lceil (n + 1)(1 + c)/2 \rceil`-th
    smallest of n held-out values above, its mirror below (Vovk et al., "Algorithmic Learning in a Random
    World", 2005; Lei et al., JASA 2018). The promise needs the next run to be exchangeable with these.

    Parameters
    ----------
    log_ratios : array-like of shape (n_runs,)
        ln(truth / estimate) of runs that the estimator was not fitted on. NaN and infinite values count as
        misses on both sides.
    coverage_ratio : float
        Share of intervals that are to hold the truth, in (0, 1).

    Examples
    --------
    >>> conformal_interval([0.0, 0.1], 0.9)
    LogInterval(low=-inf, high=inf)
    >>> conformal_interval([x / 100 for x in range(-50, 50)], 0.9)
    LogInterval(low=-0.46, high=0.45)
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    upper = np.sort(np.where(np.isfinite(values), values, np.inf))
    lower = np.sort(np.where(np.isfinite(values), values, -np.inf))
    rank = int(np.ceil((len(values) + 1) * (1 + coverage_ratio) / 2))
    if rank > len(values):
        return UNBOUNDED
    return LogInterval(float(lower[len(values) - rank]), float(upper[rank - 1]))


def bounds_flop(point_flop: ArrayLike, interval: LogInterval) -> NDArray[np.float64]:
    """Return low and high beside each point, shape (n, 2); the point always lies between them."""
    point = np.asarray(point_flop, dtype=np.float64)
    low = point * np.exp(min(interval.low, 0.0))
    is_open = np.isinf(interval.high)  # 0 x infinity would be NaN
    high = np.full(len(point), np.inf) if is_open else point * np.exp(max(interval.high, 0.0))
    return np.column_stack([low, high])
