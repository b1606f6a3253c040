"""Tables whose columns are held apart by blanks, with ``#`` headers that come again every screenful."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Layout, Table, table_of

BLANKS = re.compile(rb"[ \t,\r]+")
LINE_ENDS = re.compile(rb"\t?\n\t?")
COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)

TAB = "\t"


@dataclass(frozen=True, slots=True)
class Aligned:
    """How such a file is written.

    Attributes
    ----------
    names : tuple of str
        Columns of the first header, in its order.
    wanted : collection of str
        Columns to keep.
    header : bytes
        What a header line starts with once blanks are tabs, such as ``b"#gpu"``.
    skipped : pattern
        Other lines that are no rows.
    leading : tuple of str
        Columns before those that a header names.
    """

    names: tuple[str, ...]
    wanted: Collection[str]
    header: bytes
    skipped: re.Pattern[bytes] = COMMENT
    leading: tuple[str, ...] = ()


def aligned_tables(context: Context, aligned: Aligned) -> Iterator[Table]:
    """Yield the rows of a file, cut where a header names other columns than the one before it."""
    layout = Layout(aligned.names, aligned.wanted, separator=TAB, header_lines=0)
    for block in context.input.blocks():
        data = tabbed(block.data)
        for part, names in _parts(data, aligned, layout.names):
            layout = replace(layout, names=names)
            is_last = part.stop == len(data)
            lines = aligned.skipped.sub(b"", data[part])
            first = block.first_line + data.count(b"\n", 0, part.start)
            table = table_of(context, Block(lines, first, is_cut=block.is_cut and is_last), layout)
            if len(table):
                yield table


def tabbed(data: bytes) -> bytes:
    r"""Return lines with one tab where blanks or commas held cells apart, and none at their ends.

    Examples
    --------
    >>> tabbed(b"  0   301 , 52  \n# gpu  pwr\n")
    b'0\t301\t52\n#gpu\tpwr\n'
    """
    plain = LINE_ENDS.sub(b"\n", BLANKS.sub(b"\t", data)).lstrip(b"\t")
    return re.sub(rb"^#\t", b"#", plain, flags=re.MULTILINE)


def header_names(line: bytes) -> tuple[str, ...]:
    """Return the names in a header line of tabs, lower case; a name that comes again is left empty."""
    cells = line.decode(errors="replace").lstrip("#").strip().lower().split(TAB)
    first = {cell: place for place, cell in reversed(tuple(enumerate(cells)))}
    return tuple(cell if first[cell] == place else "" for place, cell in enumerate(cells))


def _parts(data: bytes, aligned: Aligned, names: tuple[str, ...]) -> Iterator[tuple[slice, tuple[str, ...]]]:
    """Yield the stretches of a block that one header speaks for, with the columns of each."""
    start = 0
    for place, line in _headers(data, aligned.header):
        found = (*aligned.leading, *header_names(line)[bool(aligned.leading) :])
        if found != names:
            yield slice(start, place), names
            start, names = place, found
    yield slice(start, len(data)), names


def _headers(data: bytes, header: bytes) -> list[tuple[int, bytes]]:
    pattern = rb"^" + re.escape(header) + rb"(?=[\t\n])[^\n]*"
    return [(found.start(), found.group()) for found in re.finditer(pattern, data, re.MULTILINE)]
