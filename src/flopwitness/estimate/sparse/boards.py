"""What the boards of a session show to those who see little: energy above idle, clock, time with a kernel."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.states import POWER_CHANNELS, UTILISATION
from flopwitness.estimate.energy import EnergyMethod
from flopwitness.estimate.features.activity import step_clock
from flopwitness.estimate.features.energy import BoardEnergy, board_energy, power_of, readings_of
from flopwitness.estimate.features.steps import Steps, session_steps
from flopwitness.estimate.sparse.priors import IDLE_SHARE
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import chip_named
from flopwitness.physics.pipes import summed_flop_per_cycle_per_sm
from flopwitness.physics.power_sensors import averaging_seconds

CAPPED_MASK = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
"""Bits of ``throttle_reasons_mask`` that hold the clock down: power cap, slowdowns, brake (NVML)."""

NEAR_LIMIT_RATIO = 0.75
"""Where no mask tells: mean power from this share of the limit on is that of a board at its limit.

Boards of this project's recordings at their limit draw 0.75 to 1.03 of it over a run, the start in it.
"""

UTILISATION_SECONDS = 1.0
"""NVML averages utilisation over up to a second, and says nothing of the time before."""

SAMPLING_ERRORS = 2.0
"""Standard errors of a mean of readings that are further apart than what each of them averages."""


@dataclass(frozen=True, slots=True)
class Span:
    """A quantity between two ends: ``0 <= low <= point <= high``; NaN throughout where unmeasured."""

    low: float
    point: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is a figure at all."""
        return bool(np.isfinite(self.high))


@dataclass(frozen=True, slots=True)
class Board:
    """One board in a session.

    Attributes
    ----------
    chip : Chip
        What it is.
    steps : Steps
        Its samples.
    energy : BoardEnergy
        What it drew.
    net_joules : Span
        The same above idle.
    clock_ratio : float
        Mean clock over boost; NaN where nobody looked.
    is_at_limit : bool
        Whether power holds its clock down, as far as mask or power tell.
    busy_seconds : float
        The longest that kernels can have run: all of the time where utilisation does not speak.
    ceiling_flop_per_second : float
        What the chip cannot exceed in any mix of dense formats.
    """

    chip: Chip
    steps: Steps
    energy: BoardEnergy
    net_joules: Span
    clock_ratio: float
    is_at_limit: bool
    busy_seconds: float
    ceiling_flop_per_second: float

    @property
    def ceiling_flop(self) -> float:
        """Return the most that it can have done."""
        return self.busy_seconds * self.ceiling_flop_per_second


def boards_of(session: Session, idle_watts: Mapping[str, float]) -> tuple[Board, ...]:
    """Return the boards of a session.

    Raises
    ------
    UnknownChipError
        When a device names a chip that nobody knows.
    """
    return tuple(
        _board(session, trace, idle_watts.get(trace.device.uuid, float("nan"))) for trace in session.traces
    )


def ceiling_flop_per_second(chip: Chip) -> float:
    """Return what a chip cannot exceed, in any mix of dense formats at its highest clock."""
    return chip.n_sm * chip.boost_clock_hertz * summed_flop_per_cycle_per_sm(chip)


def idle_span(chip: Chip, idle_watts: float, lowest_watts: float) -> Span:
    """Return the idle power: as measured on the board, else the range of boards, never above what it drew."""
    if np.isfinite(idle_watts):
        return Span(idle_watts, idle_watts, idle_watts)
    low, high = (share * chip.power_limit_watts for share in IDLE_SHARE)
    if np.isfinite(lowest_watts):
        low, high = min(low, lowest_watts), min(high, lowest_watts)
    return Span(low, (low + high) / 2, high)


def _board(session: Session, trace: Trace, idle: float) -> Board:
    chip = chip_named(trace.device.chip)
    steps = session_steps(session, trace)
    energy = board_energy(steps, chip)
    return Board(
        chip=chip,
        steps=steps,
        energy=energy,
        net_joules=_net(energy, steps, chip, idle),
        clock_ratio=steps.integrated(step_clock(steps)).total
        / (session.duration_seconds * chip.boost_clock_hertz),
        is_at_limit=is_at_limit(steps, chip),
        busy_seconds=busy_seconds(steps),
        ceiling_flop_per_second=ceiling_flop_per_second(chip),
    )


