"""What a board draws while nothing runs on it, measured on that very board."""

from typing import NamedTuple

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.detect.states import State, sample_states

SAME_CLOCK_RATIO = 1.25
"""Idle samples whose clock is within this factor of the lowest one belong to the same idle state.

An H200 idles in two states: 77 to 82 W at 345 to 360 MHz, and 118 to 131 W just after work, at 1,980 MHz.
"""


class IdleBaseline(NamedTuple):
    """Median idle power of one board in its lowest clock state.

    ``watts`` is NaN and ``n_samples`` 0 where the board was never seen idle.
    """

    watts: float
    n_samples: int
    sm_clock_hertz: float


def idle_baseline(trace: Trace) -> IdleBaseline:
    """Measure the idle power of a trace's device; where no clock was recorded, of its lowest power state.

    Only samples seen idle count, and of those only the ones in the lowest clock state: a board that is kept
    hot and clocked up before a run must not raise its own baseline.
    """
    power = "power_instant_watts" if "power_instant_watts" in trace else "power_watts"
    watts, clock = trace.column(power), trace.column("sm_clock_hertz")
    idle = (sample_states(trace) == State.IDLE) & np.isfinite(watts)
    if not idle.any():
        return IdleBaseline(float("nan"), 0, float("nan"))
    if np.isfinite(clock[idle]).any():
        lowest = float(np.nanmin(clock[idle]))
        idle &= clock <= lowest * SAME_CLOCK_RATIO
    else:  # nobody recorded the clock: its states part in power as well
        idle &= watts <= float(np.min(watts[idle])) * SAME_CLOCK_RATIO
        lowest = float("nan")
    return IdleBaseline(float(np.median(watts[idle])), int(idle.sum()), lowest)
