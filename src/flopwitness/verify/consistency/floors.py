"""Matrix pipes that read exactly 0 beside matrix work: a constant taken off, or phases of other work."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.detect.lost import without_lost_samples
from flopwitness.verify.consistency.deviation import Deviation

CODE = "cut-off-at-zero"
PHASES_CODE = "work-without-matrix"
MATRIX, SM = "tensor_active_ratio", "sm_active_ratio"

WORKING_RATIO = 0.05
"""SMs work from this share on."""

PARTLY_RATIO = 0.3
"""Up to this share work begins or ends in the sample; with more it may fill it."""

BESIDE_RATIO = 0.02
"""A sample lies beside matrix work where one of its neighbours reads this much."""

LIMIT = 1.5
"""Such samples in a minute and a half. Clean: 1 at most. A tenth of the mean taken off leaves 2 to 12."""

WORDS = {
    CODE: "{} samples in which work begins or ends: a constant was taken off, or other work is beside it",
    PHASES_CODE: "{} samples full of work beside matrix work: copies, vector work or a long optimiser step",
}


def floor_deviations(trace: Trace) -> Iterator[Deviation]:
    """Count the samples of work beside matrix work whose matrix pipes read exactly 0.

    A sample that a run begins or ends in holds a part of its matrix work: it reads little, hardly ever
    nothing. Samples that are full of other work are honest, and worth a note: decoys look so.
    """
    if MATRIX not in trace or SM not in trace:
        return
    clean = without_lost_samples(trace)
    works, still = clean[SM], (clean[MATRIX] == 0) & _beside(clean[MATRIX])
    partly = still & (works > WORKING_RATIO) & (works <= PARTLY_RATIO)
    yield _counted(trace, partly, CODE)
    yield _counted(trace, still & (works > PARTLY_RATIO), PHASES_CODE)


def _counted(trace: Trace, chosen: NDArray[np.bool_], code: str) -> Deviation:
    at, uuid = np.flatnonzero(chosen), trace.device.uuid
    sentence = f"GPU {uuid}: its matrix pipes read exactly 0 in {WORDS[code].format(len(at))}"
    first_ns, last_ns = trace.time_ns[at[[0, -1]] if len(at) else [0, -1]].tolist()
    is_hint = code == PHASES_CODE
    return Deviation(
        code, uuid, first_ns, last_ns, float(len(at)), LIMIT, sentence, is_hint, is_explicable=True
    )


def _beside(matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    works = matrix > BESIDE_RATIO
    beside = np.zeros(len(works), dtype=np.bool_)
    beside[1:] |= works[:-1]
    beside[:-1] |= works[1:]
    return beside