def _net(energy: BoardEnergy, steps: Steps, chip: Chip, idle: float) -> Span:
    if not np.isfinite(energy.joules):
        return Span(*[float("nan")] * 3)
    seconds = float(steps.weight_seconds.sum()) + steps.uncovered_seconds
    watts = power_of(steps)
    lowest = float(np.nanmin(watts)) if np.isfinite(watts).any() else float("nan")
    power = idle_span(chip, idle, lowest)
    blur = _blur_joules(energy, steps, readings_of(steps), chip)
    low = max(energy.low_joules - blur - power.high * seconds, 0.0)
    high = max(energy.high_joules + blur - power.low * seconds, 0.0)
    return Span(low, float(np.clip(energy.joules - power.point * seconds, low, high)), high)


def _blur_joules(energy: BoardEnergy, steps: Steps, readings: NDArray[np.float64], chip: Chip) -> float:
    """Return what readings of power leave open: a mean trails, and seldom readings see little of a step."""
    known = readings[np.isfinite(readings)]
    if energy.method in {EnergyMethod.COUNTER, EnergyMethod.DISPUTED} or not len(known):
        return 0.0
    channel = next((name for name in POWER_CHANNELS if name in steps.trace), "power_watts")
    averaging = averaging_seconds(chip, channel)
    step = float(np.median(steps.length_seconds))
    trailing = averaging / 2 * float(known.max() - known.min())
    if step <= max(averaging, UTILISATION_SECONDS):
        return trailing
    seconds = float(steps.weight_seconds.sum())
    return trailing + SAMPLING_ERRORS * float(known.std()) * seconds / float(np.sqrt(len(known)))


def is_at_limit(steps: Steps, chip: Chip) -> bool:
    """Say whether the clock is held down for most of the time; by power where no mask tells."""
    mask = steps.trace.column("throttle_reasons_mask")[1:]
    known = np.isfinite(mask)
    if known.any():
        held = (np.nan_to_num(mask).astype(np.int64) & CAPPED_MASK) != 0
        return bool(steps.summed(held & known) >= 0.5 * steps.summed(known.astype(np.float64)))
    watts = power_of(steps)
    seen = np.where(np.isfinite(watts), steps.weight_seconds, 0.0)
    total = float(seen.sum())
    mean = float(np.sum(np.nan_to_num(watts) * seen)) / total if total > 0 else 0.0
    return mean >= NEAR_LIMIT_RATIO * chip.power_limit_watts


def busy_seconds(steps: Steps) -> float:
    """Return the longest that kernels can have run.

    Utilisation is the share of at most the last second in which a kernel ran, and it is told late: a step
    counts with the highest of the readings from its start until a second after its end. A step longer than
    that second was hardly seen, and counts in full, as does a blank.
    """
    whole = float(steps.weight_seconds.sum()) + steps.uncovered_seconds
    if UTILISATION not in steps.trace or not len(steps.length_seconds):
        return whole
    usual = float(np.median(steps.length_seconds))
    if usual > UTILISATION_SECONDS:
        return whole
    reading = np.where(np.isfinite(steps.trace[UTILISATION]), steps.trace[UTILISATION], 1.0)
    n_later = int(np.ceil(UTILISATION_SECONDS / max(usual, 1e-3)))
    padded = np.concatenate([reading, np.ones(n_later)])  # what nobody read yet may be anything
    highest = np.lib.stride_tricks.sliding_window_view(padded, n_later + 2).max(axis=1)
    share = np.clip(highest[: len(steps.length_seconds)], 0.0, 1.0)
    share = np.where(steps.is_gap | (steps.length_seconds > UTILISATION_SECONDS), 1.0, share)
    return min(steps.summed(share) + steps.uncovered_seconds, whole)
