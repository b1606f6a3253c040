"""The SM clock where nobody recorded it: inferred from what holds it down, and bounded.

Activity is a share of cycles, so FLOP need the clock. Assuming the boost clock overshoots on every board at
its power limit, by up to a quarter. There the clock falls as the pipes do more.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.detect.states import POWER_CHANNELS
from flopwitness.estimate.features.activity import MATRIX_PIPES
from flopwitness.estimate.sparse.boards import CAPPED_MASK, NEAR_LIMIT_RATIO
from flopwitness.estimate.sparse.priors import SAME_DIE, transfer_factor
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import chip_named

CLOCK = "sm_clock_hertz"
SUMMARY = "tensor_active_ratio"

AT_LIMIT = (1.054, -0.362)
"""Clock over boost at the limit = 1.054 - 0.362 x share of active matrix cycles.

Least squares over 28,416 samples of H200s whose mask said that power holds the clock; adding memory
activity and power changes the scatter (0.055) in the third digit.
"""

SCATTER = (-0.105, 0.075)
"""5 and 95 % of the samples lie within this of that line."""

FREE = (0.955, 1.0)
"""Clock over boost where nothing holds it down: 95 % of the samples of busy H200s were at 0.955 or above."""

UNKNOWN_CHIP_LOW = 0.6
"""The lowest that other chips are taken to run at, at their limit, over boost. An assumption: the lowest
sustained clock of a run on H200s was 0.78, and boards with less power for the same pipes fall further.
"""


class InferredClock(NamedTuple):
    """Clock of each sample between two ends, hertz; each of shape (n_samples,)."""

    low: NDArray[np.float64]
    point: NDArray[np.float64]
    high: NDArray[np.float64]


def needs_clock(trace: Trace) -> bool:
    """Say whether matrix activity is there and its clock is not."""
    has_activity = SUMMARY in trace or any(name in trace for name in MATRIX_PIPES)
    return has_activity and not np.isfinite(trace.column(CLOCK)).any()


def inferred_clock(trace: Trace) -> InferredClock:
    """Return the clock as far as mask, power and matrix activity tell.

    Where the mask says that nothing holds the clock down it is the boost clock; where power does, it
    follows the matrix pipes. Where neither mask nor power was recorded it may be either.
    """
    chip = chip_named(trace.device.chip)
    activity = _activity(trace)
    line = np.clip(AT_LIMIT[0] + AT_LIMIT[1] * np.nan_to_num(activity), UNKNOWN_CHIP_LOW, 1.0)
    capped = _capped(trace, chip)
    is_known = transfer_factor(chip) <= SAME_DIE
    bottom = np.clip(line + SCATTER[0], 0.0, 1.0) if is_known else np.full(len(trace), UNKNOWN_CHIP_LOW)
    top = np.clip(line + SCATTER[1], 0.0, 1.0) if is_known else np.ones(len(trace))
    free, maybe = capped == 0, np.isnan(capped)
    low = np.where(free, FREE[0], bottom)
    point = np.where(free, 1.0, line)
    high = np.where(free | maybe, 1.0, top)
    boost = chip.boost_clock_hertz
    return InferredClock(low * boost, np.clip(point, low, high) * boost, high * boost)


def with_clock(trace: Trace, clock_hertz: NDArray[np.float64]) -> Trace:
    """Return a trace with a clock column."""
    return Trace(trace.device, trace.time_ns, {**trace.channels, CLOCK: clock_hertz})


def _activity(trace: Trace) -> NDArray[np.float64]:
    if SUMMARY in trace:
        return trace[SUMMARY]
    pipes: NDArray[np.float64] = np.sum([trace[name] for name in MATRIX_PIPES if name in trace], axis=0)
    return pipes


def _capped(trace: Trace, chip: Chip) -> NDArray[np.float64]:
    """Return 1 where the clock is held down, 0 where it is not, NaN where nobody can tell."""
    mask = trace.column("throttle_reasons_mask")
    held = np.where(np.isfinite(mask), (np.nan_to_num(mask).astype(np.int64) & CAPPED_MASK) != 0, np.nan)
    power = next((trace[name] for name in POWER_CHANNELS[:2] if name in trace), np.full(len(trace), np.nan))
    near = np.where(power >= NEAR_LIMIT_RATIO * chip.power_limit_watts, 1.0, np.nan)
    low = power < chip.power_limit_watts / 2
    by_power = np.where(low, 0.0, near)
    told: NDArray[np.float64] = np.where(np.isfinite(held), held, by_power)
    return told
