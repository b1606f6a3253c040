"""Driver errors: a gauge holds the last code for ever, so an error is where it changes.

Reports: github.com/NVIDIA/dcgm-exporter/issues/500 and issues/190, github.com/NVIDIA/DCGM/issues/277.
The same code twice running cannot be seen. Meanings: docs.nvidia.com/deploy/xid-errors.
"""

from typing import NamedTuple

import numpy as np

from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.notes import Notes

CODE = "xid_code"

MOST_SAID = 100
"""Further events of a device are counted only."""


class Xid(NamedTuple):
    """One driver error: when it was first seen, and whether it may be older than the samples."""

    time_ns: int
    code: int
    is_old: bool


def xid_events(trace: Trace) -> tuple[Xid, ...]:
    """Return the driver errors of a trace, in time order.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> xid_events(Trace(Device("GPU-a"), range(1000), {"xid_code": [31.0] * 1000}))
    (Xid(time_ns=0, code=31, is_old=True),)
    """
    codes = trace.column(CODE)
    known = np.flatnonzero(np.isfinite(codes))
    codes = codes[known]
    changes = np.flatnonzero(np.concatenate([[True], np.diff(codes) != 0])) if len(codes) else known
    return tuple(
        Xid(int(trace.time_ns[known[place]]), int(codes[place]), not place)
        for place in changes.tolist()
        if codes[place] > 0
    )


def with_xids_noted(trace: Trace, notes: Notes) -> Trace:
    """Return the same trace; notes ``xid`` for each event."""
    uuid = trace.device.uuid
    events = xid_events(trace)
    for event in events[:MOST_SAID]:
        when = "stands at the first sample" if event.is_old else "came up"
        message = f"driver error Xid {event.code} of {uuid} {when}"
        notes.say(Finding("xid", message, subject=uuid, start_ns=event.time_ns, stop_ns=event.time_ns))
    more = max(len(events) - MOST_SAID, 0)
    notes.count("xid", f"more driver errors of {uuid} were not listed", n=more, subject=uuid)
    return trace
