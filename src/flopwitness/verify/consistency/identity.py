"""Devices taken for each other: power that fits another's activity, and values that change places."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace, joined
from flopwitness.verify.consistency.blocks import Blocks
from flopwitness.verify.consistency.deviation import Deviation
from flopwitness.verify.consistency.regression import Regression

CODE = "swapped"
FIT_LIMIT = 2.0
"""How much worse than the other's a device's power may fit its own activity; clean: 1.2."""

MIN_MISFIT_WATTS = 40.0
"""A misfit below this is noise of the power model whoever it is compared with."""

MIN_BLOCKS = 4

MEMORY = "memory_used_bytes"
EXCHANGED = {
    MEMORY: 64e6,
    "temperature_celsius": 6.0,
    "mem_temperature_celsius": 6.0,
}
"""Channels that a device keeps from sample to sample, and the least change of two that is looked at."""

EXCHANGE_RATIO = 0.2
"""What change is left once two devices are exchanged, at most; two that start together move at once too."""

EXCHANGE_LIMIT = 1.5
"""Channels that change places at the same sample; work that is handed over may look so in one; clean: 1."""


def fit_deviations(
    blocks: tuple[Blocks, ...], uuids: tuple[str, ...], power: Regression
) -> Iterator[Deviation]:
    """Ask of each pair of devices whether power fits better with the activity exchanged."""
    for first, second in combinations(range(len(blocks)), 2):
        paired = _paired(blocks[first], blocks[second])
        if len(paired[0]) < MIN_BLOCKS:
            continue
        expected = [power.predict(one.terms) for one in paired]
        own = _misfit(paired[0].watts - expected[0], paired[1].watts - expected[1])
        other = _misfit(paired[0].watts - expected[1], paired[1].watts - expected[0])
        amount = own / max(other, MIN_MISFIT_WATTS)
        sentence = (
            f"GPU {uuids[first]}: power fits the activity of GPU {uuids[second]} within {other:.0f} W, "
            f"its own within {own:.0f} W"
        )
        span = (int(paired[0].start_ns[0]), int(paired[0].stop_ns[-1]))
        yield Deviation(CODE, uuids[first], *span, amount, FIT_LIMIT, sentence)


def nearest(trace: Trace, time_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which sample of a trace lies nearest each instant, shape (n_instants,)."""
    between = (trace.time_ns[1:] + trace.time_ns[:-1]) // 2
    return np.searchsorted(between, time_ns)


def _paired(one: Blocks, two: Blocks) -> tuple[Blocks, Blocks]:
    """Return blocks that start together, as those of one recording do within a few milliseconds."""
    length_ns = int(one.stop_ns[0] - one.start_ns[0]) if len(one) else 1
    near = np.searchsorted(two.start_ns, one.start_ns - length_ns // 2)
    held = near < len(two)
    held[held] = np.abs(two.start_ns[near[held]] - one.start_ns[held]) < length_ns // 2
    chosen = np.zeros(len(two), dtype=np.bool_)
    chosen[near[held]] = True
    return one.chosen(held), two.chosen(chosen)


def _misfit(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.concatenate([one, two]) ** 2)))


def exchange_deviations(
    traces: tuple[Trace, ...], before: Mapping[str, Trace] = MappingProxyType({})
) -> Iterator[Deviation]:
    """Find the instant at which most of two devices' slow channels change places.

    Parameters
    ----------
    traces : tuple of Trace
        What is judged, a trace a device.
    before : mapping of str to Trace
        Earlier samples by UUID, where they were kept: the last of each is looked at too.
    """
    for one, two in combinations((_with_last(trace, before.get(trace.device.uuid)) for trace in traces), 2):
        if len(one) < 2 or not len(two):
            continue
        beside = nearest(two, one.time_ns)
        crossing = {
            name: (one[name], two[name][beside], least)
            for name, least in EXCHANGED.items()
            if name in one and name in two
        }
        if not crossing:
            continue
        n_crossing = np.sum([_changes_places(*each) for each in crossing.values()], axis=0)
        if MEMORY in crossing and len(one) > 2:
            late = [_changes_places(*each, n_steps=2) for each in crossing.values()]
            n_late = np.sum(late, axis=0) * _changes_places(*crossing[MEMORY], n_steps=2)
            n_crossing[:-1] = np.maximum(n_crossing[:-1], n_late)
        where = int(n_crossing.argmax())
        amount = float(n_crossing[where])
        sentence = (
            f"GPU {one.device.uuid}: {amount:.0f} of memory used and temperatures change places with "
            f"GPU {two.device.uuid} within two samples"
        )
        span = (int(one.time_ns[where]), int(one.time_ns[where + 1]))
        yield Deviation(CODE, one.device.uuid, *span, amount, EXCHANGE_LIMIT, sentence)


def _with_last(trace: Trace, before: Trace | None) -> Trace:
    """Return a trace with the last sample before it in front, where both have the same channels."""
    if before is None or not len(before) or not len(trace) or set(before.channels) != set(trace.channels):
        return trace
    return joined([before.between(len(before) - 1, len(before)), trace])


def _changes_places(
    one: NDArray[np.float64], two: NDArray[np.float64], least: float, *, n_steps: int = 1
) -> NDArray[np.bool_]:
    """Say where two columns go on at each other's values some steps later, shape (n_samples - n_steps,).

    Samples of two devices lie up to half a step apart, so one may change a sample before the other. Two steps
    are looked at where memory changes places: temperatures of two jobs cross within two by chance.
    """
    kept = np.abs(one[n_steps:] - one[:-n_steps]) + np.abs(two[n_steps:] - two[:-n_steps])
    crossed = np.abs(one[n_steps:] - two[:-n_steps]) + np.abs(two[n_steps:] - one[:-n_steps])
    changes: NDArray[np.bool_] = (kept > least) & (crossed <= EXCHANGE_RATIO * kept)
    return changes
