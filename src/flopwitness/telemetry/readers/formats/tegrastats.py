"""``tegrastats`` of NVIDIA's Jetson boards: one line a period, each field where the release prints it.

A line may start with a local date and time, month before day, without a zone; older releases print none,
and the tool's period is 1 s unless ``--interval`` says otherwise. Memory is in MiB, shared by CPU and GPU;
clocks in MHz. A rail shows the milliwatts of now, then the mean since the tool started, which is of no use;
older releases print no unit. ``GR3D_FREQ`` has the forms ``X%``, ``X%@F``, ``X%@[F,F]`` and ``@[F,F,F]``: a
load that is not printed is missing, not 0, and of several clocks the highest is that of the part that
works. A temperature of -256 is a part without power. JetPack 7 prints no load.

Source: NVIDIA, L4T developer guide, tegrastats; github.com/rbonghi/jetson_stats pull request 894.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.clocks import iso_instants
from flopwitness.telemetry.readers.columns import channels_of, keys_of
from flopwitness.telemetry.readers.counted import counted_instants
from flopwitness.telemetry.readers.fields import Field, mebibytes, megahertz, milli, percent
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.text_lines import TextLines, extracted, text_lines
from flopwitness.telemetry.samplers.jetson import GPU_RAILS, OFF_CELSIUS

FIRST = re.compile(
    r"^(?:\d\d-\d\d-\d{4} \d\d:\d\d:\d\d )?"
    r"(?:RAM \d+/\d+MB|GR3D_FREQ |EMC_FREQ |(?:VDD|VIN|POM)_\w+ \d+(?:mW)?/\d+)"
)
STAMP = r"^(?P<month>\d\d)-(?P<day>\d\d)-(?P<year>\d{4}) (?P<clock>\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:\s|$)"
LOAD = (
    r"\bGR3D_FREQ (?:(?P<load>\d+)%)?(?:@\[?(?P<mhz>\d+)(?:,(?P<mhz1>\d+))?(?:,(?P<mhz2>\d+))?(?:\]|\s|$))?"
)
MEMORY_LOAD = r"\bEMC_FREQ (?:(?P<memory_load>\d+)%)?(?:@(?P<memory_mhz>\d+))?"
USED = r"\bRAM (?P<used>\d+)/\d+MB"
TEMPERATURE = r"\b[gG][pP][uU]@(?P<celsius>-?\d+(?:\.\d+)?)C"

PARTS = {"GR3D_FREQ": LOAD, "EMC_FREQ": MEMORY_LOAD, "RAM ": USED, "@": TEMPERATURE}
"""By a text without which a pattern need not be tried."""

BOARD_RAILS = ("VDD_IN", "POM_5V_IN")
"""Rails that feed the whole board."""

FIELDS: Mapping[str, Field] = {
    "load": percent("gpu_util_ratio"),
    "mhz": megahertz("sm_clock_hertz"),
    "memory_load": percent("mem_util_ratio"),
    "memory_mhz": megahertz("mem_clock_hertz"),
    "used": mebibytes("memory_used_bytes"),
    "celsius": Field("temperature_celsius", blanks=(OFF_CELSIUS,)),
    **{rail: milli("power_instant_watts") for rail in GPU_RAILS},
    **{rail: milli("node_power_watts") for rail in BOARD_RAILS},
}
"""Rails of the GPU are in the order of purity: the purest that is there counts."""

PERIOD_SECONDS = 1.0


def claims(head: Head) -> bool:
    """Say whether a head is a line of tegrastats."""
    return FIRST.match(head.first) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the board's readings, block by block."""
    devices, n_before = {0: context.device(0)}, 0
    is_stamped = any(re.match(STAMP, line) for line in Head.of(context.input.head()).lines)
    for found in text_lines(context):
        table = _table(context, found)
        time_ns = _stamped(context, found) if is_stamped else _counted(context, found, n_before)
        n_before += len(table)
        keys = keys_of(context, table, index=np.zeros(len(table), np.int64), time_ns=time_ns)
        channels = channels_of(context, table, FIELDS, keys.keep)
        if len(keys.index):
            yield Readings(devices, keys.index, keys.time_ns, channels)


def _counted(context: Context, found: TextLines, n_before: int) -> NDArray[np.int64]:
    """Return the instants of lines without stamps, as the user says."""
    asked = context.asked
    if asked.start_ns is not None and asked.period_seconds is None:
        message = f"lines have no time; they were taken to be {PERIOD_SECONDS:g} s apart, the tool's default"
        context.notes.say(Finding("period-assumed", message))
        context = replace(context, asked=replace(asked, period_seconds=PERIOD_SECONDS))
    return counted_instants(context, n_before + np.arange(len(found.lines)), "this tegrastats")


def _stamped(context: Context, found: TextLines) -> NDArray[np.int64]:
    """Return the instants of lines as they are stamped; one without a stamp has none."""
    pc, parts = arrow_compute(), extracted(found.text, STAMP)
    date = pc.binary_join_element_wise(parts["year"], parts["month"], parts["day"], "-")
    stamps = pc.fill_null(pc.binary_join_element_wise(date, parts["clock"], " "), "")
    time_ns, lacks_zone = iso_instants(stamps, context.asked.zone)
    if lacks_zone:
        expected = "a time zone, which tegrastats does not write: give --tz"
        raise context.refused("the stamps", expected=expected, got="none")
    return time_ns


def _table(context: Context, found: TextLines) -> Table:
    """Return what the lines hold, by the names of ``FIELDS``."""
    pc, columns = arrow_compute(), dict[str, Any]()
    has = partial(_has, found.text)
    for text, pattern in PARTS.items():
        if has(text):
            columns |= extracted(found.text, pattern)
    rails = [rail for rail in (*GPU_RAILS, *BOARD_RAILS) if has(f"{rail} ")]
    for rail in rails:
        pattern = rf"\b{rail} (?P<milliwatts>\d+)(?:mW)?/\d+"
        columns[rail] = extracted(found.text, pattern)["milliwatts"]
    columns = {name: pc.fill_null(column, "") for name, column in columns.items()}
    _take_highest_clock(columns)
    _note_rail(context, rails)
    return Table(tuple(columns), columns, found.lines)


def _take_highest_clock(columns: dict[str, Any]) -> None:
    pc = arrow_compute()
    more = [columns.pop(name) for name in ("mhz1", "mhz2") if name in columns]
    if not more or not any(pc.any(pc.greater(pc.binary_length(each), 0)).as_py() for each in more):
        return
    numbers = [
        pc.cast(pc.if_else(pc.equal(each, ""), "-1", each), "float64") for each in (columns["mhz"], *more)
    ]
    highest = pc.cast(pc.max_element_wise(*numbers), "string")
    columns["mhz"] = pc.if_else(pc.equal(columns["mhz"], ""), "", highest)


def _note_rail(context: Context, rails: list[str]) -> None:
    rail = next((each for each in GPU_RAILS if each in rails), None)
    if rail is not None and rail != "VDD_GPU":
        message = f"power is that of rail {rail}, which may feed parts beside the GPU"
        context.notes.say(Finding("shared-rail", message, Severity.NOTE, "power_instant_watts"))


def _has(lines: Any, text: str) -> bool:
    pc = arrow_compute()
    return bool(pc.any(pc.match_substring(lines, text)).as_py())


FORMAT = Format(name="tegrastats", title="tegrastats log", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
