"""NVLink that reads a constant 0 on GPUs that work in step: what they sent is unknown, not nothing.

Reports: github.com/NVIDIA/DCGM/issues/149 (DGX A100), github.com/NVIDIA/DCGM/issues/236 (H100 with NVSwitch).
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.products import known_chip
from flopwitness.telemetry.readers.rules.altered import without_values

BUSY = ("sm_active_ratio", "gr_engine_active_ratio", "gpu_util_ratio")
"""What shows that a GPU works; the first that answers counts."""

BUSY_RATIO = 0.3
IN_STEP_RATIO = 0.9
"""GPUs of one job are busy and idle at the same samples; so large a share of the busy ones must agree."""

LEAST_BUSY_SAMPLES = 5


def without_silent_links(traces: Sequence[Trace], notes: Notes) -> tuple[Trace, ...]:
    """Return traces without NVLink figures that cannot be true; notes ``communication-unknown``."""
    silent: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        if _is_silent(trace):
            silent[trace.device.host].append(trace)
    unknown: set[str] = set()
    for host, group in silent.items():
        together = _in_step(group)
        if len(together) > 1:
            unknown |= {trace.device.uuid for trace in together}
            message = f"NVLink reads 0 throughout on {len(together)} GPUs that work in step"
            where = f" on host {host}" if host else ""
            sentence = f"{message}{where}: communication is unknown"
            notes.say(Finding("communication-unknown", sentence, subject=host))
    return tuple(_without_links(trace) if trace.device.uuid in unknown else trace for trace in traces)


def _links(trace: Trace) -> list[str]:
    return [name for name in trace.channels if name.startswith("nvlink_")]


def _is_silent(trace: Trace) -> bool:
    """Say whether a GPU that may have NVLink reads 0 on it throughout."""
    chip = known_chip(trace.device)
    if chip is not None and not chip.nvlink_bytes_per_second:
        return False
    links = _links(trace)
    known = [trace[name][np.isfinite(trace[name])] for name in links]
    return bool(links) and any(len(column) for column in known) and not any(column.any() for column in known)


def _in_step(traces: Sequence[Trace]) -> list[Trace]:
    """Return the GPUs that are busy when the busiest of them is."""
    busy = {trace.device.uuid: _busy(trace) for trace in traces}
    lead = max(traces, key=lambda trace: int(busy[trace.device.uuid].sum()))
    lead_busy = busy[lead.device.uuid]
    if int(lead_busy.sum()) < LEAST_BUSY_SAMPLES:
        return []
    return [trace for trace in traces if _shared_ratio(lead, trace, busy) >= IN_STEP_RATIO]


def _busy(trace: Trace) -> NDArray[np.bool_]:
    name = next((name for name in BUSY if name in trace and np.isfinite(trace[name]).any()), None)
    return np.zeros(len(trace), dtype=np.bool_) if name is None else trace[name] > BUSY_RATIO


def _shared_ratio(lead: Trace, other: Trace, busy: dict[str, NDArray[np.bool_]]) -> float:
    """Return the share of the lead's busy samples at which another GPU was busy too, by its latest sample."""
    latest = np.searchsorted(other.time_ns, lead.time_ns, side="right") - 1
    then = np.where(latest >= 0, busy[other.device.uuid][latest], False)  # noqa: FBT003  a value
    ours = busy[lead.device.uuid]
    return float(then[ours].mean())


def _without_links(trace: Trace) -> Trace:
    return without_values(trace, {name: np.isfinite(trace[name]) for name in _links(trace)})
