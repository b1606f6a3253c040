"""Rails of a Jetson board in a table with tabs: ``TIME TOTAL SOC CPU GPU DDR``.

Times are seconds since the log began, written without a zero before the point; powers are milliwatts. The
log does not say when it began. Source: home-made loggers of the INA3221 monitor.
"""

from collections.abc import Iterator

import numpy as np

from flopwitness.telemetry.readers.clocks import NO_INSTANT, seconds_to_ns
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.fields import milli
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Layout, tables

FIELDS = {"gpu": milli("power_instant_watts"), "total": milli("node_power_watts")}
OTHERS = ("soc", "cpu", "ddr")
TAB = "\t"


def claims(head: Head) -> bool:
    """Say whether a head names rails."""
    names = head.header(TAB)
    return names[:1] == ("time",) and bool(FIELDS.keys() & set(names)) and bool({*OTHERS} & set(names))


def parse(context: Context) -> Iterator[Readings]:
    """Yield the board's readings, block by block."""
    names = Head.of(context.input.head()).header(TAB)
    note_columns(context, names, dict.fromkeys(("time", *FIELDS, *OTHERS)), expected=tuple(FIELDS))
    start_ns = context.asked.start_ns
    if start_ns is None:
        expected = "when the log began, which it does not say: give --start"
        raise context.refused("column 'TIME'", expected=expected, got="seconds since then")
    devices = {0: context.device(0)}
    for table in tables(context, Layout(names, wanted={"time", *FIELDS}, separator=TAB)):
        elapsed_ns = seconds_to_ns(table.numbers("time").values)
        time_ns = np.where(elapsed_ns == NO_INSTANT, NO_INSTANT, elapsed_ns + start_ns)
        keys = keys_of(context, table, index=np.zeros(len(table), np.int64), time_ns=time_ns)
        channels = channels_of(context, table, FIELDS, keys.keep)
        if len(keys.index):
            yield Readings(devices, keys.index, keys.time_ns, channels)


FORMAT = Format(name="rail-tsv", title="table of a board's rails", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
