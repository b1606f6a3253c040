r"""What ``rocm-smi`` prints for people: ``GPU[0]\t\t: Average Graphics Package Power (W): 17.0``.

A look is what stands between two lines of the same GPU and label; it carries no stamp, so the user says
start and period. Cards are known by ``Unique ID`` where that was asked for. Meanings:
``flopwitness.telemetry.readers.amd_fields``.
"""

import re
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.telemetry.readers.amd_fields import LABELS, note_power
from flopwitness.telemetry.readers.columns import numeric_channels
from flopwitness.telemetry.readers.counted import counted_instants
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings

CARD = re.compile(r"^GPU\[(\d{1,4})\]$")
CLOCK = re.compile(r"\((\d{1,6})\s*Mhz\)", re.IGNORECASE)
CLOCKS = {
    "sclk clock level": Field("sm_clock_hertz", multiplier=1e6),
    "mclk clock level": Field("mem_clock_hertz", multiplier=1e6),
}
CHIPS = frozenset({"card series", "device name", "card model"})
FIELDS: Mapping[str, Field] = {**LABELS, **CLOCKS}
MISSING = frozenset({"n/a", "none", "", "unknown", "-"})


def claims(head: Head) -> bool:
    """Say whether a head has a line of rocm-smi with a label that we know."""
    found = (_split(line) for line in head.lines)
    return any(parts is not None and parts[1] in FIELDS for parts in found)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings, all at once."""
    looks: dict[int, list[dict[str, str]]] = {}
    facts: dict[int, dict[str, str]] = {}
    for number, label, cell in _lines(context):
        facts.setdefault(number, {}).setdefault(label, cell)
        if label not in FIELDS:
            continue
        own = looks.setdefault(number, [{}])
        if label in own[-1]:
            own.append({})
        own[-1][label] = cell
    rows = [(number, place, look) for number, own in looks.items() for place, look in enumerate(own)]
    if not rows:
        return
    index = np.array([number for number, _, _ in rows], dtype=np.int64)
    places = np.array([place for _, place, _ in rows], dtype=np.int64)
    time_ns = counted_instants(context, places, "rocm-smi")
    seen = [label for label in FIELDS if any(label in look for _, _, look in rows)]
    columns = {label: _column(context, label, [look.get(label) for _, _, look in rows]) for label in seen}
    channels = numeric_channels(context, columns, FIELDS)
    note_power(context, seen, channels)
    devices = {number: _device(context, number, facts[number]) for number in looks}
    yield Readings(devices, index, time_ns, channels)


def _lines(context: Context) -> Iterator[tuple[int, str, str]]:
    whole = context.input.whole()
    lines = whole.text.splitlines()
    if whole.is_cut and lines:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        lines = lines[:-1]
    for line in lines:
        if parts := _split(line):
            yield parts


def _split(line: str) -> tuple[int, str, str] | None:
    """Return the card, the label in lower case and the cell of a line; None of any other line."""
    card, _, rest = line.partition(":")
    label, colon, cell = rest.partition(":")
    match = CARD.match(card.strip())
    return (int(match[1]), label.strip().lower(), cell.strip()) if match and colon else None


def _column(context: Context, label: str, cells: list[str | None]) -> NDArray[np.float64]:
    return np.array([_number(context, label, cell) for cell in cells], dtype=np.float64)


def _number(context: Context, label: str, cell: str | None) -> float:
    if cell is None or cell.lower() in MISSING:
        return np.nan
    clock = CLOCK.search(cell) if label in CLOCKS else None
    value = number_of(clock[1] if clock else cell)
    if value is None:
        context.notes.count("bad-cell", f"cells of {label!r} are no number", subject=FIELDS[label].channel)
        return np.nan
    return value


def _device(context: Context, number: int, facts: Mapping[str, str]) -> Device:
    unique = facts.get("unique id", "")
    chip = next((facts[label] for label in facts if label in CHIPS), "")
    return context.device(number, uuid="" if unique.lower() in MISSING else unique, chip=chip)


FORMAT = Format(name="rocm-smi-text", title="rocm-smi text", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
