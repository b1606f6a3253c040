"""Cells of JSON to arrays: numbers as Go writes them, and instants."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NUMERALS = re.compile(r"[0-9+\-.eEaAfFiInNtTyY]*")
"""What numbers are written with. Python's ``float`` also takes ``1_000`` and blanks."""

NANOSECONDS_PER_MICROSECOND = 1_000
MICROSECONDS_PER_SECOND = 1e6
MICROSECONDS_PER_MILLISECOND = 1e3

LAST_MICROSECOND = 9_223_372_036e6
"""The last whole second since 1970 whose nanoseconds fit int64 (the year 2262)."""


def numbers_of(cells: Sequence[object]) -> tuple[NDArray[np.float64], int]:
    """Read numbers, or texts that are numbers; null is NaN.

    Returns
    -------
    values : ndarray of shape (n_samples,), float64
        NaN where a cell holds no number, infinite where it says so.
    n_bad : int
        How many cells hold neither a number nor null.

    Examples
    --------
    >>> values, n_bad = numbers_of(["412.1", "NaN", "+Inf", "1_0", None, 7])
    >>> values.tolist(), n_bad
    ([412.1, nan, inf, nan, nan, 7.0], 1)
    """
    kinds = set(map(type, cells))
    try:
        if kinds <= {int, float, type(None)}:
            return np.array(cells, dtype=np.float64), 0
        if kinds == {str} and NUMERALS.fullmatch("".join(map(str, cells))):
            return np.array(list(map(float, map(str, cells))), dtype=np.float64), 0
    except (ValueError, OverflowError):  # one cell is odd: look at each
        pass
    found = [math.nan if cell is None else _number(cell) for cell in cells]
    values = np.array([math.nan if each is None else each for each in found], dtype=np.float64)
    return values, found.count(None)


def instants_of(
    stamps: Sequence[object], *, microseconds_per_unit: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Read numbers as instants, to the microsecond.

    Servers keep milliseconds and may write them as fractions of a second; a float64 of today's seconds is
    good to a quarter of a microsecond, so rounding to whole ones gives every millisecond exactly.

    Returns
    -------
    time_ns : ndarray of shape (n_samples,), int64
        UTC nanoseconds; zero where the next one is False.
    is_instant : ndarray of shape (n_samples,), bool
        Where the cell is a number (a text is none) from 1970 up to the year 2262.

    Examples
    --------
    >>> time_ns, is_instant = instants_of([1770091506.1, "x"], microseconds_per_unit=MICROSECONDS_PER_SECOND)
    >>> time_ns.tolist(), is_instant.tolist()
    ([1770091506100000000, 0], [True, False])
    """
    is_tidy = set(map(type, stamps)) <= {int, float}
    plain = stamps if is_tidy else [None if isinstance(stamp, str) else stamp for stamp in stamps]
    with np.errstate(over="ignore"):  # an overflow is infinite, hence no instant
        microseconds = np.rint(numbers_of(plain)[0] * microseconds_per_unit)
    is_instant = (microseconds >= 0) & (microseconds < LAST_MICROSECOND)
    whole = np.where(is_instant, microseconds, 0.0).astype(np.int64)
    return whole * NANOSECONDS_PER_MICROSECOND, is_instant


def _number(cell: object) -> float | None:
    """Return a cell as a number, NaN included; None where it is not one number."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    if isinstance(cell, str) and not NUMERALS.fullmatch(cell):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None
