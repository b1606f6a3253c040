"""Power as a Redfish service tells it: one reading a document, without a stamp. Holds no samples.

``Chassis/*/Power`` has ``PowerControl``, a list with ``PowerConsumedWatts`` and, over some minutes,
``PowerMetrics``; ``Chassis/*/EnvironmentMetrics`` has ``PowerWatts`` with ``Reading``. A host that cannot
measure answers 0 or an empty list: that is no answer.

Sources: DMTF, Redfish schemas ``Power`` and ``EnvironmentMetrics``; mrlhansen/idrac_exporter, issue 116;
quadsproject/badfish, issue 388.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.fields import possible
from flopwitness.telemetry.readers.json_text import json_of, number_of, objects_in
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary

SECONDS_PER_MINUTE = 60.0
MOST_MINUTES = 366.0 * 24 * 60
"""No service averages over more than a year."""

MARKS = ('"PowerControl"', '"PowerConsumedWatts"', '"PowerWatts"')
METRICS = {
    "mean_power_watts": "AverageConsumedWatts",
    "least_power_watts": "MinConsumedWatts",
    "most_power_watts": "MaxConsumedWatts",
}
NO_STAMP = Finding("no-instants", "a Redfish document carries no stamp: readings have no time", Severity.NOTE)


def claims(head: Head) -> bool:
    """Say whether a head is a JSON document with Redfish's names of power."""
    return head.first.startswith(("{", "[")) and any(mark.encode() in head.data for mark in MARKS)


def summarise(context: Context) -> Summary:
    """Return a row a reading."""
    document = json_of(context, context.input.whole().text)
    rows = [row for found in objects_in(document) for row in _rows(context, found)]
    if not any(row["power_watts"] is not None for row in rows):
        context.notes.say(Finding("unmeasured", "the service holds no power reading"))
    context.notes.say(NO_STAMP)
    return Summary("power readings, by Redfish", tuple(rows), context.notes.findings())


def _rows(context: Context, found: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    controls = found.get("PowerControl")
    for control in controls if isinstance(controls, list) else ():
        if isinstance(control, dict):
            yield _control(context, control)
    sensor = found.get("PowerWatts")
    if isinstance(sensor, dict):
        yield {"member": _name(found), "power_watts": _watts(context, sensor.get("Reading"))}


def _control(context: Context, control: Mapping[str, Any]) -> dict[str, object]:
    metrics = control.get("PowerMetrics")
    known = metrics if isinstance(metrics, dict) else {}
    minutes = number_of(known.get("IntervalInMin"))
    is_real = minutes is not None and 0.0 < minutes <= MOST_MINUTES
    return {
        "member": _name(control),
        "power_watts": _watts(context, control.get("PowerConsumedWatts")),
        **{name: _watts(context, known[key]) for name, key in METRICS.items() if key in known},
        "interval_seconds": None if minutes is None or not is_real else minutes * SECONDS_PER_MINUTE,
    }


def _name(found: Mapping[str, Any]) -> str:
    for key in ("Name", "MemberId", "Id", "@odata.id"):
        if isinstance(name := found.get(key), str) and name:
            return name
    return ""


def _watts(context: Context, value: object) -> float | None:
    """Return a reading; None where there is no number, or 0, which is how some say that they cannot."""
    watts = number_of(value)
    if watts is None or watts == 0.0:
        context.notes.count("missing-values", "readings hold no answer")
        return None
    if not 0.0 <= watts <= possible("node_power_watts")[1]:
        context.notes.count("quarantined", "readings cannot be a node's power and were taken out")
        return None
    return watts


FORMAT = Format(name="redfish-json", title="Redfish power document", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
