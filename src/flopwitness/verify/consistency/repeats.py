"""Values that repeat: signals that stand still, and values piled up where something was cut off."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.deviation import Deviation

FROZEN_CODE = "frozen"
CLIPPED_CODE = "clipped"

STILL_SECONDS = {
    "tensor_active_ratio": 2.0,
    "hmma_active_ratio": 2.0,
    "fp32_active_ratio": 2.0,
    "sm_active_ratio": 3.0,
    "dram_active_ratio": 12.0,
    "power_instant_watts": 3.0,
    "power_watts": 2.0,
    "nvlink_tx_bytes_per_second": 2.0,
    "nvlink_rx_bytes_per_second": 2.0,
    "pcie_rx_bytes_per_second": 2.0,
    "pcie_tx_bytes_per_second": 2.0,
}
"""How long a channel that is not 0 may repeat one value.

About twice the longest of clean H200 recordings: 0.2 s for pipes, 1.4 s and 0.3 s for power, 7.6 s for the
idle memory share where it was written with six digits. Utilisation, clocks, memory and temperatures are
constant for minutes, and an idle pipe reads 0: they are not judged.
"""

MIN_REPEATS = 5
"""A repeat counts from this many steps on: slow samplers repeat nothing, fast ones within a refresh."""

PILED = {
    "tensor_active_ratio": (5.0, 0.02),
    "hmma_active_ratio": (5.0, 0.02),
    "sm_active_ratio": (5.0, 0.25),
    "dram_active_ratio": (5.0, 0.02),
    "int_active_ratio": (5.0, 0.02),
    "power_watts": (9.0, 300.0),
}
"""How often one value may come back after others, and from which value on that is counted.

Clean: 2 for shares, 4 for mean power in ten minutes. Idle values come back by rounding, and so does the SM
activity of a communication kernel that waits (0.18 on an H200).
"""


def frozen_deviations(trace: Trace) -> Iterator[Deviation]:
    """Find the longest standstill of each channel that never stands still."""
    for name, seconds in STILL_SECONDS.items():
        if name not in trace or not np.isfinite(trace[name]).any():
            continue
        known = np.isfinite(trace[name])
        time_ns, values = trace.time_ns[known], trace[name][known]
        first, last = _longest_repeat(values, time_ns)
        if last - first < MIN_REPEATS:
            continue
        stood = float(time_ns[last] - time_ns[first]) / 1e9
        sentence = f"GPU {trace.device.uuid}: {name} repeats {values[first]:.6g} for {stood:.1f} s"
        span = (int(time_ns[first]), int(time_ns[last]))
        yield Deviation(FROZEN_CODE, trace.device.uuid, *span, stood, seconds, sentence)


def _longest_repeat(values: NDArray[np.float64], time_ns: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last sample of the longest run of one value that is not 0."""
    same = np.concatenate([[False], (values[1:] == values[:-1]) & (values[1:] != 0), [False]])
    first = np.flatnonzero(~same[:-1] & same[1:])
    last = np.flatnonzero(same[:-1] & ~same[1:])
    if not len(first):
        return 0, 0
    longest = int((time_ns[last] - time_ns[first]).argmax())
    return int(first[longest]), int(last[longest])


def clipped_deviations(trace: Trace) -> Iterator[Deviation]:
    """Find the value that comes back most often among the large ones of each noisy channel."""
    for name, (limit, lowest) in PILED.items():
        values = trace.column(name)
        known = np.isfinite(values)
        if not known.any():
            continue
        time_ns, values = trace.time_ns[known], values[known]
        fresh = np.concatenate([[True], values[1:] != values[:-1]]) & (values > lowest)
        if not fresh.any():
            continue
        distinct, counts = np.unique(values[fresh], return_counts=True)
        most = int(counts.argmax())
        at = np.flatnonzero(values == distinct[most])
        sentence = f"GPU {trace.device.uuid}: {name} comes back to {distinct[most]:.6g} {counts[most]} times"
        span = (int(time_ns[at[0]]), int(time_ns[at[-1]]))
        yield Deviation(CLIPPED_CODE, trace.device.uuid, *span, float(counts[most]), limit, sentence)
