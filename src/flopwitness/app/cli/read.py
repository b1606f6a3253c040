"""``flopwitness read``: what a recording holds, what could not be used, and what that costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Annotated

import typer

from flopwitness.app.cli.asking import ForeignChip, Period, Start, Zone, asked_of
from flopwitness.app.cli.options import AsJson, RecordingPath
from flopwitness.app.cli.output import (
    counting,
    finding_object,
    percent,
    print_faults,
    print_findings,
    print_json,
    print_table,
    utc,
)
from flopwitness.app.cli.stretches import print_summary, summary_object
from flopwitness.app.overview import Overview, overview_of, too_slow
from flopwitness.app.summarising import ChannelSummary, DeviceOverview
from flopwitness.telemetry.readers.reading import Summary

TOO_SLOW, INCONCLUSIVE = 1, 3
"""Exit status where samples are further apart than required, and where something is unmeasured."""

Strict = Annotated[
    bool,
    typer.Option("--strict", help="Leave with status 3 where a figure that the file names is unmeasured."),
]
RequiredPeriod = Annotated[
    float | None,
    typer.Option(
        "--required-period",
        help="Seconds between samples that a rule asks for, such as 1: status 1 where they are longer.",
        min=1e-6,
    ),
]


def run(
    recording: RecordingPath,
    tz: Zone = None,
    start: Start = None,
    period: Period = None,
    chip: ForeignChip = None,
    strict: Strict = False,
    required_period: RequiredPeriod = None,
    json: AsJson = False,
) -> int:
    """Say what a file holds: its format, GPUs, channels, sampling rate, gaps and faults.

    Any known format is recognised by its content. Of job records, energy windows and other files without
    samples the figures are shown.
    """
    asked = asked_of(tz, start, period, chip)
    with counting("samples") as seen:
        found = overview_of(recording, asked, chip=chip, seen=seen)
    if isinstance(found, Summary):
        return _figures(found, as_json=json, strict=strict)
    slow = tuple(too_slow(found, required_period)) if required_period else ()
    found = replace(found, findings=(*found.findings, *slow))
    if json:
        print_json(overview_object(found))
    else:
        print_table(
            f"{found.name} ({found.provenance.source})", COLUMNS, [_row(one) for one in found.devices]
        )
        print_table("Channels", CHANNEL_COLUMNS, _channel_rows(found.devices))
        print_findings(found.findings)
    return print_faults(found.faults) or (TOO_SLOW if slow else 0)


COLUMNS = ("GPU", "chip", "samples", "start (UTC)", "duration (s)", "rate (Hz)", "longest step (s)", "gaps")
CHANNEL_COLUMNS = ("channel", "GPU", "missing", "minimum", "mean", "maximum")


def overview_object(found: Overview) -> dict[str, object]:
    """Return the overview as JSON values."""
    return {
        "name": found.name,
        "source": found.provenance.source,
        "driver": found.provenance.driver,
        "input_sha256": found.provenance.input_sha256,
        "devices": [_device_object(one) for one in found.devices],
        "findings": [finding_object(finding) for finding in found.findings],
    }


def _figures(found: Summary, *, as_json: bool, strict: bool) -> int:
    if as_json:
        print_json(summary_object(found))
    else:
        print_summary(found)
    unmeasured = any(value is None for row in found.rows for value in row.values())
    return INCONCLUSIVE if strict and unmeasured else 0


def _device_object(one: DeviceOverview) -> dict[str, object]:
    typical, steps = one.typical_step_seconds, one.steps_seconds
    return {
        "uuid": one.device.uuid,
        "chip": one.device.chip,
        "host": one.device.host,
        "n_samples": one.n_samples,
        "start": None if one.start_ns is None else utc(one.start_ns),
        "end": None if one.stop_ns is None else utc(one.stop_ns),
        "duration_seconds": one.duration_seconds,
        "rate_hertz": 1 / typical if typical else None,
        "longest_step_seconds": float(steps.max()) if len(steps) else None,
        "n_gaps": one.n_gaps,
        "channels": {name: _channel_object(channel) for name, channel in one.channels.items()},
    }


def _channel_object(channel: ChannelSummary) -> dict[str, object]:
    figures = {"minimum": channel.minimum, "mean": channel.mean, "maximum": channel.maximum}
    known = {name: None if isnan(value) else value for name, value in figures.items()}
    return {"n_missing": channel.n_missing, **known}


def _row(one: DeviceOverview) -> tuple[str, ...]:
    found = _device_object(one)
    return (
        one.device.uuid,
        one.device.chip,
        f"{one.n_samples:,}",
        str(found["start"] or "-"),
        f"{one.duration_seconds:,.1f}",
        _figure(found, "rate_hertz", ".2f"),
        _figure(found, "longest_step_seconds", ".2f"),
        str(one.n_gaps),
    )


def _figure(found: Mapping[str, object], name: str, pattern: str) -> str:
    value = found[name]
    return format(value, pattern) if isinstance(value, float) else "-"


def _channel_rows(devices: Sequence[DeviceOverview]) -> list[tuple[str, ...]]:
    rows = []
    for name in dict.fromkeys(name for one in devices for name in one.channels):
        for one in devices:
            if (channel := one.channels.get(name)) is not None:
                found = _channel_object(channel)
                missing = percent(channel.n_missing / one.n_samples) if one.n_samples else "-"
                figures = (_figure(found, key, ".4g") for key in ("minimum", "mean", "maximum"))
                rows.append((name, one.device.uuid, missing, *figures))
    return rows
