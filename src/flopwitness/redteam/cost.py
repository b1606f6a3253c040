"""What evading costs: GPU time and energy per true FLOP, beside a twin that does not evade."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.quantiles import quantile

BUDGET_RATIO = 2.0
"""The rule of the published game: at most twice the benign GPU time at equal true FLOP."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What one run took.

    Attributes
    ----------
    gpu_seconds : float, > 0
        Length of the run x GPUs held, also where a GPU only waits.
    joules : float
        Whole energy of the boards, idle power included; NaN where nobody saw it.
    executed_flop : float
        True executed FLOP; NaN where it cannot be known.

    Raises
    ------
    InvalidNounError
        When a figure is known and not positive.
    """

    gpu_seconds: float
    joules: float
    executed_flop: float

    def __post_init__(self) -> None:
        """Refuse a run that took nothing."""
        if not self.gpu_seconds > 0 or self.joules <= 0 or self.executed_flop <= 0:
            raise InvalidNounError(f"a run takes time and energy and does work, got {self}")

    @property
    def gpu_seconds_per_flop(self) -> float:
        """GPU time at equal work; NaN where the work is not known."""
        return self.gpu_seconds / self.executed_flop

    @property
    def joules_per_flop(self) -> float:
        """Energy at equal work; NaN where either is not known."""
        return self.joules / self.executed_flop


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost at equal executed FLOP, the twin's being 1.

    Attributes
    ----------
    gpu_time_ratio, energy_ratio : float, > 0
        NaN where not known; below 1 where evading is cheaper.
    """

    gpu_time_ratio: float
    energy_ratio: float

    @property
    def is_in_budget(self) -> bool:
        """Whether the game allows it; a cost that nobody knows is not allowed."""
        return self.gpu_time_ratio <= BUDGET_RATIO

    @property
    def extra_gpu_time_ratio(self) -> float:
        """GPU time on top of the twin's."""
        return self.gpu_time_ratio - 1


UNKNOWN_COST = Cost(float("nan"), float("nan"))
"""Where there is no twin to compare with."""


def relative_cost(runs: Iterable[Spending], twins: Iterable[Spending]) -> Cost:
    """Return the median cost per FLOP of runs over that of their twins; NaN where either knows none.

    Examples
    --------
    >>> benign, slow = Spending(2.0, 900.0, 1e15), Spending(3.0, 900.0, 1e15)
    >>> cost = relative_cost([slow], [benign])
    >>> f"{cost.gpu_time_ratio:.2f} times the GPU time, {cost.energy_ratio:.2f} times the energy"
    '1.50 times the GPU time, 1.00 times the energy'
    """
    ours, theirs = list(runs), list(twins)
    return Cost(
        _median([one.gpu_seconds_per_flop for one in ours])
        / _median([one.gpu_seconds_per_flop for one in theirs]),
        _median([one.joules_per_flop for one in ours]) / _median([one.joules_per_flop for one in theirs]),
    )


def _median(values: list[float]) -> float:
    known = np.array([value for value in values if np.isfinite(value)])
    return quantile(known, 0.5) if len(known) else float("nan")
