"""Traces written by hand: seconds and columns in, nothing hidden."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from flopwitness.core.device import Device
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.readers.notes import Notes

START_NS = 1_770_091_506_000_000_000
"""2026-02-03 04:05:06 UTC."""

NAN = float("nan")


def plain_trace(
    seconds: Sequence[float],
    *,
    uuid: str = "GPU-a",
    chip: str = "unknown",
    host: str = "",
    **channels: ArrayLike,
) -> Trace:
    """Return a trace whose samples lie so many seconds after ``START_NS``."""
    time_ns = START_NS + np.round(np.asarray(seconds, float) * NANOSECONDS_PER_SECOND).astype(np.int64)
    columns = {name: np.broadcast_to(np.asarray(v, float), time_ns.shape) for name, v in channels.items()}
    return Trace(Device(uuid, chip=chip, host=host), time_ns, columns)


def noted(notes: Notes) -> dict[str, int]:
    """Return how many findings there are of each code."""
    found: dict[str, int] = {}
    for finding in notes.findings():
        found[finding.code] = found.get(finding.code, 0) + 1
    return found
