"""AcmeTrace's monitoring series: a column ``Time`` and one column a server, one metric a file, every 15 s.

What the metric is stands in the name of the file alone, so the capture must be named after its DCGM field. A
value speaks for all GPUs of a server. The header is unverified.

Source: github.com/InternLM/AcmeTrace.
"""

import re
from collections.abc import Iterator
from functools import partial

from flopwitness.core.finding import Finding
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.formats.dcgmi_dmon import FIELDS as BY_SHORT_NAME
from flopwitness.telemetry.readers.formats.dcgmi_dmon import SHORT_BY_NAME
from flopwitness.telemetry.readers.formats.home_csv import parse as parse_sheet
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.sheet import Clock, Sheet

SERVER = re.compile(r"^(?=.*\d)[a-z0-9][a-z0-9-]*([.:_-][a-z0-9-]+)*$")
"""A host name with a number, or an address."""

DATED = re.compile(r'^"?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d')
LONGEST_SERVER = 64


def claims(head: Head) -> bool:
    """Say whether a head has a time and servers, and a dated row."""
    first, *servers = head.header()
    is_header = first == "time" and bool(servers) and all(_is_server(name) for name in servers)
    return is_header and (len(head.lines) < 2 or DATED.match(head.lines[1]) is not None)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a file, one device a server."""
    field = _metric(context)
    message = f"a device is a server here; {field.channel} was told by the name of the file"
    context.notes.say(Finding("metric-inferred", message, subject=field.channel))
    sheet = Sheet(
        name=FORMAT.name,
        title=FORMAT.title,
        time="time",
        clock=Clock.ISO,
        wide=partial(_column, field=field),
        is_node_a_column=True,
    )
    yield from parse_sheet(context, sheet=sheet)


def _metric(context: Context) -> Field:
    name = re.sub(r"^DCGM_FI_", "", context.capture.upper())
    for prefix in ("", "DEV_", "PROF_", "PROF_PIPE_"):
        short = SHORT_BY_NAME.get(f"DCGM_FI_{prefix}{name}")
        if short is not None:
            return BY_SHORT_NAME[short]
    expected = (
        "a file (or --name) called after its DCGM field, such as GPU_UTIL: it holds no other word of it"
    )
    raise context.refused("", expected=expected, got=shown(context.capture))


def _is_server(name: str) -> bool:
    return len(name) <= LONGEST_SERVER and SERVER.match(name) is not None


def _column(name: str, *, field: Field) -> tuple[str, Field] | None:
    return (name, field) if _is_server(name) else None


FORMAT = Format(
    name="acme-trace-csv",
    title="AcmeTrace series of servers (github.com/InternLM/AcmeTrace)",
    claims=claims,
    parse=parse,
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
