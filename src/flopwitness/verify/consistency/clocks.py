"""The SM clock against the clocks that exist, and against what holds it down."""

from collections.abc import Iterator

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.physics.chips import chip_named
from flopwitness.verify.consistency.deviation import Deviation

CODE = "clock"
CLOCK, REASONS, SM = "sm_clock_hertz", "throttle_reasons_mask", "sm_active_ratio"

STEP_HERTZ = 15e6
"""Clocks of these chips are multiples of this, as 'nvidia-smi -q -d SUPPORTED_CLOCKS' lists them."""

STEP_TOLERANCE_HERTZ = 1.01e6
"""Readings come in whole MHz."""

OFF_GRID_LIMIT = 0.02
"""Share of the samples off that grid; clean: none of 60,000."""

UNHELD_LIMIT = 0.25
"""Share of the working samples below the boost clock though nothing holds it; clean: 1 of 2,300."""

MIN_UNHELD_SAMPLES = 5
WORKING_RATIO = 0.1


def clock_deviations(trace: Trace) -> Iterator[Deviation]:
    """Compare a device's clock with its chip's, and with the reasons that the driver gives."""
    if CLOCK not in trace or not len(trace):
        return
    clock, boost_hertz = trace[CLOCK], chip_named(trace.device.chip).boost_clock_hertz
    known = np.isfinite(clock)
    off = np.abs(clock - np.round(clock / STEP_HERTZ) * STEP_HERTZ) > STEP_TOLERANCE_HERTZ
    above = clock > boost_hertz + STEP_TOLERANCE_HERTZ
    if known.any():
        share = float((off | above)[known].mean())
        yield _deviation(trace, share, OFF_GRID_LIMIT, "{:.0%} of its clocks do not exist on this chip")
    if REASONS in trace and SM in trace:
        free = trace[REASONS] == 0
        free[1:] &= free[:-1].copy()
        free[:-1] &= free[1:].copy()
        judged = free & known & (trace[SM] > WORKING_RATIO)
        if int(judged.sum()) >= MIN_UNHELD_SAMPLES:
            held = float((clock[judged] < boost_hertz - STEP_HERTZ).mean())
            words = "nothing holds its clock, and {:.0%} of its working samples are below the boost clock"
            yield _deviation(trace, held, UNHELD_LIMIT, words)


def _deviation(trace: Trace, amount: float, limit: float, words: str) -> Deviation:
    uuid = trace.device.uuid
    span = (int(trace.time_ns[0]), int(trace.time_ns[-1]))
    return Deviation(CODE, uuid, *span, amount, limit, f"GPU {uuid}: {words.format(amount)}")
