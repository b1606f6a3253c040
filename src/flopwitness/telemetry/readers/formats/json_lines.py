"""Logs of one JSON object a line, a sample each: ``{"timestamp": ..., "gpu_power_watts": ...}``.

Stamps are ISO 8601, mostly without zone. Names carry their units. A line that is no object costs itself.
"""

import json
import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from flopwitness.telemetry.readers.columns import note_columns
from flopwitness.telemetry.readers.fields import megabytes, megahertz, percent, plain
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.sheet import Clock, Sheet
from flopwitness.telemetry.readers.sheet_readings import sheet_readings
from flopwitness.telemetry.readers.tables import Table

SHEET = Sheet(
    name="json-lines",
    title="JSON lines of GPU samples",
    time="timestamp",
    clock=Clock.BY_CELLS,
    gpu="gpu_index",
    uuid="gpu_uuid",
    product="gpu_name",
    fields={
        "gpu_power_watts": plain("power_watts"),
        "gpu_utilization_percent": percent("gpu_util_ratio"),
        "gpu_memory_used_mb": megabytes("memory_used_bytes"),
        "gpu_temperature_celsius": plain("temperature_celsius"),
        "gpu_clock_mhz": megahertz("sm_clock_hertz"),
    },
    aside=("gpu_memory_total_mb",),
)
STAMPED = re.compile(r'^\{.*"timestamp"\s*:')


def claims(head: Head) -> bool:
    """Say whether the first line is an object with a stamp and a known reading."""
    first = head.first
    return STAMPED.match(first) is not None and any(f'"{name}"' in first.lower() for name in SHEET.fields)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a log."""
    first = _object(Head.of(context.input.head()).first) or {}
    names = tuple(first)
    note_columns(context, names, dict.fromkeys(SHEET.known))
    yield from sheet_readings(context, SHEET, names, _tables)


def _tables(context: Context) -> Iterator[Table]:
    for block in context.input.blocks():
        table = _table(context, block)
        if len(table):
            yield table


def _table(context: Context, block: Block) -> Table:
    lines = block.text.removesuffix("\n").split("\n")
    found = [(number, _object(line)) for number, line in enumerate(lines, block.first_line) if line.strip()]
    bad = [number for number, row in found if row is None]
    if bad and block.is_cut and bad[-1] == block.first_line + len(lines) - 1:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        bad.pop()
    what = "lines are no JSON object and were left out"
    context.notes.count("bad-row", what, n=len(bad), line=bad[0] if bad else None)
    rows = [(number, row) for number, row in found if row is not None]
    columns = {name: pa.array([row.get(name, "") for _, row in rows], pa.string()) for name in SHEET.known}
    numbers = np.array([number for number, _ in rows], dtype=np.int64)
    return Table(SHEET.known, columns, numbers)


def _object(line: str) -> dict[str, str] | None:
    """Return the cells of a line by lower-case name; None where it is no object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return {name.lower(): _cell(value) for name, value in found.items()} if isinstance(found, dict) else None


def _cell(value: object) -> str:
    """Return a value as the text of a cell; what is neither a number nor a text reads as neither."""
    if value is None:
        return ""
    if isinstance(value, bool | list | dict):
        return "no cell"
    return repr(value) if isinstance(value, float) else str(value).encode(errors="replace").decode()


FORMAT = Format(name=SHEET.name, title=SHEET.title, claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
