"""A source that repeats its last answer: from then on nobody observes the device.

Reports: github.com/NVIDIA/gpu-monitoring-tools/issues/188, github.com/NVIDIA/dcgm-exporter/issues/164:
after a restart of the host engine an exporter went on printing old values, and called itself healthy.
"""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.altered import without_rows

COUNTER = "energy_joules_total"
POWERS = ("power_watts", "power_instant_watts")

MOST_REPEATS = 5
"""Rows that may be equal: a scraper asks more often than a source refreshes."""

USUAL_FACTOR = 3.0
"""Rows may repeat this many times as long as they usually do in the same trace: dcgm-exporter collects every
30 s by default, so a scrape each second shows each answer 30 times."""

LEAST_SECONDS = 2.0
"""A shorter repeat is nothing: some sensors refresh once a second."""

LEAST_CHANNELS = 3
"""With fewer channels a counter that stands may be frozen by itself, see ``frozen``."""

RELAYED_CHANNELS = 2
"""Power and counter are enough where an exporter answers for the device: it is the exporter that repeats."""


def without_stale_rows(piece: Trace, notes: Notes, *, least_channels: int = LEAST_CHANNELS) -> Trace:
    """Return a piece without answers in rows that only repeat what was answered long before; notes ``stale``.

    Equal rows alone prove nothing: an idle board with few, rounded signals honestly repeats itself. What
    proves it is an energy counter that stands while power flows, or several signals with decimals that are
    equal to the last digit.
    """
    if len(piece) <= MOST_REPEATS or len(piece.channels) < least_channels:
        return piece
    starts = np.flatnonzero(~_repeats(piece))
    length = np.diff(np.concatenate([starts, [len(piece)]]))
    if length.max() <= MOST_REPEATS:
        return piece
    proven = _proves(piece, least_channels)[starts] & (length > MOST_REPEATS)
    usual = float(np.median(np.delete(length, length.argmax()))) if len(length) > 2 else 1.0
    first = np.repeat(starts, length)
    place = np.arange(len(piece)) - first
    since_ns = piece.time_ns - piece.time_ns[first]
    is_old = (place >= max(MOST_REPEATS, USUAL_FACTOR * usual)) & (
        since_ns >= LEAST_SECONDS * NANOSECONDS_PER_SECOND
    )
    is_stale = np.repeat(proven, length) & is_old
    if not is_stale.any():
        return piece
    _note(piece, is_stale, notes)
    return without_rows(piece, is_stale)


def _repeats(piece: Trace) -> NDArray[np.bool_]:
    """Say which rows equal the one before in every channel, bit for bit; a blank equals a blank."""
    same = np.ones(len(piece), dtype=np.bool_)
    same[0] = False
    for column in piece.channels.values():
        now, then = column[1:], column[:-1]
        same[1:] &= (now == then) | (np.isnan(now) & np.isnan(then))
    return same


def _proves(piece: Trace, least_channels: int) -> NDArray[np.bool_]:
    """Say in which rows a repeat could not be honest."""
    power = np.zeros(len(piece), dtype=np.bool_)
    for name in POWERS:
        if name in piece:
            power |= piece[name] > 0
    block = np.stack(list(piece.channels.values()))
    has_counter = np.isfinite(piece.column(COUNTER)) & (np.isfinite(block).sum(axis=0) >= least_channels)
    is_written = np.stack([_with_decimals(name, column) for name, column in piece.channels.items()])
    proven: NDArray[np.bool_] = power & (has_counter | (is_written.sum(axis=0) >= LEAST_CHANNELS))
    return proven


def _with_decimals(name: str, column: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say where a value has more digits than a rounded reading: whole watts and percents have none."""
    scaled = column * 100 if name.endswith("_ratio") else column
    return np.abs(scaled - np.round(scaled)) > 1e-6


def _note(piece: Trace, is_stale: NDArray[np.bool_], notes: Notes) -> None:
    uuid, n_stale = piece.device.uuid, int(is_stale.sum())
    rows = np.flatnonzero(is_stale)
    message = f"{n_stale} samples of {uuid} repeat earlier ones to the last digit: the source had stopped"
    notes.say(
        Finding(
            "stale",
            f"{message}; that time is unobserved",
            subject=uuid,
            start_ns=int(piece.time_ns[rows[0]]),
            stop_ns=int(piece.time_ns[rows[-1]]),
        )
    )
