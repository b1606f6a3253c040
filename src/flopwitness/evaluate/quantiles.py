"""Quantiles that stay defined where values are infinite: of one set, of resampled sets, of groups."""

import numpy as np
from numpy.typing import NDArray


def quantile(values: NDArray[np.float64], ratio: float) -> float:
    """Return a quantile with linear interpolation, as numpy's, but defined where values are infinite.

    Parameters
    ----------
    values : ndarray of shape (n,)
        At least one; may be infinite, not NaN.
    ratio : float in [0, 1]
        0.5 for the median.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0]), 0.5), quantile(np.array([3.0, 1.0, np.inf]), 0.5)
    (2.0, 3.0)
    """
    ranked = np.sort(values)
    position = np.array([ratio * (len(ranked) - 1)])
    below, above = np.floor(position).astype(np.int64), np.ceil(position).astype(np.int64)
    return float(between(ranked[below], ranked[above], position - below)[0])


def resampled_quantile(
    values: NDArray[np.float64], cluster_of: NDArray[np.int64], *, draws: NDArray[np.int64], ratio: float
) -> NDArray[np.float64]:
    """Return the quantile of values whose clusters occur so many times, for each draw.

    Parameters
    ----------
    values : ndarray of shape (n,)
        May be infinite, not NaN.
    cluster_of : ndarray of shape (n,), int, in [0, n_clusters)
        Which cluster each value belongs to; each cluster has a value.
    draws : ndarray of shape (n_draws, n_clusters), int, >= 0
        How often each cluster occurs in each draw; no row is all zero.
    ratio : float in [0, 1]
        0.5 for the median.

    Returns
    -------
    ndarray of shape (n_draws,)
        What :func:`quantile` gives for the values of each draw, really repeated.

    Examples
    --------
    >>> values, cluster_of = np.array([3.0, 1.0, 2.0]), np.array([0, 1, 1])
    >>> resampled_quantile(values, cluster_of, draws=np.array([[1, 1], [2, 0]]), ratio=0.5).tolist()
    [2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    belongs = cluster_of[order][:, None] == np.arange(draws.shape[1])
    n_up_to = np.cumsum(belongs, axis=0, dtype=np.int32)
    position = ratio * (draws @ n_up_to[-1] - 1)
    below = np.floor(position)
    lower = ranked[_first_beyond(below, n_up_to, draws=draws)]
    upper = ranked[_first_beyond(np.ceil(position), n_up_to, draws=draws)]
    return between(lower, upper, position - below)


def _first_beyond(
    rank: NDArray[np.float64], n_up_to: NDArray[np.int32], *, draws: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the first position up to which more than ``rank`` values were drawn, by bisection in each draw.

    Counting up to every position of every draw would cost n_draws x n; this costs its logarithm in n.
    """
    low = np.zeros(len(draws), dtype=np.int64)
    high = np.full(len(draws), len(n_up_to) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        is_beyond = (n_up_to[middle] * draws).sum(axis=1) > rank
        low, high = np.where(is_beyond, low, middle + 1), np.where(is_beyond, middle, high)
    return low


def grouped_median(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the median of each group, groups in ascending order.

    Parameters
    ----------
    values : ndarray of shape (n,)
        May be infinite, not NaN.
    groups : ndarray of shape (n,), int
        Which group each value belongs to.

    Examples
    --------
    >>> grouped_median(np.array([5.0, 1.0, 3.0, 2.0]), np.array([7, 2, 7, 2])).tolist()
    [1.5, 4.0]
    """
    ranked = values[np.lexsort((values, groups))]
    _, counts = np.unique(groups, return_counts=True)
    starts = np.cumsum(counts) - counts
    lower, upper = ranked[starts + (counts - 1) // 2], ranked[starts + counts // 2]
    return between(lower, upper, np.full(len(counts), 0.5))


def between(
    lower: NDArray[np.float64], upper: NDArray[np.float64], share_ratio: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate, element by element; short of an infinite end there is nothing but that end."""
    finite = np.isfinite(lower) & np.isfinite(upper)
    start = np.where(finite, lower, 0.0)
    inside = start + (np.where(finite, upper, 0.0) - start) * share_ratio
    infinite = np.where(share_ratio == 0, lower, np.where(np.isinf(upper), upper, lower))
    return np.where(finite, inside, infinite)
