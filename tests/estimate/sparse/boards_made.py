"""Made-up boards that the tests of this folder share."""

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace

SECOND = 10**9


def trace_of(
    n_samples: int = 61, *, chip: str = "H100-SXM", step: float = 1.0, uuid: str = "GPU-a", **channels: object
) -> Trace:
    """Return regular samples of one device; single numbers are constant."""
    columns = {name: np.broadcast_to(np.asarray(value, float), n_samples) for name, value in channels.items()}
    return Trace(Device(uuid, chip=chip), np.round(np.arange(n_samples) * step * 1e9), columns)


def session_of(*traces: Trace) -> Session:
    """Return the session from the first sample to the last."""
    return Session(int(traces[0].time_ns[0]), int(traces[0].time_ns[-1]), traces)
