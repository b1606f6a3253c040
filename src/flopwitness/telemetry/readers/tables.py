"""Delimited text in blocks: columns of text cells by name; a row of the wrong width costs itself alone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from flopwitness.telemetry.readers.cells import Cells, arrow_compute
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.measured import read_measured
from flopwitness.telemetry.readers.reading import Context


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Some rows of a file as text.

    Attributes
    ----------
    names : tuple of str
        Every column of the file in its order, as the format names them.
    columns : mapping of str to Arrow string array of shape (n_rows,)
        The wanted columns that are there.
    lines : ndarray of shape (n_rows,), int64
        Line number of each row.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Any]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lines)

    def numbers(self, name: str, unit: str = "") -> Cells:
        """Return a column as numbers, with or without a unit behind; one not there is missing throughout."""
        if name not in self.columns:
            nothing = np.zeros(len(self), dtype=np.bool_)
            return Cells(np.full(len(self), np.nan), nothing, nothing)
        return read_measured(self.columns[name], unit)

    def line(self, is_row: NDArray[np.bool_]) -> int | None:
        """Return the line of the first row that is marked; None where none is."""
        return int(self.lines[int(np.argmax(is_row))]) if is_row.any() else None


@dataclass(frozen=True, slots=True)
class Layout:
    """How a delimited file is written.

    Attributes
    ----------
    names : tuple of str
        Column names in the order of the file, as the format calls them.
    wanted : collection of str
        Columns to keep.
    separator : str
        One character.
    is_quoted : bool
        Whether cells may be quoted, with quotes doubled inside.
    header_lines : int
        Lines at the start of the file that are no rows.
    may_break_lines : bool
        Whether a quoted cell may hold a line break; such a file is read whole.
    """

    names: tuple[str, ...]
    wanted: Collection[str]
    separator: str = ","
    is_quoted: bool = False
    header_lines: int = 1
    may_break_lines: bool = False


def tables(context: Context, layout: Layout) -> Iterator[Table]:
    """Yield the rows of a file, block by block; what is cut or of the wrong width is counted and left out."""
    blocks = iter((context.input.whole(),)) if layout.may_break_lines else context.input.blocks()
    for number, block in enumerate(blocks):
        skip = layout.header_lines if number == 0 else 0
        table = table_of(context, block, layout, skip_lines=skip)
        if len(table):
            yield table


def table_of(context: Context, block: Block, layout: Layout, *, skip_lines: int = 0) -> Table:
    """Return the rows of one block."""
    data = _without_cut_line(context, block, layout)
    start = 0
    for _ in range(skip_lines):
        start = data.find(b"\n", start) + 1
    refused: list[int] = []

    def refuse(row: Any) -> str:
        refused.append(row.number if row.number is not None else 0)
        return "skip"

    rows = _parsed(context, data[start:], layout, refuse)
    n_rows = len(next(iter(rows.values()))) if rows else 0
    first = block.first_line + skip_lines
    lines = _line_numbers(first, n_rows, [number + first - 1 for number in refused])
    if refused:
        what = f"rows do not have {len(layout.names)} cells and were left out"
        context.notes.count("bad-row", what, n=len(refused), line=refused[0] + first - 1)
    table = Table(layout.names, rows, lines)
    return without_rows(table, _blank_rows(table))


def without_rows(table: Table, is_out: NDArray[np.bool_]) -> Table:
    """Return a table without some of its rows."""
    if not is_out.any():
        return table
    keep = pa.array(~is_out)
    columns = {name: column.filter(keep) for name, column in table.columns.items()}
    return Table(table.names, columns, table.lines[~is_out])


def _without_cut_line(context: Context, block: Block, layout: Layout) -> bytes:
    """Give up what follows the last separator of a file without a last line end; say so."""
    if not block.is_cut:
        return block.data
    context.notes.count("truncated", "line without an end was given up in part: the file was cut")
    last_line = block.data.rfind(b"\n", 0, len(block.data) - 1) + 1
    separator = layout.separator.encode()
    is_full_row = block.data.count(separator, last_line) >= len(layout.names) - 1
    last_cell = block.data.rfind(separator, last_line)
    return block.data[: last_cell + 1] + b"\n" if is_full_row and last_cell > 0 else block.data[:last_line]


def _parsed(context: Context, data: bytes, layout: Layout, refuse: Any) -> dict[str, Any]:
    if not data or data.isspace():
        return {}
    places = {str(place): name for place, name in enumerate(layout.names) if name in layout.wanted}
    text = data if data.isascii() else data.decode(errors="replace").encode()  # may be longer
    if layout.is_quoted and not layout.may_break_lines:
        text = _without_lone_quotes(text)
    options = csv.ParseOptions(
        delimiter=layout.separator,
        quote_char='"' if layout.is_quoted else False,
        double_quote=layout.is_quoted,
        newlines_in_values=layout.may_break_lines,
        ignore_empty_lines=False,
        invalid_row_handler=refuse,
    )
    try:
        found = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(
                use_threads=False,  # one thread, so that the parser can number the lines
                block_size=max(len(text), 1),
                column_names=[str(place) for place in range(len(layout.names))],
            ),
            parse_options=options,
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()),
                include_columns=list(places),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise context.refused("", expected="delimited text", got=shown(error)) from None
    return {name: found[place].combine_chunks() for place, name in places.items()}


def _without_lone_quotes(text: bytes) -> bytes:
    """Blank the quotes of lines that have an odd number of them: one would swallow the lines behind it."""
    content = np.frombuffer(text, dtype=np.uint8)
    is_quote, stops = content == ord('"'), np.flatnonzero(content == ord("\n"))
    n_before = np.cumsum(is_quote)
    is_odd = np.diff(n_before[stops], prepend=0) % 2 == 1
    if not is_odd.any():
        return text
    lines = np.searchsorted(stops, np.flatnonzero(is_quote))
    blanked = content.copy()
    blanked[np.flatnonzero(is_quote)[is_odd[lines]]] = ord(" ")
    return blanked.tobytes()


def _line_numbers(first: int, n_rows: int, refused: list[int]) -> NDArray[np.int64]:
    """Return the line of each row: every line in order but the refused ones."""
    lines = np.arange(first, first + n_rows + len(refused), dtype=np.int64)
    return lines[~np.isin(lines, refused)][:n_rows] if refused else lines


def _blank_rows(table: Table) -> NDArray[np.bool_]:
    blank = np.ones(len(table), dtype=np.bool_)
    for text in table.columns.values():
        if not blank.any():
            break
        pc = arrow_compute()
        blank &= pc.equal(pc.binary_length(text), 0).to_numpy(zero_copy_only=False).astype(np.bool_)
    return blank
