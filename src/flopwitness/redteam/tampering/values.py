"""Tampering with values: a constant added, a factor, peaks cut, counters set back."""

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

CLOCK = "sm_clock_hertz"
CLOCK_STEP_HERTZ = 15e6
"""Clocks that the driver offers lie this far apart; one off that grid would give the tampering away."""


def scale(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Lower channels by a share of their value; counters count so much less.

    A negative strength raises them. A clock is rounded to the grid of clocks that exist.
    """

    def change(trace: Trace) -> Trace:
        factor = np.where(inside(trace, aim.start_ns, aim.stop_ns), 1.0 - strength, 1.0)
        return with_channels(trace, {name: _scaled(trace, name, factor) for name in aim.names(trace)})

    return each_hit(recording, aim, change)


def _scaled(trace: Trace, name: str, factor: NDArray[np.float64]) -> NDArray[np.float64]:
    if is_counter(name):
        return recounted(trace[name], moves_of(trace[name]) * factor)
    scaled = trace[name] * factor
    on_grid = np.round(scaled / CLOCK_STEP_HERTZ) * CLOCK_STEP_HERTZ
    return np.where(factor != 1.0, on_grid, scaled) if name == CLOCK else scaled


def bias(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Take a constant off: a share of the channel's mean while it is not 0. What would fall below 0 reads 0.

    A counter counts that constant less a second, and never backwards.
    """

    def change(trace: Trace) -> Trace:
        hit = inside(trace, aim.start_ns, aim.stop_ns)
        return with_channels(trace, {name: _biased(trace, name, hit, strength) for name in aim.names(trace)})

    return each_hit(recording, aim, change)


def _biased(trace: Trace, name: str, hit: NDArray[np.bool_], strength: float) -> NDArray[np.float64]:
    values = moves_of(trace[name]) if is_counter(name) else trace[name]
    active = hit & (values > 0)
    if not active.any():
        return trace[name]
    if not is_counter(name):
        lowered = np.maximum(values - strength * float(values[active].mean()), 0.0)
        return np.where(active, lowered, values)
    seconds = np.diff(trace.seconds(), prepend=0.0)
    rate = float(values[active].sum() / seconds[hit].sum())
    return recounted(trace[name], np.where(hit, np.maximum(values - strength * rate * seconds, 0.0), values))


def clip_peaks(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Cut values down to the quantile ``1 - strength`` of what the channel reads while it is not 0."""

    def change(trace: Trace) -> Trace:
        hit = inside(trace, aim.start_ns, aim.stop_ns)
        return with_channels(trace, {name: _clipped(trace, name, hit, strength) for name in aim.names(trace)})

    return each_hit(recording, aim, change)


def _clipped(trace: Trace, name: str, hit: NDArray[np.bool_], strength: float) -> NDArray[np.float64]:
    values = trace[name]
    active = hit & (values > 0)
    if is_counter(name) or not active.any():
        return values
    top = float(np.quantile(values[active], 1.0 - strength))
    return np.where(hit, np.minimum(values, top), values)


def reset_counters(recording: Recording, aim: Aim, strength: float, rng: np.random.Generator) -> Recording:  # noqa: ARG001  one signature
    """Set counters back at the middle of the stretch by a share of what they moved; 1 is to their start.

    They count on from there as before.
    """
    middle_ns = (aim.start_ns + aim.stop_ns) // 2

    def change(trace: Trace) -> Trace:
        after = trace.time_ns > middle_ns
        names = [name for name in aim.names(trace) if is_counter(name)]
        return with_channels(trace, {name: _set_back(trace[name], after, strength) for name in names})

    return each_hit(recording, aim, change)


def _set_back(counter: NDArray[np.float64], after: NDArray[np.bool_], strength: float) -> NDArray[np.float64]:
    before = counter[~after & np.isfinite(counter)]
    moved = float(before[-1] - before[0]) if len(before) else 0.0
    return np.where(after, counter - strength * moved, counter)
