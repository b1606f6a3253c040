"""Text cells to numbers: what is missing, what cannot be read and what is infinite stay apart."""

import decimal
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MISSING_TOKENS = (
    "",
    "-",
    "nan",
    "none",
    "null",
    "n/a",
    "[n/a]",
    "err!",
    "[not supported]",
    "[function not found]",
    "[requested functionality has been deprecated]",
    "[unknown error]",
    "[insufficient permissions]",
    "[gpu requires reset]",
    "[gpu is lost]",
    "<<<null>>>",
    "<<<not_found>>>",
    "<<<not_supported>>>",
    "<<<not_perm>>>",
)
"""Lower-case texts that mean "no answer" (nvidia-smi, dcgmi, NVML tools and DCGM's string blanks)."""

BLANK_NUMBERS = np.array(
    [float(first + step) for first in (0x7FFFFFF0, 140737488355328, 0x7FFFFFFFFFFFFFF0) for step in range(4)]
)
"""DCGM's blanks for int32, double and int64: blank, not found, not supported, no permission.

NVIDIA DCGM, ``dcgmlib/dcgm_fields.h``. Compared exactly, because a counter may honestly pass them.
"""

NUMBER_PATTERN = r"^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$|^[+-]?inf(inity)?$|^[+-]?nan(\([a-z0-9_]*\))?$"
"""One decimal number in lower case, as Arrow's cast takes it: a cell reads the same whatever its neighbours.

What passes float64 is infinite, what falls below is 0.
"""


@cache
def arrow_compute() -> Any:
    """Return ``pyarrow.compute``: a daemon that reads no text starts without it, 40 ms sooner."""
    return import_module("pyarrow.compute")


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A column of numbers.

    Attributes
    ----------
    values : ndarray of shape (n_samples,), float64
        NaN where there is no finite number, whatever the reason.
    is_bad : ndarray of shape (n_samples,), bool
        Text that is neither a number nor a missing token.
    is_infinite : ndarray of shape (n_samples,), bool
        An infinite number.
    """

    values: NDArray[np.float64]
    is_bad: NDArray[np.bool_]
    is_infinite: NDArray[np.bool_]

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Where the source gave no answer: NaN that is neither bad nor infinite."""
        missing: NDArray[np.bool_] = np.isnan(self.values) & ~self.is_bad & ~self.is_infinite
        return missing

    def take(self, keep: NDArray[np.bool_]) -> "Cells":
        """Return the cells of some rows."""
        return Cells(self.values[keep], self.is_bad[keep], self.is_infinite[keep])


TRIED_CELLS = 64
"""How many cells are read to see whether a column is one of plain numbers."""


def plain_numbers(text: Any) -> Cells | None:
    """Read a string column in which every cell is a number; None where one is not.

    Examples
    --------
    >>> plain_numbers(pa.array(["1.5", "[N/A]"])) is None
    True
    """
    try:
        _floats(text.slice(0, TRIED_CELLS))  # Arrow words an error for every cell that is none: slow
        return _cells_of(_floats(text), np.zeros(len(text), dtype=np.bool_))
    except pa.ArrowInvalid:
        return None


def read_numbers(text: Any) -> Cells:
    """Read a string column (an Arrow array) as numbers.

    Examples
    --------
    >>> cells = read_numbers(pa.array(["1.5", "[N/A]", "x", "inf"]))
    >>> cells.values.tolist(), cells.is_missing.tolist()
    ([1.5, nan, nan, nan], [False, True, False, False])
    """
    found = plain_numbers(text)
    return _cells_of(*_read_untidy(text)) if found is None else found


def _cells_of(values: NDArray[np.float64], is_bad: NDArray[np.bool_]) -> Cells:
    is_infinite = np.isinf(values)
    values[is_infinite] = np.nan
    if (values >= BLANK_NUMBERS[0]).any():
        values[np.isin(values, BLANK_NUMBERS)] = np.nan
    return Cells(values, is_bad, is_infinite)


def tidy(text: Any) -> Any:
    """Return cells in lower case, without the blanks and quotes around them."""
    pc = arrow_compute()
    return pc.utf8_lower(pc.utf8_trim(text, characters=' \t\r"'))


def _floats(text: Any) -> NDArray[np.float64]:
    values: NDArray[np.float64] = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values if values.flags.writeable else values.copy()


def _read_untidy(text: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    pc, cells = arrow_compute(), tidy(text)
    is_missing = pc.is_in(cells, value_set=pa.array(MISSING_TOKENS))
    is_number = pc.match_substring_regex(cells, NUMBER_PATTERN)
    values = _floats(pc.if_else(is_number, cells, "nan"))
    return values, ~pc.or_(is_missing, is_number).to_numpy(zero_copy_only=False).astype(np.bool_)


EXACT_SECONDS = pa.decimal128(22, 12)
"""Ten digits before the point, as ``LAST_SECOND`` has, and three more behind it than nanoseconds need."""

NANOSECONDS_PER_SECOND = pa.scalar(decimal.Decimal(1_000_000_000), pa.decimal128(10, 0))

LAST_SECOND = 9_223_372_036
"""The last whole second since 1970 whose nanoseconds fit int64 (the year 2262)."""


def read_instants(text: Any, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Read epoch seconds as nanoseconds, rounded to the nearest, without passing through a float.

    Parameters
    ----------
    text : Arrow string array of shape (n_samples,)
        Decimal seconds since 1970, UTC.
    cells : Cells
        The same column as numbers; decides which cells are read.

    Returns
    -------
    time_ns : ndarray of shape (n_samples,), int64
        Zero where the next one is False.
    is_instant : ndarray of shape (n_samples,), bool
        Where the cell is a number from 0 up to the year 2262.

    Examples
    --------
    >>> text = pa.array(["1770091506.1260", "nan"])
    >>> [column.tolist() for column in read_instants(text, read_numbers(text))]
    [[1770091506126000000, 0], [True, False]]
    """
    pc = arrow_compute()
    is_instant = (cells.values >= 0) & (cells.values < LAST_SECOND)
    digits = pc.if_else(pa.array(is_instant), tidy(text), "0")
    try:
        seconds = pc.cast(digits, EXACT_SECONDS)
    except pa.ArrowInvalid:  # too many decimals: what is cut off is far below a nanosecond
        is_instant &= ~pc.match_substring(digits, "e").to_numpy(zero_copy_only=False).astype(np.bool_)
        digits = pc.if_else(pa.array(is_instant), digits, "0")
        seconds = pc.cast(pc.replace_substring_regex(digits, r"(\.\d{12})\d+", r"\1"), EXACT_SECONDS)
    rounded = pc.cast(pc.round(seconds, 9, "half_to_even"), pa.decimal128(19, 9))
    nanoseconds = pc.cast(pc.multiply(rounded, NANOSECONDS_PER_SECOND), pa.int64())
    time_ns: NDArray[np.int64] = nanoseconds.to_numpy(zero_copy_only=False)
    return time_ns, is_instant
