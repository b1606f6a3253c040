"""Estimates and findings as the sparse methods give them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workload import Target
from flopwitness.estimate.sparse.priors import COVERAGE_RATIO, EXECUTED_TO_ALGORITHMIC

ACTIVITY = "activity-envelope"
POWER_CLOCK = "power-clock-envelope"
POWER = "power-envelope"
NODE = "node-power-envelope"
UTILISATION = "utilisation-ceiling"

SPARSE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        ACTIVITY: "matrix pipes and clock, whichever format; nothing fitted on this chip",
        POWER_CLOCK: "board energy above idle, and how far the power limit holds the clock down",
        POWER: "board energy above idle x what ordinary training makes of a joule",
        NODE: "energy of a whole node, its GPUs' part of it, then as power-envelope",
        UTILISATION: "time with a kernel x the chip's ceiling: a bound, no estimate",
    }
)
"""Methods that need no calibration, the narrowest first."""

BOUNDS_ONLY = frozenset({UTILISATION})
"""Methods whose point says nothing: it is the low end, because what they see is no evidence of work."""

CAUSAL_DOUBLING = 2.0
"""Attention counted in full is at most twice what a causal kernel executes: the hard bound's factor."""


class Band(NamedTuple):
    """Executed FLOP: an interval under the stated assumption, and what no side can exceed."""

    low: float
    point: float
    high: float
    most: float


class Answer(NamedTuple):
    """One method's answer: a band with what it was made from, or why there is none."""

    method: str
    band: Band | None
    signals: tuple[str, ...]
    finding: Finding


def estimate_of(answer: Answer, target: Target) -> Estimate:
    """Return an answer as an estimate of a target; its band must be there."""
    band = answer.band or Band(0.0, 0.0, float("inf"), float("inf"))
    ends, most = (1.0, 1.0, 1.0), 1.0
    if target is Target.ALGORITHMIC:
        ends, most = EXECUTED_TO_ALGORITHMIC, CAUSAL_DOUBLING
    if answer.method in BOUNDS_ONLY:
        ends = (most, most, most)
    ceiling = band.most * most
    low, point, high = (
        min(end * factor, ceiling)
        for end, factor in zip((band.low, band.point, band.high), ends, strict=True)
    )
    return Estimate(
        point_flop=min(max(point, low), high),
        low_flop=low,
        high_flop=high,
        coverage_ratio=COVERAGE_RATIO,
        method=answer.method,
        target=target,
        signals=answer.signals,
        most_flop=ceiling,
    )


def unavailable(method: str, why: str) -> Answer:
    """Return the answer of a method that has none."""
    note = Finding("method-unavailable", f"{method} gives no estimate: {why}", Severity.NOTE, method)
    return Answer(method, None, (), note)


def assumed(method: str, message: str) -> Finding:
    """Return the finding that states what an interval rests on."""
    words = f"{method}: {message}; a side that hides work can be anywhere from 0 to the bound 'at most'"
    return Finding("assumed-efficiency", words, Severity.WARNING, method)
