"""Energy of one board in a session: ``estimate.energy`` says which source is believed, ends are cut here."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.estimate.energy import EnergyMethod, energy_joules
from flopwitness.estimate.features.counters import tallied
from flopwitness.estimate.features.steps import Steps
from flopwitness.physics.chip import Chip
from flopwitness.physics.counters import most_per_second

COUNTER = "energy_joules_total"
POWERS = ("power_watts", "power_instant_watts")


@dataclass(frozen=True, slots=True)
class BoardEnergy:
    """Energy of one board over a session.

    Attributes
    ----------
    joules : float
        The figure that estimators use, unseen time carried over; NaN where unmeasured.
    low_joules, high_joules : float
        Bounds: unseen time at nothing and at the board's limit, and both sources where they disagree.
    counted_joules, integrated_joules : float
        What each source says; NaN where it says nothing.
    unobserved_seconds : float
        Time that the used source did not see.
    method : EnergyMethod
        How it was found.
    n_resets : int
        How often the counter began anew.
    """

    joules: float
    low_joules: float
    high_joules: float
    counted_joules: float
    integrated_joules: float
    unobserved_seconds: float
    method: EnergyMethod
    n_resets: int = 0


def board_energy(steps: Steps, chip: Chip) -> BoardEnergy:
    """Return the energy of a session: by the counter, or the power integrated where it says nothing.

    A counter that does not move says nothing: no board draws 0 W, so it is frozen
    (github.com/ml-energy/zeus/issues/113) or the stretch is shorter than its refresh. Where counter and power
    disagree the counter is the figure and the bounds hold both (issues/181 there).
    """
    counter = tallied(steps, COUNTER, most_per_second=most_per_second(COUNTER, chip))
    watts = power_of(steps)
    power = steps.integrated(watts)
    method = energy_joules(steps.trace).method if len(steps.trace) > 1 else EnergyMethod.UNMEASURED
    if counter.total > 0 and method in {EnergyMethod.COUNTER, EnergyMethod.DISPUTED}:
        total, low, unseen = counter.total, counter.observed, counter.unobserved_seconds
    else:
        total, unseen = power.total, power.unobserved_seconds
        low = steps.summed(np.where(steps.is_gap, 0.0, np.nan_to_num(watts)))
        method = method if method in {EnergyMethod.FROZEN, EnergyMethod.UNMEASURED} else EnergyMethod.POWER
    high = low + unseen * chip.power_limit_watts
    if method is EnergyMethod.DISPUTED:
        low, high = min(low, power.total), max(high, power.total)
    return BoardEnergy(total, low, high, counter.total, power.total, unseen, method, counter.n_resets)


def readings_of(steps: Steps) -> NDArray[np.float64]:
    """Return the readings of whichever power sensor answered more often, watts, shape (n_samples,)."""
    columns = [steps.trace.column(name) for name in POWERS]
    return max(columns, key=lambda column: int(np.isfinite(column).sum()))


def power_of(steps: Steps) -> NDArray[np.float64]:
    """Return the power in the middle of each step, watts, of whichever sensor answered more often.

    A daemon asks for the mean seldom where the instant one is there.
    """
    power = readings_of(steps)
    middle: NDArray[np.float64] = (power[1:] + power[:-1]) / 2
    return middle


def mean_watts(steps: Steps) -> float:
    """Return the time-weighted mean power of a session, never its last sample; NaN where nothing was seen."""
    watts = power_of(steps)
    seen = np.where(np.isfinite(watts) & ~steps.is_gap, steps.weight_seconds, 0.0)
    return float(np.sum(np.nan_to_num(watts) * seen) / seen.sum()) if seen.sum() > 0 else float("nan")


def energy_findings(energy: BoardEnergy, uuid: str) -> tuple[Finding, ...]:
    """Say what stood in the way of one board's energy."""
    apart = abs(energy.counted_joules - energy.integrated_joules)
    said = {
        EnergyMethod.FROZEN: (
            "energy-counter-frozen",
            f"the energy counter stands still beside power: {energy.joules:.6g} J integrated from power",
        ),
        EnergyMethod.DISPUTED: (
            "energy-sources-differ",
            f"counter {energy.counted_joules:.6g} J, power {energy.integrated_joules:.6g} J: {apart:.6g} off",
        ),
        EnergyMethod.UNMEASURED: ("energy-unmeasured", "its energy is unmeasured"),
    }
    found = [said[energy.method]] if energy.method in said else []
    if energy.n_resets:
        words = f"the energy counter began anew {energy.n_resets} times: what it lost is unobserved"
        found.append(("energy-counter-reset", words))
    return tuple(Finding(code, f"GPU {uuid}: {words}", Severity.WARNING, uuid) for code, words in found)
