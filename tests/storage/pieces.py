"""Samples of two devices, second by second, for what appends them."""

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance
from flopwitness.core.trace import Trace
from flopwitness.storage.segments import SegmentsHeader

HEADER = SegmentsHeader("capture", Provenance("made", interval_seconds=0.1), 1_000, 400)


def piece(number: int, n_samples: int = 3) -> tuple[Trace, ...]:
    """Return the samples from one second on, ten a second."""
    time_ns = number * 10**9 + np.arange(n_samples) * 10**8
    return tuple(
        Trace(Device(uuid, chip="H200-SXM"), time_ns, {"power_watts": time_ns / 1e9 + at})
        for at, uuid in enumerate(("GPU-a", "GPU-b"))
    )
