"""A profiler's trace in Chrome's format, as PyTorch's profiler writes it: figures, no samples.

``ts`` and ``dur`` are microseconds. Writers print bare ``inf`` and ``nan``, which are no JSON, and
durations below zero, which count as none. An event stays where a value in it is lost. Times count from an
origin that is not told.

Sources: Google, "Trace Event Format"; pytorch/kineto, issue 105 and pull request 646.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.json_text import json_of, number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary

MICROSECONDS_PER_SECOND = 1e6
COMPLETE = "X"
"""Phase of an event with a duration; other phases mark instants, names and arrows."""

NO_INSTANTS = Finding(
    "no-instants", "times of the trace count from an origin that is not told", Severity.NOTE
)
Event = Mapping[str, Any]


def claims(head: Head) -> bool:
    """Say whether a head is JSON with a trace's events."""
    if not head.first.startswith(("{", "[")):
        return False
    return b'"traceEvents"' in head.data or (b'"dur"' in head.data and b'"args"' in head.data)


def summarise(context: Context) -> Summary:
    """Return a row a category and device, the longest first."""
    events = _events(context)
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        _count_lost(context, event)
        if event.get("ph", COMPLETE) == COMPLETE:
            groups[_key(event)].append(event)
    rows = [_row(context, category, device, group) for (category, device), group in groups.items()]
    rows.sort(key=lambda row: -float(str(row["duration_seconds"] or 0.0)))
    context.notes.say(NO_INSTANTS)
    return Summary("events of a profiler, by category and device", tuple(rows), context.notes.findings())


def _events(context: Context) -> list[Event]:
    document = json_of(context, context.input.whole().text, forgives_words=True)
    found = document.get("traceEvents", [document]) if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise context.refused("field 'traceEvents'", expected="a list", got=type(found).__name__)
    events: list[Event] = [event for event in found if isinstance(event, dict)]
    context.notes.count("bad-row", "events are no objects and were left out", n=len(found) - len(events))
    return events


def _key(event: Event) -> tuple[str, str]:
    args = event.get("args")
    device = args.get("device") if isinstance(args, dict) else None
    category = event.get("cat")
    return (category if isinstance(category, str) else ""), ("" if device is None else str(device)[:40])


def _count_lost(context: Context, event: Event) -> None:
    """Count values that are no finite number; the event stays."""
    args = event.get("args")
    for value in (*event.values(), *(args.values() if isinstance(args, dict) else ())):
        if isinstance(value, float) and not math.isfinite(value):
            context.notes.count("infinite-value", "values of events are infinite or no number: dropped")


def _row(context: Context, category: str, device: str, group: list[Event]) -> dict[str, object]:
    seconds = np.array([_seconds(event.get("dur")) for event in group])
    starts = np.array([_seconds(event.get("ts")) for event in group])
    is_negative = seconds < 0
    context.notes.count(
        "negative-duration", "durations are negative and count as 0", n=int(is_negative.sum())
    )
    context.notes.count("missing-values", "events have no duration", n=int(np.isnan(seconds).sum()))
    lengths = np.where(is_negative, 0.0, seconds)
    is_known = np.isfinite(lengths)
    is_placed = is_known & np.isfinite(starts)
    return {
        "category": category,
        "device": device or None,
        "n_events": len(group),
        "duration_seconds": float(lengths[is_known].sum()) if is_known.any() else None,
        "busy_seconds": busy_seconds(starts[is_placed], lengths[is_placed]) if is_placed.any() else None,
    }


def _seconds(value: object) -> float:
    microseconds = number_of(value)
    return math.nan if microseconds is None else microseconds / MICROSECONDS_PER_SECOND


def busy_seconds(starts: "np.ndarray[Any, Any]", lengths: "np.ndarray[Any, Any]") -> float:
    """Return how long at least one of some stretches lasted: those at the same time count once.

    Examples
    --------
    >>> busy_seconds(np.array([0.0, 1.0, 5.0]), np.array([2.0, 2.0, 1.0]))
    4.0
    """
    order = np.argsort(starts, kind="stable")
    begins, ends = starts[order], starts[order] + lengths[order]
    reached = np.maximum.accumulate(np.concatenate([[-np.inf], ends[:-1]]))
    return float(np.maximum(ends - np.maximum(begins, reached), 0.0).sum())


FORMAT = Format(name="profiler-trace", title="profiler trace", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
