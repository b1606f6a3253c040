"""Profiling signals that vanish while the device's others go on: that time is named, never read as idle.

Reports: github.com/NVIDIA/DCGM/issues/56, issues/62 and issues/151 (a second profiler takes the lock),
github.com/NVIDIA/dcgm-exporter/issues/22 and issues/707 (no module). It is an evasion route too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.readers.notes import Notes

PROFILING = (
    *PIPE_CHANNELS,
    "gr_engine_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "dram_active_ratio",
)
DEVICE = ("power_watts", "power_instant_watts", "gpu_util_ratio", "energy_joules_total", "sm_clock_hertz")

LEAST_ROWS, LEAST_SECONDS = 3, 5.0
"""Shorter stretches are lost samples."""

MOST_SAID = 100


class Stretch(NamedTuple):
    """A stretch without profiling signals, UTC nanoseconds."""

    start_ns: int
    stop_ns: int

    @property
    def seconds(self) -> float:
        """How long it was."""
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND


def stretches_without_profiling(trace: Trace) -> tuple[Stretch, ...]:
    """Return where no profiling signal answers though the device does, in time order.

    A profiling value is a mean since the sample before: a stretch begins at the last sample with one.
    """
    is_dark = _any_known(trace, DEVICE) & ~_any_known(trace, PROFILING)
    edges = np.diff(np.concatenate([[False], is_dark, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    long = last - first + 1 >= LEAST_ROWS
    found = (
        Stretch(int(trace.time_ns[max(start - 1, 0)]), int(trace.time_ns[stop]))
        for start, stop in zip(first[long].tolist(), last[long].tolist(), strict=True)
    )
    return tuple(stretch for stretch in found if stretch.seconds >= LEAST_SECONDS)


def note_profiling(traces: Sequence[Trace], notes: Notes) -> None:
    """Note ``profiling-unavailable`` for each stretch, and ``profiling-not-offered`` for devices without."""
    devices = [trace for trace in traces if _any_known(trace, DEVICE).any()]
    without = []
    for trace in devices:
        if _any_known(trace, PROFILING).any():
            _note_stretches(trace, notes)
        else:
            without.append(trace)
    if not without:
        return
    names = "no GPU" if len(without) == len(devices) else ", ".join(trace.device.uuid for trace in without)
    verb = "offers" if len(without) == len(devices) else "offer no"
    message = f"{names} {verb} profiling signals: FLOP can follow from power and clocks only"
    subject = without[0].device.uuid if len(without) == 1 else ""
    notes.say(Finding("profiling-not-offered", message, Severity.NOTE, subject))


def _note_stretches(trace: Trace, notes: Notes) -> None:
    uuid, stretches = trace.device.uuid, stretches_without_profiling(trace)
    for stretch in stretches[:MOST_SAID]:
        message = f"{stretch.seconds:.0f} s without profiling signals of {uuid}, though the device answers"
        notes.say(Finding("profiling-unavailable", message, Severity.WARNING, uuid, *stretch))
    more = max(len(stretches) - MOST_SAID, 0)
    notes.count(
        "profiling-unavailable", f"more such stretches of {uuid} were not listed", n=more, subject=uuid
    )


def _any_known(trace: Trace, names: tuple[str, ...]) -> NDArray[np.bool_]:
    known = np.zeros(len(trace), dtype=np.bool_)
    for name in names:
        if name in trace:
            known |= np.isfinite(trace[name])
    return known
