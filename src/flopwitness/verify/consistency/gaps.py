"""Samples that are missing: long steps, and steps that vary more than a sampler's do."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.deviation import Deviation

CODE = "missing-samples"

GAP_LIMIT = 4.0
"""Longest step in median steps; clean: 2.2."""

IRREGULAR_LIMIT = 0.04
"""Share of the steps more than ``IRREGULAR_RATIO`` off the median; clean: at most 0.01 in a minute."""

IRREGULAR_RATIO = 0.3
MIN_STEPS = 30
LOADED_RATIO = 0.3
SM = "sm_active_ratio"


def gap_deviations(trace: Trace) -> Iterator[Deviation]:
    """Judge the steps between a device's samples."""
    if len(trace) < 3:
        return
    steps = np.diff(trace.seconds())
    typical = float(np.median(steps))
    where = int(steps.argmax())
    span = (int(trace.time_ns[where]), int(trace.time_ns[where + 1]))
    uuid = trace.device.uuid
    sentence = (
        f"GPU {uuid}: no sample for {steps[where]:.1f} s, {_beside_load(trace, steps > GAP_LIMIT * typical)}"
    )
    yield Deviation(CODE, uuid, *span, float(steps[where]) / typical, GAP_LIMIT, sentence, is_explicable=True)
    if len(steps) >= MIN_STEPS:
        irregular = np.abs(steps / typical - 1.0) > IRREGULAR_RATIO
        share = float(irregular.mean())
        sentence = f"GPU {uuid}: {share:.0%} of its steps are irregular, {_beside_load(trace, irregular)}"
        whole = (int(trace.time_ns[0]), int(trace.time_ns[-1]))
        yield Deviation(CODE, uuid, *whole, share, IRREGULAR_LIMIT, sentence, is_explicable=True)


def _beside_load(trace: Trace, steps: NDArray[np.bool_]) -> str:
    """Say how many of some steps begin under load, and how much of the time is load."""
    loaded = trace.column(SM)[:-1] > LOADED_RATIO
    n_loaded, n_steps = int((steps & loaded).sum()), int(steps.sum())
    return f"{n_loaded} of {n_steps} such steps under load ({loaded.mean():.0%} of all are)"
