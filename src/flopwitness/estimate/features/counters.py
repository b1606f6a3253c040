"""What a cumulative counter says of a stretch: it counts on while nobody samples, so it bridges gaps."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.features.steps import Integral, Steps


def counted(steps: Steps, name: str) -> Integral:
    """Return how far a counter moved inside the session, interpolated at its ends.

    A NaN is bridged by its neighbours. Where the counter fell it was reset: what it shows afterwards is
    added, since it counted from zero, and the time of that step is unobserved. A counter that was never read
    twice gives NaN.
    """
    values = steps.trace.column(name)
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return Integral(float("nan"), float(steps.weight_seconds.sum()) + steps.uncovered_seconds)
    moved = np.diff(values[known])
    was_reset = moved < 0
    moved = np.where(was_reset, values[known][1:], moved)
    share, weight = _shares(steps, known)
    outside = float(steps.weight_seconds.sum() - weight.sum()) + steps.uncovered_seconds
    return Integral(float(moved @ share), float(weight[was_reset].sum()) + max(outside, 0.0))


def _shares(steps: Steps, known: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return which share of each stretch between known values lies in the session, and how many seconds."""
    weight = np.add.reduceat(steps.weight_seconds, known[:-1]) if len(known) else np.empty(0)
    length = np.add.reduceat(steps.length_seconds, known[:-1]) if len(known) else np.empty(0)
    if known[-1] < len(steps.weight_seconds):  # reduceat runs the last stretch on to the end
        weight[-1] -= steps.weight_seconds[known[-1] :].sum()
        length[-1] -= steps.length_seconds[known[-1] :].sum()
    return np.clip(weight / length, 0.0, 1.0), np.clip(weight, 0.0, None)
