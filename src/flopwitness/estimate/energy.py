"""The energy of a stretch of one device: by its counter, by its power, or not measured; never a silent pick.

Only what was seen is added up. What nobody saw is bounded: at least nothing, at most what the board can draw.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import UnknownChipError, chip_named
from flopwitness.physics.counters import (
    REFRESH_SECONDS,
    SMALLEST_WINDOW_SECONDS,
    counter_faults,
    most_per_second,
    standing,
)

COUNTER, POWERS = "energy_joules_total", ("power_watts", "power_instant_watts")

MAX_STEP_PERIODS = 3.0
"""A step longer than this many sampling periods is a gap for a gauge: no line is drawn across it."""

AGREED_RATIO = 0.1
"""Counter and integrated power that differ by less agree: H200s at 10 Hz reach 10 % over 10 s."""

AGREED_SECONDS = 1.0
"""And so do those that differ by less than the mean power over this: a gauge may trail by a second."""


class EnergyMethod(StrEnum):
    """How an energy was found."""

    COUNTER = "counter"
    POWER = "power-integrated"
    FROZEN = "power-integrated, counter frozen"
    DISPUTED = "counter and power disagree"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Energy:
    """What one device drew from its first sample to its last.

    Attributes
    ----------
    joules : float
        What was seen; NaN where nothing was, or where two sources disagree: then the bounds are the answer.
    method : EnergyMethod
        How it was found.
    low_joules, high_joules : float
        Bounds with the unobserved time; the high one is infinite where nothing limits it.
    unobserved_seconds : float
        Time of which neither counter nor power says anything.
    counter_joules, power_joules : float
        Each source alone, NaN where it says nothing.
    n_resets : int
        How often the counter began anew.

    Raises
    ------
    InvalidNounError
        When a bound lies on the wrong side.
    """

    joules: float
    method: EnergyMethod
    low_joules: float
    high_joules: float
    unobserved_seconds: float
    counter_joules: float = float("nan")
    power_joules: float = float("nan")
    n_resets: int = 0

    def __post_init__(self) -> None:
        """Refuse bounds that bound nothing."""
        if not 0 <= self.low_joules <= self.high_joules or self.joules < self.low_joules:
            raise InvalidNounError(f"energy {self.joules} J outside {self.low_joules}..{self.high_joules} J")

    @property
    def discrepancy_joules(self) -> float:
        """How far the two sources are apart; NaN where one of them says nothing."""
        return abs(self.counter_joules - self.power_joules)

    @property
    def warning(self) -> str:
        """One sentence where the counter was not used or not believed; empty where all is well."""
        return {
            EnergyMethod.POWER: "no energy counter: power was integrated",
            EnergyMethod.FROZEN: "the energy counter stands still under load: power was integrated",
            EnergyMethod.DISPUTED: f"counter and power differ by {self.discrepancy_joules:.0f} J",
            EnergyMethod.UNMEASURED: "neither energy counter nor power: unmeasured",
        }.get(self.method, "")


def energy_joules(
    trace: Trace, *, period_seconds: float | None = None, most_watts: float | None = None
) -> Energy:
    """Return the energy between the first and the last sample of a trace.

    Parameters
    ----------
    trace : Trace
        One device.
    period_seconds : float or None
        From sample to sample, > 0; the middle of the steps where None.
    most_watts : float or None
        What the board can draw; by its chip where None, and 10 kW where that is unknown.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> found = energy_joules(Trace(Device("GPU-a"), [0, 10**9], {"power_watts": [100.0, 300.0]}))
    >>> found.joules, str(found.method)
    (200.0, 'power-integrated')
    """
    seconds = trace.seconds()
    duration = float(seconds[-1]) if len(seconds) else 0.0
    most = most_per_second(COUNTER, _chip(trace)) if most_watts is None else most_watts
    if duration < SMALLEST_WINDOW_SECONDS:
        return _unmeasured(duration, most)
    counted = _by_counter(trace, most)
    integrated = _by_power(trace, period_seconds)
    is_frozen = _is_frozen(trace)
    if is_frozen or not counted.joules > 0:
        return _powered(integrated, duration, most, is_frozen=is_frozen)
    if _disagree(counted, integrated, duration):
        ends = sorted((counted.joules, integrated.joules))
        high = ends[1] + most * max(counted.unseen_seconds, integrated.unseen_seconds)
        return Energy(
            float("nan"),
            EnergyMethod.DISPUTED,
            ends[0],
            high,
            counted.unseen_seconds,
            counted.joules,
            integrated.joules,
            counted.n_resets,
        )
    high = counted.joules + most * counted.unseen_seconds
    return Energy(
        counted.joules,
        EnergyMethod.COUNTER,
        counted.joules,
        high,
        counted.unseen_seconds,
        counted.joules,
        integrated.joules,
        counted.n_resets,
    )


def counter_watts(trace: Trace, *, window_seconds: float = SMALLEST_WINDOW_SECONDS) -> NDArray[np.float64]:
    """Return mean power by the counter over the window before each sample, shape (n_samples,), watts.

    The window is at least ``window_seconds`` long, and at least what a counter resolves; NaN where no such
    window ends, or the counter fell in it. Two equal readings close together are below resolution, not 0 W.
    """
    values, seconds = trace.column(COUNTER), trace.seconds()
    window = max(window_seconds, SMALLEST_WINDOW_SECONDS)
    first = np.searchsorted(seconds, seconds - window + 1e-9, side="right") - 1
    watts = np.full(len(trace), np.nan)
    whole = first >= 0
    moved = values[whole] - values[first[whole]]
    watts[whole] = np.where(moved >= 0, moved, np.nan) / (seconds[whole] - seconds[first[whole]])
    return watts


@dataclass(frozen=True, slots=True)
class _Part:
    """What one source says: joules seen (NaN where nothing), and the seconds that it did not see."""

    joules: float
    unseen_seconds: float
    n_resets: int = 0


def _by_counter(trace: Trace, most: float) -> _Part:
    values, seconds = trace.column(COUNTER), trace.seconds()
    known = np.isfinite(values)
    faults = counter_faults(seconds[known], values[known], most)
    good = ~(faults.is_glitch | faults.is_underflow)
    values, seconds = values[known][good], seconds[known][good]
    is_reset = faults.is_reset[good]
    if len(values) < 2:
        return _Part(float("nan"), float(trace.seconds()[-1]))
    moved, steps = np.diff(values), np.diff(seconds)
    moved = np.where(is_reset[1:], values[1:], moved)
    is_believed = (moved >= 0) & (moved <= most * (steps + REFRESH_SECONDS))
    seen = is_believed & ~is_reset[1:]
    unseen = float(trace.seconds()[-1]) - float(steps[seen].sum())
    return _Part(float(moved[is_believed].sum()), max(unseen, 0.0), int(is_reset.sum()))


def _by_power(trace: Trace, period_seconds: float | None) -> _Part:
    """Add up the steps that were seen at both ends and are no gaps; nothing is carried over."""
    power = _power(trace)
    steps = np.diff(trace.seconds())
    mean = (power[1:] + power[:-1]) / 2
    period = float(np.median(steps)) if period_seconds is None else period_seconds
    seen = np.isfinite(mean) & (steps <= MAX_STEP_PERIODS * period)
    joules = float(np.sum(mean[seen] * steps[seen])) if seen.any() else float("nan")
    return _Part(joules, float(steps[~seen].sum()))


def _power(trace: Trace) -> NDArray[np.float64]:
    """Return whichever power gauge answered more often."""
    columns = [trace.column(name) for name in POWERS]
    return max(columns, key=lambda column: int(np.isfinite(column).sum()))


def _is_frozen(trace: Trace) -> bool:
    known = np.isfinite(trace.column(COUNTER))
    if int(known.sum()) < 2:
        return False
    is_fresh = np.zeros(int(known.sum()), dtype=np.bool_)
    for name, column in trace.channels.items():
        if name != COUNTER:
            is_fresh[1:] |= np.abs(np.diff(column[known])) > 0  # a blank is no movement
    values = trace[COUNTER][known]
    watts = _power(trace)[known]
    return bool(standing(trace.seconds()[known], values, watts=watts, is_fresh=is_fresh).any())


def _disagree(counted: _Part, integrated: _Part, duration: float) -> bool:
    """Say whether both saw the whole stretch and yet differ by more than their sensors explain."""
    if counted.unseen_seconds or integrated.unseen_seconds or not np.isfinite(integrated.joules):
        return False
    larger = max(counted.joules, integrated.joules)
    allowed = larger * (AGREED_RATIO + AGREED_SECONDS / duration)
    return abs(counted.joules - integrated.joules) > allowed


def _powered(part: _Part, duration: float, most: float, *, is_frozen: bool) -> Energy:
    if not np.isfinite(part.joules):
        return _unmeasured(duration, most)
    method = EnergyMethod.FROZEN if is_frozen else EnergyMethod.POWER
    high = part.joules + most * part.unseen_seconds
    return Energy(part.joules, method, part.joules, high, part.unseen_seconds, power_joules=part.joules)


def _unmeasured(duration: float, most: float) -> Energy:
    return Energy(float("nan"), EnergyMethod.UNMEASURED, 0.0, most * duration, duration)


def _chip(trace: Trace) -> Chip | None:
    try:
        return chip_named(trace.device.chip)
    except UnknownChipError:
        return None
