"""Tampering with rows: samples dropped, frozen, or replaced by an earlier stretch."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.redteam.tampering.aim import (
    Aim,
    each_hit,
    inside,
    is_counter,
    moves_of,
    recounted,
    with_channels,
)

LOAD = "sm_active_ratio"
LOADED_RATIO = 0.3
"""A sample counts as loaded from this share of SM cycles with a warp on."""


def _without(trace: Trace, dropped: NDArray[np.bool_]) -> Trace:
    kept = ~dropped
    columns = {name: column[kept] for name, column in trace.channels.items()}
    return Trace(trace.device, trace.time_ns[kept], columns)


def drop_scattered(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:
    """Drop a share of the samples, each by chance; what a strength drops, a greater one drops too."""

    def change(trace: Trace) -> Trace:
        return _without(trace, inside(trace, aim.start_ns, aim.stop_ns) & (rng.random(len(trace)) < strength))

    return each_hit(recording, aim, change)


def drop_block(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Drop every sample of the first part of the stretch."""
    part = aim.first_part(strength)
    return each_hit(recording, aim, lambda trace: _without(trace, inside(trace, *part)))


def drop_loaded(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:
    """Drop a share of the samples that show load, and none of the idle ones."""

    def change(trace: Trace) -> Trace:
        is_loaded = inside(trace, aim.start_ns, aim.stop_ns) & (trace.column(LOAD) > LOADED_RATIO)
        return _without(trace, is_loaded & (rng.random(len(trace)) < strength))

    return each_hit(recording, aim, change)


def freeze(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Hold channels at their last value before the stretch, for its first part; counters stand still."""
    start_ns, stop_ns = aim.first_part(strength)

    def change(trace: Trace) -> Trace:
        frozen = inside(trace, start_ns, stop_ns)
        last = max(int(np.searchsorted(trace.time_ns, start_ns)) - 1, 0)
        return with_channels(
            trace, {name: np.where(frozen, trace[name][last], trace[name]) for name in aim.names(trace)}
        )

    return each_hit(recording, aim, change)


def replay(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Write an earlier, lighter stretch over the first part; counters make the earlier moves and go on.

    The source is the lightest stretch of that length that ends before the stretch begins; a part longer than
    what lies before it is filled by repeating.
    """
    start_ns, stop_ns = aim.first_part(strength)

    def change(trace: Trace) -> Trace:
        target = np.flatnonzero(inside(trace, start_ns, stop_ns))
        n_before = int(target[0]) if len(target) else 0
        if n_before < 2:
            return trace
        length = min(len(target), n_before)
        load = np.nan_to_num(trace.column(LOAD)[:n_before])
        weight = np.convolve(load, np.ones(length), mode="valid")
        source = int(weight.argmin()) + np.resize(np.arange(length), len(target))
        return with_channels(
            trace, {name: _replayed(trace, name, target, source) for name in aim.names(trace)}
        )

    return each_hit(recording, aim, change)


def _replayed(
    trace: Trace, name: str, target: NDArray[np.int64], source: NDArray[np.int64]
) -> NDArray[np.float64]:
    values = trace[name].copy() if not is_counter(name) else moves_of(trace[name])
    values[target] = values[source]
    return recounted(trace[name], values) if is_counter(name) else values
