"""The log of an MLPerf run without power readings: intervals (run, epochs, evaluations) and figures.

Instants are milliseconds since 1970. It holds no samples. What a person wrote (files, names) is left out.
Source: github.com/mlcommons/logging, and logs in github.com/mlcommons/training_results_v4.0.
"""

from collections.abc import Iterator, Mapping

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.formats import mlperf_power
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.mllog import MARK, Entry, Interval, Intervals, entries
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary

TOLD_WORDS = ("submission_benchmark", "submission_division", "opt_name")
"""Texts that describe the work, not the people."""


def claims(head: Head) -> bool:
    """Say whether a head has lines of an MLPerf log, and none of a node's power."""
    return MARK in head.data and not mlperf_power.claims(head)


def summarise(context: Context) -> Summary:
    """Return a row an interval, then a row a figure."""
    intervals, figures = Intervals(context), list[Mapping[str, object]]()
    for block in context.input.blocks():
        for entry in entries(context, block):
            if not intervals.take(entry):
                figures += _figures(context, entry)
    rows = [_interval_row(each) for each in intervals.all()] + figures
    if not rows:
        raise context.refused("", expected="entries of an MLPerf log", got="none that can be read")
    return Summary("intervals and figures of an MLPerf run", tuple(rows), context.notes.findings())


def _interval_row(found: Interval) -> Mapping[str, object]:
    return {
        "interval": found.name,
        "started_ns": found.start_ns,
        "stopped_ns": found.stop_ns,
        "duration_seconds": found.duration_seconds,
    }


def _figures(context: Context, entry: Entry) -> Iterator[Mapping[str, object]]:
    if entry.key == mlperf_power.POWER:
        message = "power readings lie behind the start of the log and were left out"
        context.notes.say(Finding("power-readings", message, Severity.WARNING, "node_power_watts"))
        return
    inner = entry.value.items() if isinstance(entry.value, dict) else [("", entry.value)]
    for name, value in inner:
        number = number_of(value)
        told = number if number is not None else value if entry.key in TOLD_WORDS else None
        if isinstance(told, int | float | str):
            key = f"{entry.key}.{name}" if name else entry.key
            yield {"figure": key, "value": told, "time_ns": entry.time_ns}


FORMAT = Format(name="mlperf-log", title="MLPerf run log", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
