"""Profiling samples that a driver lost: zeros that mean nothing.

NVML GPM on an H200 now and then answers 0 for every activity at once, at full load too. Beside it stands
a blank DRAM share, or an exact 0 where an idle board reads a little refresh traffic. In the recordings
h200x2-a, -b and -hang this takes 56 of 20,234 samples; read as idle, they cost a run up to 6 % of its FLOP.
"""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.trace import Trace

MEMORY = "dram_active_ratio"
ACTIVITY = (*PIPE_CHANNELS, "gr_engine_active_ratio", "sm_active_ratio", "sm_occupancy_ratio", MEMORY)


def lost_samples(trace: Trace) -> NDArray[np.bool_]:
    """Say which samples hold an answer to nothing, shape (n_samples,).

    Lost is a sample with every activity at exactly 0 and a blank DRAM share; or with DRAM at exactly 0 as
    well, alone between two samples that both show activity. Several zeros in a row are believed: that is a
    pause, and sources that round read an idle DRAM as 0. A blank decides for lost wherever it stands, so that
    less evidence never makes a sample believable.
    """
    names = [name for name in ACTIVITY if name in trace]
    if MEMORY not in names or len(names) < 2:
        return np.zeros(len(trace), dtype=np.bool_)
    others = np.stack([trace[name] for name in names if name != MEMORY])
    memory = trace[MEMORY]
    still = (np.any(others == 0, axis=0) | (memory == 0)) & ~np.any(others > 0, axis=0)
    maybe_active: NDArray[np.bool_] = np.any((others > 0) | np.isnan(others), axis=0)
    between_active = np.zeros(len(trace), dtype=np.bool_)
    between_active[1:-1] = maybe_active[:-2] & maybe_active[2:]
    lost: NDArray[np.bool_] = still & (np.isnan(memory) | ((memory == 0) & between_active))
    return lost


def without_lost_samples(trace: Trace) -> Trace:
    """Return the trace with NaN for the activity of lost samples; the same trace where none was lost."""
    lost = lost_samples(trace)
    if not lost.any():
        return trace
    blanked = {name: np.where(lost, np.nan, trace[name]) for name in ACTIVITY if name in trace}
    return Trace(trace.device, trace.time_ns, {**trace.channels, **blanked})
