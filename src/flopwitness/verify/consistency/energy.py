"""The energy counter against power integrated over the same time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.deviation import Deviation

CODE = "energy-against-power"

WINDOW_SECONDS = (10.0, 30.0, 60.0)
"""Lengths that are compared: a short fault shows in a short window, a small one in a long window."""

LIMITS = {"power_instant_watts": (0.045, 0.01), "power_watts": (0.09, 0.02)}
"""Part of the largest relative difference that falls with the length (what the ends of a window get wrong)
and part that stays; at 30 s.

Clean recordings of H200s at 10 Hz reach 10, 3 and 1.3 % over 10, 30 and 90 s for the instant gauge, and 27, 8
and 3 % for the mean, which trails by half a second.
"""

REFERENCE_SECONDS = 30.0
MAX_STEP_SECONDS = 1.0
"""Power between samples further apart than this is not integrated."""


def energy_deviations(trace: Trace) -> Iterator[Deviation]:
    """Compare the counter with each power gauge over windows of several lengths."""
    if "energy_joules_total" not in trace:
        return
    for name, (shrinking, staying) in LIMITS.items():
        if name not in trace:
            continue
        when_ns, seconds, counted, integrated = _pairs(trace, name)
        for window in WINDOW_SECONDS:
            covered, differences = _differences(seconds, counted, integrated, window)
            if len(differences):
                limit = shrinking * REFERENCE_SECONDS / window + staying
                where = int(np.abs(differences).argmax())
                last = min(where + covered, len(when_ns) - 1)
                span = (int(when_ns[where]), int(when_ns[last]))
                yield _deviation(trace.device.uuid, name, span, float(differences[where]), limit=limit)


def _pairs(
    trace: Trace, name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return instants, and of each step seconds, joules counted and joules integrated; 0 where unknown."""
    power, energy = trace[name], trace["energy_joules_total"]
    known = np.isfinite(power) & np.isfinite(energy)
    when_ns, power, energy = trace.time_ns[known], power[known], energy[known]
    seconds, moved = np.diff(when_ns) / 1e9, np.diff(energy)
    usable = (seconds <= MAX_STEP_SECONDS) & (moved >= 0)
    integrated = (power[1:] + power[:-1]) / 2 * seconds
    return (
        when_ns,
        np.where(usable, seconds, 0.0),
        np.where(usable, moved, 0.0),
        np.where(usable, integrated, 0.0),
    )


def _differences(
    seconds: NDArray[np.float64], counted: NDArray[np.float64], integrated: NDArray[np.float64], window: float
) -> tuple[int, NDArray[np.float64]]:
    """Return how many steps a window has, and of each window what was counted against what was integrated."""
    if not (seconds > 0).any():
        return 0, np.empty(0)
    n_steps = round(window / float(np.median(seconds[seconds > 0])))
    if n_steps < 5 or len(seconds) < n_steps:
        return 0, np.empty(0)
    sums = [np.cumsum(np.concatenate([[0.0], part])) for part in (seconds, counted, integrated)]
    covered, joules, watts = (total[n_steps:] - total[:-n_steps] for total in sums)
    whole = covered > 0.8 * window
    ratio = np.where(whole & (watts > 0), joules / np.where(watts > 0, watts, 1.0) - 1.0, 0.0)
    return n_steps, ratio


def _deviation(uuid: str, name: str, span: tuple[int, int], amount: float, *, limit: float) -> Deviation:
    direction = "more" if amount > 0 else "less"
    sentence = f"GPU {uuid}: the energy counter moved {abs(amount):.0%} {direction} than {name} integrated"
    return Deviation(CODE, uuid, *span, abs(amount), limit, sentence)
