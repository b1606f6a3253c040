"""SPEC PTDaemon's log of a power meter, as MLPerf inference submissions have it: key and value in turn.

``Time,02-03-2026 04:05:06.789,Watts,2411.5,Volts,...,Mark,<run>,Ch1,Watts,800.1,...``: no header, month
before day, local time without a zone, about one row a second. The first group is the whole node; channels
``Ch1`` and on are its parts, and are not added on top. The stamp inside ``Mark`` is of another clock, hours
apart, and is not read. Source: logs in github.com/mlcommons/inference_results_v4.1.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.clocks import iso_instants
from flopwitness.telemetry.readers.columns import channels_of, keys_of
from flopwitness.telemetry.readers.fields import plain
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.text_lines import TextLines, extracted, text_lines

LINE = re.compile(r"^Time,\d\d-\d\d-\d{4} \d\d:\d\d:\d\d(?:\.\d+)?,(?:[A-Za-z]+,[^,]*,)*?Watts,")
PARTS = (
    r"^Time,(?P<month>\d\d)-(?P<day>\d\d)-(?P<year>\d{4}) (?P<clock>\d\d:\d\d:\d\d(?:\.\d{1,9})?),"
    r"(?:[A-Za-z]+,[^,]*,)*?Watts,(?P<watts>[^,]*)(?:,.*)?$"
)
FIELDS = {"Watts": plain("node_power_watts")}
NOTE_CHANNELS = Finding(
    "channels-not-added", "Ch1 and on are parts of the first group and were not added to it", Severity.NOTE
)


def claims(head: Head) -> bool:
    """Say whether a head is a row of a power meter."""
    return LINE.match(head.first) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the node's readings, block by block."""
    devices = {0: context.device("node")}
    if ",Ch1," in Head.of(context.input.head()).first:
        context.notes.say(NOTE_CHANNELS)
    for found in text_lines(context):
        table, stamps = _table(found)
        time_ns, lacks_zone = iso_instants(stamps, context.asked.zone)
        if lacks_zone:
            expected = "a time zone, which PTDaemon does not write: give --tz"
            raise context.refused("the stamps", expected=expected, got="none")
        keys = keys_of(context, table, index=np.zeros(len(table), np.int64), time_ns=time_ns)
        channels = channels_of(context, table, FIELDS, keys.keep)
        if len(keys.index):
            yield Readings(devices, keys.index, keys.time_ns, channels)


def _table(found: TextLines) -> tuple[Table, Any]:
    """Return the watts of lines and their stamps as ISO 8601; a line of another shape has neither."""
    pc, parts = arrow_compute(), extracted(found.text, PARTS)
    date = pc.binary_join_element_wise(parts["year"], parts["month"], parts["day"], "-")
    stamps = pc.fill_null(pc.binary_join_element_wise(date, parts["clock"], " "), "")
    watts = pc.fill_null(parts["watts"], "")
    return Table(("Watts",), {"Watts": watts}, found.lines), stamps


FORMAT = Format(name="ptdaemon", title="PTDaemon power meter log", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
