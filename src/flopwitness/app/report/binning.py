"""Long columns made short for drawing: no extreme is lost, and no gap is bridged."""

import numpy as np
from numpy.typing import NDArray

GAP_FACTOR = 5.0
"""Steps longer than this many usual ones are drawn as gaps: nobody looked there."""


def with_gaps(
    seconds: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the samples with a NaN inside each gap, where a line is to break.

    Parameters
    ----------
    seconds, values : ndarray of shape (n_samples,)
        When, and what; time increases.

    Examples
    --------
    >>> seconds, values = with_gaps(np.array([0.0, 1, 2, 30, 31]), np.ones(5))
    >>> values.tolist()
    [1.0, 1.0, 1.0, nan, 1.0, 1.0]
    """
    steps = np.diff(seconds)
    if not len(steps):
        return seconds, values
    gaps = np.flatnonzero(steps > GAP_FACTOR * np.median(steps))
    middles = (seconds[gaps] + seconds[gaps + 1]) / 2
    return np.insert(seconds, gaps + 1, middles), np.insert(values, gaps + 1, np.nan)


def extremes(
    seconds: NDArray[np.float64], values: NDArray[np.float64], *, n_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most two samples a bin, its smallest and its largest in order of time.

    A bin in which every sample is NaN gives one NaN, so that the line breaks there. Columns that are short
    enough come back as they are.

    Parameters
    ----------
    seconds, values : ndarray of shape (n_samples,)
        When, and what; time increases.
    n_bins : int
        Equal stretches of time, > 0.
    """
    if len(seconds) <= 2 * n_bins:
        return seconds, values
    width = (seconds[-1] - seconds[0]) / n_bins
    bins = np.minimum(((seconds - seconds[0]) / width).astype(np.int64), n_bins - 1)
    first = np.flatnonzero(np.diff(bins, prepend=-1))
    kept = np.unique(np.concatenate([_least(values, bins, first), _least(-values, bins, first)]))
    return seconds[kept], values[kept]


def _least(
    values: NDArray[np.float64], bins: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the position of the smallest value of each bin; its first sample where all are NaN."""
    order = np.lexsort((np.where(np.isnan(values), np.inf, values), bins))
    return order[first]
