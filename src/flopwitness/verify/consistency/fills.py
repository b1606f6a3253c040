"""Power that stands still below the limit at full utilisation: a load that fills up what work leaves."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace
from flopwitness.detect.states import (
    DEFAULT_LEVELS,
    NODE_POWER,
    POWER_CHANNELS,
    UTILISATION,
    activity_witnesses,
)
from flopwitness.physics.chips import CHIPS

CODE = "flat-power"

MIN_SECONDS = 60.0
"""Less than this stands still by chance: steps of training may be that even."""

FULL_RATIO = 0.95
"""Median utilisation from which on the GPU counts as always busy."""

BELOW_LIMIT_RATIO = 0.9
"""A board at its limit is flat because the limit holds it: 688 to 693 of 700 W over minutes."""

FLAT_RATIO = 0.0005
"""Median step from sample to sample over the median power.

On H200s below their limit, read three times a second, loops of one kernel (hashes, copies, scans) reach
0.0002 to 0.0005, and runs of training 0.0008 at least, 0.003 but for one. Those runs last seconds: this is
a decision, not a law.
"""

MAX_STEP_SECONDS = 5.0


def fill_finding(trace: Trace) -> Finding | None:
    """Say where power stands still below the limit though the GPU is always busy; None where it does not.

    Only where no activity is recorded: with it, power is set against what the pipes do.
    """
    power = next((name for name in POWER_CHANNELS if name in trace and name != NODE_POWER), None)
    chip = CHIPS.get(trace.device.chip)
    if power is None or chip is None or activity_witnesses(trace) or UTILISATION not in trace:
        return None
    known = np.isfinite(trace[power]) & np.isfinite(trace[UTILISATION])
    watts, used, seconds = trace[power][known], trace[UTILISATION][known], trace.seconds()[known]
    if len(watts) < 3 or seconds[-1] - seconds[0] < MIN_SECONDS:
        return None
    middle = float(np.median(watts))
    level = DEFAULT_LEVELS.watts_of(power, trace.device.chip)
    between = level < middle < BELOW_LIMIT_RATIO * chip.power_limit_watts
    is_slow = float(np.median(np.diff(seconds))) > MAX_STEP_SECONDS
    if not between or is_slow or float(np.median(used)) < FULL_RATIO or _unrest(watts) > FLAT_RATIO:
        return None
    message = (
        f"GPU {trace.device.uuid}: power stands at {middle:.0f} W, by {_unrest(watts):.2%} from sample to "
        f"sample, for {seconds[-1] - seconds[0]:.0f} s at full utilisation and below its limit of "
        f"{chip.power_limit_watts:.0f} W: a second load that fills up power looks like this. The interval "
        "does not hold for it, the bound 'at most' does"
    )
    span = (int(trace.time_ns[known][0]), int(trace.time_ns[known][-1]))
    return Finding(CODE, message, Severity.WARNING, trace.device.uuid, *span)


def _unrest(watts: NDArray[np.float64]) -> float:
    """Return the median step from sample to sample over the median power."""
    return float(np.median(np.abs(np.diff(watts))) / np.median(watts))
