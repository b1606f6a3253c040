"""Recordings with signals taken away: what an estimator would have been given by a poorer source."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace

POWER = ("power_watts", "power_instant_watts", "energy_joules_total")
CLOCK = ("sm_clock_hertz",)
SUMMARY = ("tensor_active_ratio",)
LIMITS = ("throttle_reasons_mask",)

KEPT: Mapping[str, tuple[str, ...] | None] = MappingProxyType(
    {
        "all": None,
        "tensor-and-clock": (*SUMMARY, *CLOCK, *POWER, *LIMITS),
        "tensor-without-clock": (*SUMMARY, *POWER, *LIMITS),
        "tensor-and-power": (*SUMMARY, *POWER),
        "tensor-alone": SUMMARY,
        "power-and-clock": (*POWER, *CLOCK, *LIMITS),
        "power": POWER,
        "mean-power": ("power_watts",),
        "utilisation": ("gpu_util_ratio",),
    }
)
"""Channels that each case keeps; None keeps all."""

SUPPLY_RATIO, HOST_SHARE, RISE_SHARE = 0.94, 0.35, 0.1
"""A made-up host: what its supply passes on, its share of the GPUs' limits, and of their power."""


def keeping(recording: Recording, names: Iterable[str] | None) -> Recording:
    """Return a recording with these channels alone; all of them where None."""
    if names is None:
        return recording
    kept = frozenset(names)
    traces = tuple(
        Trace(
            trace.device,
            trace.time_ns,
            {name: column for name, column in trace.channels.items() if name in kept},
        )
        for trace in recording.traces
    )
    return Recording(recording.name, traces, recording.provenance, recording.findings)


def as_node(recording: Recording, limit_watts: float) -> Recording:
    """Return a recording of one node: its GPUs' power added up, a made-up host beside them, one meter.

    Parameters
    ----------
    recording : Recording
        Of the GPUs of one node.
    limit_watts : float
        Power limit of one of them, > 0.
    """
    first = recording.traces[0]
    total = np.sum([_power_at(trace, first.time_ns) for trace in recording.traces], axis=0)
    host = HOST_SHARE * limit_watts * len(recording.traces) + RISE_SHARE * total
    node = Device(f"{recording.name}:node", chip=first.device.chip, host=first.device.host)
    trace = Trace(node, first.time_ns, {"node_power_watts": (total + host) / SUPPLY_RATIO})
    return Recording(recording.name, (trace,), recording.provenance, recording.findings)


def _power_at(trace: Trace, time_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    watts = trace.column("power_watts")
    known = np.isfinite(watts)
    return np.interp(time_ns, trace.time_ns[known], watts[known])
