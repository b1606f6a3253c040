"""Tampering with time and place: samples shifted, devices taken for each other."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.redteam.tampering.aim import (
    Aim,
    each_hit,
    inside,
    is_counter,
    moves_of,
    recounted,
    with_channels,
)
from flopwitness.verify.consistency.identity import nearest


def shift(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Report channels later by ``strength`` seconds: whole samples, each value as it was.

    With every channel aimed at, the device's instants move instead, which is the same and exact. Of single
    channels the first samples have nothing to show but their first value.
    """
    if not aim.channels:
        moved_ns = round(strength * NANOSECONDS_PER_SECOND)
        return each_hit(
            recording, aim, lambda trace: Trace(trace.device, trace.time_ns + moved_ns, trace.channels)
        )

    def change(trace: Trace) -> Trace:
        period = float(np.median(np.diff(trace.seconds()))) if len(trace) > 1 else 1.0
        source = np.clip(np.arange(len(trace)) - round(strength / period), 0, len(trace) - 1)
        return with_channels(trace, {name: trace[name][source] for name in aim.names(trace)})

    return each_hit(recording, aim, change)


def swap(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Report two devices under each other's UUID for the first part of the stretch, counters and all.

    Raises
    ------
    InvalidNounError
        When the recording has no two devices that the aim hits.
    """
    start_ns, stop_ns = aim.first_part(strength)
    return _exchanged(recording, aim, (start_ns, stop_ns), keeps_counting=False)


def wrong_index(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Give one source's channels to the other device for the first part, as where libraries disagree.

    Counters go on from the level of their own UUID, so that no jump gives it away.

    Raises
    ------
    InvalidNounError
        When the recording has no two devices that the aim hits.
    """
    return _exchanged(recording, aim, aim.first_part(strength), keeps_counting=True)


def _exchanged(recording: Recording, aim: Aim, part: tuple[int, int], *, keeps_counting: bool) -> Recording:
    hit = [trace for trace in recording.traces if aim.is_hit(trace)]
    if len(hit) < 2:
        raise InvalidNounError("two devices are needed to take one for the other")
    other_of = {hit[0].device: hit[1], hit[1].device: hit[0]}
    traces = tuple(
        _with_columns_of(trace, other_of[trace.device], aim, part=part, keeps_counting=keeps_counting)
        if trace.device in other_of
        else trace
        for trace in recording.traces
    )
    return replace(recording, traces=traces)


def _with_columns_of(
    trace: Trace, other: Trace, aim: Aim, *, part: tuple[int, int], keeps_counting: bool
) -> Trace:
    """Return a trace that shows the other's values, sample for sample, in a part of it."""
    target = inside(trace, *part)
    beside = nearest(other, trace.time_ns)
    changed: dict[str, NDArray[np.float64]] = {}
    for name in aim.names(trace):
        own, others = trace[name], other.column(name)
        if keeps_counting and is_counter(name):
            moves = np.where(target, moves_of(others)[beside], moves_of(own))
            changed[name] = recounted(own, moves)
        else:
            changed[name] = np.where(target, others[beside], own)
    return with_channels(trace, changed)
