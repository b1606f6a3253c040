"""Comma-separated text to columns of text cells, by name; a row of the wrong width costs itself alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.cells import arrow_compute

if TYPE_CHECKING:
    from flopwitness.telemetry.readers.source import Source

SHOWN_CHARACTERS = 60
"""How much of a foreign text a message repeats."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table as text.

    Attributes
    ----------
    header : tuple of str
        Every column name of the file, lower case, in its order.
    columns : mapping of str to Arrow string array of shape (n_samples,)
        The wanted columns that are there.
    refused_lines : tuple of int
        Line numbers (from 1) of rows with the wrong number of cells.
    is_blank : ndarray of shape (n_samples,), bool
        Rows that hold nothing at all: they are lines, but no samples.
    is_cut : bool
        True where the last line had no line end: its last cell is given up, since nobody can say
        whether digits are missing, and a line that lacks cells is left out.
    """

    header: tuple[str, ...]
    columns: Mapping[str, Any]
    refused_lines: tuple[int, ...]
    is_blank: NDArray[np.bool_]
    is_cut: bool

    def __len__(self) -> int:
        return len(self.is_blank)

    def line(self, row: int) -> int:
        """Return the line number of a row of ``columns``, counted from 1 with the header."""
        line = row + 2
        for refused in self.refused_lines:
            line += refused <= line
        return line


def read_rows(source: "Source", *, needed: Collection[str], wanted: Collection[str]) -> Rows:
    """Split a file at its commas.

    Raises
    ------
    BadInputError
        When the header lacks a needed column, repeats a wanted one, or no row has its width.
    """
    data, is_cut = _whole_lines(source.data)
    header = _header(source.path, data, needed=needed, wanted=wanted)
    refused: list[int] = []

    def refuse(row: Any) -> str:
        refused.append(row.number)
        return "skip"

    columns = _parse(source.path, data, [name if name in wanted else "" for name in header], refuse)
    rows = Rows(header, columns, tuple(refused), _blank_rows(columns), is_cut)
    if not len(rows):
        raise BadInputError(
            source.path, "", expected=f"at least one row of {len(header)} cells", got="no such row"
        )
    return rows


def shown(text: object) -> str:
    """Return a foreign text for a message: one line, quoted, not too long.

    Examples
    --------
    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'..."
    """
    whole = str(text)
    return repr(whole) if len(whole) <= SHOWN_CHARACTERS else f"{whole[:SHOWN_CHARACTERS]!r}..."


def _whole_lines(raw: bytes) -> tuple[bytes, bool]:
    """Return text in which every line ends, and whether the last one did not."""
    data = raw if raw.isascii() else raw.decode("utf-8-sig", errors="replace").encode()
    if data.endswith(b"\n"):
        return data, False
    last_line = data.rfind(b"\n") + 1
    if not last_line:
        return data + b"\n", True
    last_cell = data.rfind(b",", last_line)
    is_full_row = data.count(b",", last_line) >= data[: data.find(b"\n")].count(b",")
    return (data[: last_cell + 1] + b"\n" if is_full_row else data[:last_line]), True


def _header(path: str, data: bytes, *, needed: Collection[str], wanted: Collection[str]) -> tuple[str, ...]:
    line = data[: data.index(b"\n")].decode()
    header = tuple(name.strip(' \t\r"').lower() for name in line.split(","))
    for name in needed:
        if name not in header:
            raise BadInputError(path, "line 1", expected=f"a header with column {name!r}", got=shown(line))
    for name in wanted:
        if header.count(name) > 1:
            raise BadInputError(
                path, "line 1", expected=f"one column {name!r}", got=f"{header.count(name)} of them"
            )
    return header


def _parse(path: str, data: bytes, names: list[str], refuse: Any) -> dict[str, Any]:
    positions = {str(place): name for place, name in enumerate(names) if name}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            # One thread, so that the parser can number the lines; quoting is off, so that a lone
            # quotation mark cannot swallow the lines behind it.
            read_options=csv.ReadOptions(
                use_threads=False, skip_rows=1, column_names=[str(place) for place in range(len(names))]
            ),
            parse_options=csv.ParseOptions(
                quote_char=False, double_quote=False, ignore_empty_lines=False, invalid_row_handler=refuse
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(positions, pa.string()),
                include_columns=list(positions),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise BadInputError(path, "", expected="comma-separated text", got=shown(error)) from error
    return {name: table[place] for place, name in positions.items()}


def _blank_rows(columns: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Say which rows have no text in any of the columns; most files have none, so stop early."""
    n_rows = len(next(iter(columns.values())))
    blank = np.ones(n_rows, dtype=np.bool_)
    for text in columns.values():
        if not blank.any():
            break
        pc = arrow_compute()
        blank &= pc.equal(pc.binary_length(text), 0).to_numpy().astype(np.bool_)
    return blank
