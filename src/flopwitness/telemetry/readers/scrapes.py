"""Scrapes that lie one behind the other in a file without stamps: where each begins."""

import numpy as np
from numpy.typing import NDArray


def scrape_starts(
    identity: NDArray[np.int64],
    metric: NDArray[np.int64],
    series: NDArray[np.int64],
    values: NDArray[np.float64],
) -> list[int]:
    """Return the rows with which scrapes begin: where a signal of a device comes again.

    A GPU that several pods share is printed once for each of them, line after line, with one value: that is
    still the same scrape, until a series comes again by all its labels.

    Parameters
    ----------
    identity : ndarray of shape (n_rows,), int64
        Which signal of which device, whatever other labels say.
    metric : ndarray of shape (n_rows,), int64
        Which metric.
    series : ndarray of shape (n_rows,), int64
        Which series, by all its labels.
    values : ndarray of shape (n_rows,), float64
        What it read.

    Examples
    --------
    >>> rows = np.array([0, 1, 0, 1, 0])
    >>> scrape_starts(rows, np.zeros(5, np.int64), rows, np.zeros(5))
    [0, 2, 4]
    """
    n_rows = len(identity)
    if not n_rows:
        return []
    previous = _previous(identity)
    run = np.cumsum(np.concatenate([[0], np.diff(metric) != 0]))
    before = np.maximum(previous, 0)
    is_equal = (values == values[before]) | (np.isnan(values) & np.isnan(values[before]))
    is_shared = (previous >= 0) & (run == run[before]) & (series != series[before]) & is_equal
    latest = np.maximum.accumulate(np.where(is_shared, _previous(series), previous))
    following = np.searchsorted(latest, np.arange(n_rows)).tolist()
    starts, row = [0], following[0]
    while row < n_rows:
        starts.append(row)
        row = following[row]
    return starts


def _previous(identity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row before each row that has the same identity; -1 where there is none."""
    order = np.argsort(identity, kind="stable")
    is_same = identity[order[1:]] == identity[order[:-1]]
    previous = np.full(len(identity), -1)
    previous[order[1:][is_same]] = order[:-1][is_same]
    return previous
