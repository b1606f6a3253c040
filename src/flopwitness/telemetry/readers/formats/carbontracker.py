"""carbontracker's log: mean power of each GPU over each epoch. Holds no samples.

``2026-02-03 04:05:06 - Epoch 1:``, then ``Duration: 0:02:21.90`` and ``Average power usage (W) for gpu:
[212.5, 208.1]``, each with or without a stamp before it. Stamps are local and without zone; a power of
``None`` was not measured, though the tool's own sum counts it as 0.

Source: saintslab/carbontracker (github.com/saintslab/carbontracker), ``tracker.py`` and issue 33.
"""

import re
from dataclasses import dataclass, field

import pyarrow as pa

from flopwitness.core.finding import Finding
from flopwitness.telemetry.readers.clocks import NO_INSTANT, iso_instants
from flopwitness.telemetry.readers.fields import possible
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary

STAMPED = re.compile(r"^(.{0,40}?) - ?(.*)$")
"""A stamp that cannot be read costs itself, not the words behind it."""

BANNER = re.compile(r"^\d{4}-\d\d-\d\d .{8,20} - carbontracker version ")
EPOCH = re.compile(r"^Epoch (\d{1,9}):?$")
DURATION = re.compile(r"^Duration: (?:(\d{1,6}) days?, )?(\d{1,9}):(\d\d):(\d\d(?:\.\d{1,9})?)$")
POWER = re.compile(r"^Average power usage \(W\) for (gpu|cpu|cuda|npu)\w*: (.+)$", re.IGNORECASE)
MOST_DEVICES = 1024


@dataclass
class _Epoch:
    number: int | None
    stamp: str
    duration_seconds: float | None = None
    powers: dict[str, list[float | None]] = field(default_factory=dict)


def claims(head: Head) -> bool:
    """Say whether a head has lines that only carbontracker writes."""
    for line in head.lines:
        match = STAMPED.match(line)
        words = match[2] if match else line
        if POWER.match(words) or BANNER.match(line):
            return True
    return False


def summarise(context: Context) -> Summary:
    """Return a row a device and epoch."""
    block = context.input.whole()
    lines = block.text.splitlines()
    if block.is_cut and lines:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        lines = lines[:-1]
    epochs = _epochs(context, lines)
    stamps, lacks_zone = iso_instants(
        pa.array([each.stamp for each in epochs], pa.string()), context.asked.zone
    )
    if lacks_zone:
        expected = "a time zone, which carbontracker does not write: give --tz"
        raise context.refused("the stamps", expected=expected, got="none")
    rows = [
        _row(context, each, stamp, device, watts)
        for each, stamp in zip(epochs, stamps.tolist(), strict=True)
        for device, watts in _devices(each)
    ]
    if not rows:
        context.notes.say(Finding("unmeasured", "the log holds no measured epoch"))
    return Summary("epochs, by carbontracker", tuple(rows), context.notes.findings())


def _epochs(context: Context, lines: list[str]) -> list[_Epoch]:
    found: list[_Epoch] = []
    stamp = ""
    for line in lines:
        match = STAMPED.match(line.strip())
        if match:
            stamp = match[1].replace(",", ".")
        words = (match[2] if match else line).strip()
        if begun := EPOCH.match(words):
            found.append(_Epoch(int(begun[1]), stamp))
        elif power := POWER.match(words):
            kind = power[1].lower()
            if not found or kind in found[-1].powers:  # the line that began the epoch is gone
                found.append(_Epoch(None, stamp))
            found[-1].powers[kind] = _powers(power[2])
        elif duration := DURATION.match(words):
            if not found or found[-1].duration_seconds is not None:
                found.append(_Epoch(None, stamp))
            found[-1].duration_seconds = _seconds(duration)
        elif words.startswith("Duration:"):
            context.notes.count("bad-cell", "durations cannot be read")
    return found


def _powers(text: str) -> list[float | None]:
    cells = text.strip().strip("[]()").split(",")
    least, most = possible("power_watts")
    values = [number_of(cell) for cell in cells[:MOST_DEVICES]]
    return [value if value is not None and least <= value <= most else None for value in values]


def _seconds(match: re.Match[str]) -> float:
    days, hours, minutes, seconds = match.groups()
    return int(days or 0) * 86_400.0 + int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds)


def _devices(epoch: _Epoch) -> list[tuple[str, float | None]]:
    return [
        (f"{kind}:{place}", watts)
        for kind, powers in epoch.powers.items()
        for place, watts in enumerate(powers)
    ]


def _row(context: Context, epoch: _Epoch, stamp: int, device: str, watts: float | None) -> dict[str, object]:
    if watts is None:
        context.notes.count("unmeasured", "mean powers were not measured, which is not 0 W", subject=device)
    seconds = epoch.duration_seconds
    return {
        "epoch": epoch.number,
        "device": device,
        "power_watts": watts,
        "duration_seconds": seconds,
        "energy_joules": None if watts is None or seconds is None else watts * seconds,
        "logged_ns": None if stamp == NO_INSTANT else stamp,
    }


FORMAT = Format(name="carbontracker-log", title="carbontracker log", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
