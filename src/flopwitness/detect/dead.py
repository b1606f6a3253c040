"""Profiling counters that died: every activity at zero for seconds while the board works.

After some driver errors, or some hours, all profiling fields read 0 for good, beside a busy board
(github.com/NVIDIA/DCGM/issues/303, issues/3). No kernel runs without a warp on an SM, so power far above idle
beside zeros is a contradiction, and the zeros are no evidence of idleness. A power sensor that averages
trails the end of work by a second, so shorter stretches are believed.
"""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace
from flopwitness.detect.lost import ACTIVITY
from flopwitness.detect.states import DEFAULT_LEVELS, MEMORY, NODE_POWER, POWER_CHANNELS, UTILISATION
from flopwitness.detect.stretches import equal_runs

CODE = "profiling-contradicted"

DEAD_SECONDS = 3.0
"""From here on zeros beside power are no lag: activity trails by a sample, mean power by a second."""

BUSY_RATIO = 0.5
"""Utilisation from here on says that kernels ran; where it is not there, power alone speaks."""

STEPS_BEFORE = 1


def dead_samples(trace: Trace) -> NDArray[np.bool_]:
    """Say in which samples activity reads 0 against power and utilisation, shape (n_samples,).

    Needs SM activity or a pipe, and power. Device memory may read a little: refresh never stops.
    """
    names = [name for name in ACTIVITY if name in trace and name != MEMORY]
    power = next((name for name in POWER_CHANNELS if name in trace and name != NODE_POWER), None)
    if not names or power is None or len(trace) < 2:
        return np.zeros(len(trace), dtype=np.bool_)
    readings = np.stack([trace[name] for name in names])
    zero = np.all((readings == 0) | np.isnan(readings), axis=0) & np.any(readings == 0, axis=0)
    drawing = trace[power] > DEFAULT_LEVELS.watts_of(power, trace.device.chip)
    busy = ~(trace.column(UTILISATION) < BUSY_RATIO)  # a blank does not speak against it
    suspect = zero & drawing & busy
    dead = np.zeros(len(trace), dtype=np.bool_)
    for first, end in equal_runs(suspect.astype(np.int8)):
        lasted = (trace.time_ns[end - 1] - trace.time_ns[max(first - STEPS_BEFORE, 0)]) / 1e9
        dead[first:end] = suspect[first] and lasted >= DEAD_SECONDS
    return dead


def without_dead_samples(trace: Trace) -> Trace:
    """Return the trace with NaN for activity that is contradicted; the same trace where none is."""
    dead = dead_samples(trace)
    if not dead.any():
        return trace
    blanked = {name: np.where(dead, np.nan, trace[name]) for name in ACTIVITY if name in trace}
    return Trace(trace.device, trace.time_ns, {**trace.channels, **blanked})


def dead_finding(trace: Trace) -> Finding | None:
    """Say where and how long profiling counters were dead; None where they were not."""
    dead = dead_samples(trace)
    if not dead.any():
        return None
    at = np.flatnonzero(dead)
    seconds = float(np.diff(trace.time_ns, prepend=trace.time_ns[0])[dead].sum()) / 1e9
    power = next(name for name in POWER_CHANNELS if name in trace)
    watts = float(np.nanmedian(trace[power][dead]))
    message = (
        f"GPU {trace.device.uuid}: every profiling signal reads 0 for {seconds:.0f} s beside {watts:.0f} W: "
        "the counters are dead, not the GPU; FLOP come from power"
    )
    span = (int(trace.time_ns[at[0]]), int(trace.time_ns[at[-1]]))
    return Finding(CODE, message, Severity.ALARM, trace.device.uuid, *span)
