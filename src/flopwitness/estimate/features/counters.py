"""What a cumulative counter says of a stretch: it counts on while nobody samples, so it bridges gaps."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.features.steps import Integral, Steps

REFRESH_SECONDS = 1.0
"""A counter may show at once what it gathered for this long; NVML refreshes energy every 0.02 to 0.1 s."""


class Counted(NamedTuple):
    """How far a counter moved in a stretch.

    ``total`` carries the rate of believed moves over into others, ``observed`` does not; both are NaN where
    nothing was believed. ``unobserved_seconds`` are those of resets, of moves that were not believed and of
    what lies outside all readings.
    """

    total: float
    unobserved_seconds: float
    observed: float = float("nan")
    n_resets: int = 0


def counted(steps: Steps, name: str, *, most_per_second: float = float("inf")) -> Integral:
    """Return how far a counter moved inside the session, and the time that it says nothing of."""
    return Integral(*tallied(steps, name, most_per_second=most_per_second)[:2])


def tallied(steps: Steps, name: str, *, most_per_second: float = float("inf")) -> Counted:
    """Return how far a counter moved inside the session, interpolated at its ends.

    A NaN is bridged by its neighbours. Where the counter fell it was reset: what it shows afterwards is
    added, since it counted from zero, and the time of that step is unobserved. A move that the device cannot
    have made in its time is a fault of the counter: its time is unobserved too, and the rate of the believed
    moves is carried over. A counter that was never read twice, or never believably, gives NaN.

    Parameters
    ----------
    steps : Steps
        The steps of one trace of the session.
    name : str
        Channel of the counter.
    most_per_second : float
        What the device can reach, in the counter's unit a second, > 0.
    """
    values = steps.trace.column(name)
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return Counted(float("nan"), float(steps.weight_seconds.sum()) + steps.uncovered_seconds)
    moved = np.diff(values[known])
    was_reset = moved < 0
    moved = np.where(was_reset, values[known][1:], moved)
    share, weight = _shares(steps, known)
    outside = float(steps.weight_seconds.sum() - weight.sum()) + steps.uncovered_seconds
    since_last = np.diff(steps.trace.seconds()[known])
    believed = moved <= most_per_second * (since_last + REFRESH_SECONDS)
    unseen = float(weight[was_reset | ~believed].sum()) + max(outside, 0.0)
    n_resets = int(was_reset.sum())
    if not believed.any():
        return Counted(float("nan"), unseen, n_resets=n_resets)
    observed, covered = float(np.sum(moved[believed] * share[believed])), float(weight[believed].sum())
    fill = float(weight.sum()) / covered if not believed.all() and covered > 0 else 1.0
    return Counted(observed * fill, unseen, observed, n_resets)


def _shares(steps: Steps, known: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return which share of each stretch between known values lies in the session, and how many seconds."""
    weight = np.add.reduceat(steps.weight_seconds, known[:-1]) if len(known) else np.empty(0)
    length = np.add.reduceat(steps.length_seconds, known[:-1]) if len(known) else np.empty(0)
    if known[-1] < len(steps.weight_seconds):  # reduceat runs the last stretch on to the end
        weight[-1] -= steps.weight_seconds[known[-1] :].sum()
        length[-1] -= steps.length_seconds[known[-1] :].sum()
    return np.clip(weight / length, 0.0, 1.0), np.clip(weight, 0.0, None)
