"""A GPU that fell off the bus: it ends where its last answer was, and hides nobody else.

Reports: github.com/rossumai/nvgpu/issues/6, github.com/NVIDIA/k8s-device-plugin/issues/2038 (Xid 79).
"""

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.notes import Notes

LEAST_ROWS = 2
"""So many rows without any answer at the end are no slip; a device without any answer is lost at once."""

NEVER = "in any row: lost, or no GPU of its own; it is not counted"
"""The second die of some AMD boards has no readings (github.com/ROCm/rocm_smi_lib/issues/160)."""


def without_lost_end(trace: Trace, notes: Notes) -> Trace:
    """Return a trace that ends with its last answer; notes ``gpu-lost``, ``gpu-silent`` without any.

    A silent trace comes back empty. Blank rows in the middle stay: the device came back.
    """
    answered = np.zeros(len(trace), dtype=np.bool_)
    for column in trace.channels.values():
        answered |= np.isfinite(column)
    n_kept = int(np.flatnonzero(answered)[-1]) + 1 if answered.any() else 0
    n_lost = len(trace) - n_kept
    if not n_lost or (n_kept and n_lost < LEAST_ROWS):
        return trace
    uuid = trace.device.uuid
    code, said = ("gpu-lost", f"in its last {n_lost} rows: lost") if n_kept else ("gpu-silent", NEVER)
    message = f"{uuid} gives no answer {said}"
    start_ns, stop_ns = int(trace.time_ns[n_kept]), int(trace.time_ns[-1])
    notes.say(Finding(code, message, Severity.WARNING, uuid, start_ns, stop_ns))
    return trace.between(0, n_kept)
