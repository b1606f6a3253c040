"""Lines of VictoriaMetrics' ``/api/v1/export``: one JSON object a line, a series or a piece of one.

Instants are milliseconds since 1970; ``null`` among the values is a stale mark, hence no answer. One series
may come in several lines. Source: docs.victoriametrics.com, export of data in JSON line format.
"""

import re
from collections.abc import Iterator

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.prometheus.series import Series, from_export_lines
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.series_readings import SeriesReader

LINE = re.compile(rb'^\s*\{\s*"metric"\s*:\s*\{')


def claims(head: Head) -> bool:
    """Say whether a head begins with the labels of a series."""
    return LINE.match(head.data) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of an export: it is in the order of series, so it is read whole."""
    series: list[Series] = []
    for block in context.input.blocks():
        series += _of_block(context, block)
    reader = SeriesReader(context)
    yield from reader.readings(series)
    reader.close()


def _of_block(context: Context, block: Block) -> list[Series]:
    data = block.data[:-1] if block.is_cut else block.data  # the line end was added
    try:
        series, findings = from_export_lines(data, source=context.path)
    except BadInputError:
        what = "lines are no series and were left out"
        context.notes.count("bad-row", what, n=data.count(b"\n") or 1, line=block.first_line)
        return []
    for finding in findings:
        context.notes.say(finding)
    return series


FORMAT = Format(
    name="victoria-lines",
    title="VictoriaMetrics export",
    claims=claims,
    parse=parse,
    is_relayed=True,
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
