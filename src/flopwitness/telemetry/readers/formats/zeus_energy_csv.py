"""Energy windows as ml-energy/zeus writes them: joules of each GPU over a named window. Holds no samples.

``start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy``: seconds and joules. ``start_time`` comes
from a monotonic clock in files that were published, so it is no instant. The driver's energy counter moves
in steps of up to 100 ms: a shorter window has no power.

Source: ml-energy/zeus (github.com/ml-energy/zeus), ``zeus/monitor/energy.py`` and its polling interval.
"""

import re
from collections.abc import Mapping

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.columns import channels_of, note_columns
from flopwitness.telemetry.readers.fields import Field, plain, possible
from flopwitness.telemetry.readers.header import header_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary
from flopwitness.telemetry.readers.tables import Layout, Table, tables

ENERGY = re.compile(r"^((?:gpu|cpu|dram)\d{1,4})_energy$")
EXPECTED = ("start_time", "window_name", "elapsed_time")
SHORTEST_SECONDS = 0.1
"""The energy counter of NVIDIA's driver steps about as far, and zeus polls no faster."""

NO_INSTANT_NOTE = Finding(
    "no-instants",
    "window starts are of a clock that is not the time of day and were set aside",
    Severity.NOTE,
)


def claims(head: Head) -> bool:
    """Say whether a head is a header of energy windows."""
    names = head.header()
    return {"window_name", "elapsed_time"} <= set(names) and any(ENERGY.match(name) for name in names)


def summarise(context: Context) -> Summary:
    """Return a row a window and device."""
    names = header_of(context)
    devices = {name: match[1] for name in names if (match := ENERGY.match(name))}
    note_columns(context, names, dict.fromkeys((*EXPECTED, *devices)), EXPECTED)
    fields = {"elapsed_time": plain("duration_seconds"), **{n: Field(f"{n}_joules") for n in devices}}
    layout = Layout(names, wanted={"window_name", *fields}, is_quoted=True)
    rows = [row for table in tables(context, layout) for row in _rows(context, table, fields, devices)]
    context.notes.say(NO_INSTANT_NOTE)
    return Summary("energy windows, by zeus", tuple(rows), context.notes.findings())


def _rows(
    context: Context, table: Table, fields: Mapping[str, Field], devices: Mapping[str, str]
) -> list[dict[str, object]]:
    values = channels_of(context, table, fields, np.ones(len(table), dtype=np.bool_))
    windows = table.columns["window_name"].to_pylist()
    answers = {name: [None if v != v else v for v in column.tolist()] for name, column in values.items()}  # noqa: PLR0124  NaN
    seconds = answers["duration_seconds"]
    return [
        {
            "window": window.strip(),
            "device": device,
            "duration_seconds": seconds[place],
            "energy_joules": answers[f"{name}_joules"][place],
            "power_watts": _power(context, answers[f"{name}_joules"][place], seconds[place]),
        }
        for place, window in enumerate(windows)
        for name, device in devices.items()
    ]


def _power(context: Context, joules: float | None, seconds: float | None) -> float | None:
    if joules is None or seconds is None:
        return None
    if seconds < SHORTEST_SECONDS:
        context.notes.count("below-resolution", f"windows are shorter than {SHORTEST_SECONDS} s: no power")
        return None
    watts = joules / seconds
    if watts > possible("power_watts")[1]:
        context.notes.count("quarantined", "windows hold more energy than any device draws")
        return None
    return watts


FORMAT = Format(name="zeus-energy-csv", title="zeus energy windows", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
