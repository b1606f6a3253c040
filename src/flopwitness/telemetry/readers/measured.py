"""Cells that carry more than a number: a unit behind it, a mask in hexadecimal, a remark in brackets."""

from typing import Any

import numpy as np
import pyarrow as pa

from flopwitness.telemetry.readers.cells import Cells, arrow_compute, plain_numbers, read_numbers

HEXADECIMAL = r"^\s*0[xX][0-9a-fA-F]{1,16}\s*$"
REMARK = r"^\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*\([^)]*\)\s*$"
"""A number and a remark, as people write into logs: ``20000000000(18.63GB/s)``."""


def read_measured(text: Any, unit: str = "") -> Cells:
    """Read a string column as numbers, each alone or with its unit behind it.

    Parameters
    ----------
    text : Arrow string array of shape (n_rows,)
        The cells.
    unit : str
        The unit that cells may carry, as printed; another one makes a cell bad.

    Examples
    --------
    >>> cells = read_measured(pa.array(["412.10 W", "[N/A]", "0x4", "3 mW", "7(7 J)"]), "W")
    >>> cells.values.tolist(), cells.is_bad.tolist()
    ([412.1, nan, 4.0, nan, 7.0], [False, False, False, True, False])
    """
    bare = without_unit(text, unit)
    if (found := plain_numbers(bare)) is not None:
        return found
    encoded = arrow_compute().dictionary_encode(bare)
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    words = _words(encoded.dictionary)  # few cells differ, so each text is read once
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return Cells(words.values[codes], words.is_bad[codes], words.is_infinite[codes])


def without_unit(text: Any, unit: str) -> Any:
    """Return cells without blanks around them and without the unit behind them."""
    pc = arrow_compute()
    cells = pc.utf8_trim(text, characters=' \t\r"')
    if not unit:
        return cells
    has_unit = pc.ends_with(cells, unit)
    if not pc.all(has_unit).as_py():
        has_unit = pc.ends_with(cells, unit, ignore_case=True)
    if not pc.any(has_unit).as_py():
        return cells
    bare = pc.utf8_rtrim(pc.utf8_slice_codeunits(cells, 0, -len(unit)), characters=" \t")
    return bare if pc.all(has_unit).as_py() else pc.if_else(has_unit, bare, cells)


def _words(words: pa.Array) -> Cells:
    """Read texts of which some are no plain number: missing, a mask, with a remark, or bad."""
    found = read_numbers(words)
    if not found.is_bad.any():
        return found
    pc = arrow_compute()
    is_mask = pc.match_substring_regex(words, HEXADECIMAL).to_numpy(zero_copy_only=False).astype(np.bool_)
    for place in np.flatnonzero(is_mask).tolist():
        found.values[place] = float(int(words[place].as_py(), 16))
    bare = read_numbers(pc.replace_substring_regex(words, REMARK, r"\1"))
    values = np.where(is_mask, found.values, bare.values)
    return Cells(values, bare.is_bad & ~is_mask, bare.is_infinite)
