"""Memory and link traffic against matrix work: copies and floods that serve no computation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.predictors.state import PlainState
from flopwitness.verify.consistency.blocks import TERM_NAMES, Blocks
from flopwitness.verify.consistency.deviation import Deviation

MEMORY_CODE = "memory-against-activity"
LINK_CODE = "links-against-activity"

WIDTH = 4
"""Blocks in a row that are added up, 12 s: the traffic of loading and building is shorter."""

MATRIX = TERM_NAMES.index("tensor_active_ratio:1")
MEMORY = TERM_NAMES.index("dram_active_ratio:1")
LINKS = TERM_NAMES.index("nvlink:1")

WORKING_RATIO = 0.05
"""Memory traffic is judged from this matrix activity on; with less, it is the work itself, as in decoding."""

FLOOR_RATIO = 0.02
"""Added to the matrix activity that link traffic is divided by: links that work alone stand out."""

MEMORY_MARGIN, LINK_MARGIN = 1.6, 2.6
"""Ratios pass up to this many times the greatest that was fitted.

The same programs on other nodes, in shorter runs, reached 1.25 and 2.04 times.
"""

WORDS = {
    MEMORY_CODE: "moves {:.1f} times the memory traffic per matrix cycle that any fitted work does",
    LINK_CODE: "moves {:.1f} times the link traffic per matrix cycle that any fitted work does",
}


@dataclass(frozen=True, slots=True, eq=False)
class TrafficLimits(PlainState):
    """Greatest traffic of fitted work: terms of memory and links over that of the matrix pipes.

    Attributes
    ----------
    memory, links : float
        > 0; 0 where no fitted recording had such traffic, which then is not judged.
    """

    memory: float
    links: float


def memory_ratios(blocks: Blocks) -> tuple[Blocks, NDArray[np.float64]]:
    """Return memory over matrix activity of each ``WIDTH`` working blocks in a row, and the blocks."""
    working = blocks.chosen(blocks.terms[:, MATRIX] > WORKING_RATIO)
    return working, _summed(working.terms[:, MEMORY]) / _summed(working.terms[:, MATRIX])


def link_ratios(blocks: Blocks) -> tuple[Blocks, NDArray[np.float64]]:
    """Return the same of link traffic, of all blocks."""
    return blocks, _summed(blocks.terms[:, LINKS]) / _summed(blocks.terms[:, MATRIX] + FLOOR_RATIO)


def fitted_traffic(blocks: Iterable[Blocks]) -> TrafficLimits:
    """Learn the greatest ratios of clean recordings."""
    every = list(blocks)
    memory = max(float(memory_ratios(one)[1].max(initial=0.0)) for one in every)
    links = max(float(link_ratios(one)[1].max(initial=0.0)) for one in every)
    return TrafficLimits(memory, links)


def traffic_deviations(blocks: Blocks, subject: str, limits: TrafficLimits) -> Iterator[Deviation]:
    """Compare a device's traffic with that of fitted work."""
    checks = (
        (MEMORY_CODE, memory_ratios(blocks), limits.memory, MEMORY_MARGIN),
        (LINK_CODE, link_ratios(blocks), limits.links, LINK_MARGIN),
    )
    for code, (judged, ratios), greatest, margin in checks:
        if len(ratios) and greatest > 0:
            where = int(ratios.argmax())
            amount = float(ratios[where]) / greatest
            span = (int(judged.start_ns[where]), int(judged.stop_ns[where + WIDTH - 1]))
            sentence = f"GPU {subject} {WORDS[code].format(amount)}"
            yield Deviation(code, subject, *span, amount, margin, sentence, is_explicable=True)


def _summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each ``WIDTH`` values in a row; none where there are too few."""
    total = np.cumsum(np.append(0.0, values))
    sums: NDArray[np.float64] = total[WIDTH:] - total[:-WIDTH]
    return sums
