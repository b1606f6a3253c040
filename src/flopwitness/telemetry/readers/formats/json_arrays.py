"""One JSON object of arrays: ``ts`` in seconds since the log began, ``per_gpu`` W by index, ``pw`` their sum.

``phases`` and ``run_id`` are labels. Without ``per_gpu`` nobody knows how many GPUs the sum is of: refused.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.clocks import NO_INSTANT, seconds_to_ns
from flopwitness.telemetry.readers.columns import numeric_channels
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.fields import plain
from flopwitness.telemetry.readers.json_text import json_of, number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings

MARKED = re.compile(rb'"(?:ts|pw)"\s*:\s*\[')
MOST_GPUS = 1024
FIELDS = {"per_gpu": plain("power_watts")}


def claims(head: Head) -> bool:
    """Say whether a head is one object with an array of times or powers."""
    return head.first.startswith("{") and MARKED.search(head.data) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each GPU."""
    found = json_of(context, context.input.whole().text, forgives_words=True)
    times, powers = (found.get("ts"), found.get("per_gpu")) if isinstance(found, dict) else (None, None)
    if not isinstance(times, list) or not isinstance(powers, dict) or len(powers) > MOST_GPUS:
        expected = "an array 'ts' and an object 'per_gpu' with an array a GPU; 'pw' alone is a sum"
        raise context.refused("", expected=expected, got=shown(", ".join(map(str, found))))
    context.notes.say(Finding("sum-dropped", "'pw' is the sum of 'per_gpu' and was set aside", Severity.NOTE))
    time_ns = _instants(context, times)
    for place, (label, values) in enumerate(powers.items()):
        watts = _numbers(values if isinstance(values, list) else [])
        yield from _of_gpu(context, context.device(label or str(place)), watts, time_ns=time_ns)


def _of_gpu(
    context: Context, device: Device, watts: NDArray[np.float64], *, time_ns: NDArray[np.int64]
) -> Iterator[Readings]:
    n_rows = min(len(watts), len(time_ns))
    excess = max(len(watts), len(time_ns)) - n_rows
    context.notes.count(
        "bad-row", f"values or times of {device.uuid} have no partner and were left out", n=excess
    )
    keep = time_ns[:n_rows] != NO_INSTANT
    if keep.any():
        index = np.zeros(int(keep.sum()), dtype=np.int64)
        channels = numeric_channels(context, {"per_gpu": watts[:n_rows][keep]}, FIELDS)
        yield Readings({0: device}, index, time_ns[:n_rows][keep], channels)


def _instants(context: Context, times: list[object]) -> NDArray[np.int64]:
    if context.asked.start_ns is None:
        expected = "when the log starts, since its times are relative: give --start"
        raise context.refused("'ts'", expected=expected, got="none")
    elapsed_ns = seconds_to_ns(_numbers(times))
    is_time = elapsed_ns != NO_INSTANT
    what = "times are no number: what was read then was left out"
    context.notes.count("bad-row", what, n=int((~is_time).sum()))
    return np.where(is_time, elapsed_ns + context.asked.start_ns, NO_INSTANT)


def _numbers(values: list[object]) -> NDArray[np.float64]:
    numbers = [number_of(value) for value in values]
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


FORMAT = Format(name="json-arrays", title="JSON arrays of power by GPU", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
