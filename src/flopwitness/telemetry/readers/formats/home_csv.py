"""Small CSV logs that people write for themselves, read as a sheet declares them.

Columns are found by name, in any order; cells may have blanks and quotes around them. A wide log has one
column a device; a device without an answer in a stretch of the file has no rows there. A log without a column
that tells GPUs apart is of one GPU, unless its rows come in ticks.
"""

from collections.abc import Iterator
from functools import partial

from flopwitness.telemetry.readers.columns import note_columns
from flopwitness.telemetry.readers.header import header_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.sheet import Sheet
from flopwitness.telemetry.readers.sheet_readings import sheet_readings
from flopwitness.telemetry.readers.tables import Layout, tables


def format_of(sheet: Sheet) -> Format:
    """Return the format that reads such logs."""
    return Format(name=sheet.name, title=sheet.title, claims=sheet.claims, parse=partial(parse, sheet=sheet))


def parse(context: Context, *, sheet: Sheet) -> Iterator[Readings]:
    """Yield the readings of a log."""
    layout = _layout(context, sheet)
    yield from sheet_readings(context, sheet, layout.names, partial(tables, layout=layout))


def _layout(context: Context, sheet: Sheet) -> Layout:
    names = header_of(context)
    head = Head.of(context.input.head())
    if len(head.lines) > 1 and head.lines[1].count(",") == len(names) and head.lines[1].endswith(","):
        names = (*names, "")  # rows end in a comma, the header does not
    if sheet.wide is None:
        note_columns(context, names, dict.fromkeys(sheet.known), (sheet.time, *sheet.labels, *sheet.fields))
        wanted = set(sheet.known)
    else:
        wanted = {
            name for name in (*names, sheet.host) if name and (name not in sheet.aside or name == sheet.host)
        }
    return Layout(names, wanted, is_quoted=sheet.may_break_lines, may_break_lines=sheet.may_break_lines)
