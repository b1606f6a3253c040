"""When a rank works inside a trace: pauses, sleeps between bursts, turns of one rank at a time.

What ranks do here follows from the plan or is rank 0's word: all take the same number of turns and meet as
often.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.settings import Settings


class Meeting(Protocol):
    """What ranks can decide together; see ``flopwitness.lab.group.Group``."""

    rank: int
    n_ranks: int

    def told(self, value: float) -> float:
        """Return rank 0's value on every rank."""
        ...

    def meet(self) -> None:
        """Wait until every rank is here."""
        ...


class Tempo:
    """The rhythm of one workload on one rank.

    Parameters
    ----------
    settings : Settings
        Of the workload.
    group : Meeting
        The ranks.
    synchronise : callable
        Waits until the device has done what it was given.
    """

    def __init__(self, settings: Settings, group: Meeting, synchronise: Callable[[], None]) -> None:
        self.settings, self.group, self.synchronise = settings, group, synchronise

    @property
    def works(self) -> bool:
        """Whether this rank takes any step of a trace."""
        return self.settings.turns == 0 or self.group.rank < self.settings.turns

    def n_steps(self, seconds: float, *, step_seconds: float) -> int:
        """Return how many steps take about so long without rests, at least one a stretch."""
        return max(self._n_stretches, round(seconds / step_seconds))

    def walk(self, step: Callable[[], None], *, n_steps: int) -> int:
        """Take the steps of a trace; return how many were this rank's own."""
        n_own = 0
        for number, n in enumerate(shares(n_steps, self._n_stretches)):
            if number and self.settings.pauses:
                self.synchronise()
                time.sleep(self.settings.pause_seconds)
            if self._is_mine(number):
                self._stretch(step, n)
                n_own += n
            if self.settings.turns:
                self.synchronise()
                self.group.meet()
        return n_own

    @property
    def _n_stretches(self) -> int:
        return self.settings.turns or self.settings.pauses + 1

    def _is_mine(self, number: int) -> bool:
        return not self.settings.turns or number % self.group.n_ranks == self.group.rank

    def _stretch(self, step: Callable[[], None], n_steps: int) -> None:
        sleepy = self.settings.duty_ratio < 1
        burst = self.settings.burst_steps if sleepy else n_steps
        for first in range(0, n_steps, burst):
            start = time.monotonic()
            for _ in range(min(burst, n_steps - first)):
                step()
            if sleepy:
                self.synchronise()
                # Rank 0's word: a rank that waited for another would else sleep longer, and that one next.
                busy_seconds = self.group.told(time.monotonic() - start)
                time.sleep(busy_seconds * (1 / self.settings.duty_ratio - 1))


def shares(n_steps: int, n_stretches: int) -> list[int]:
    """Return the steps of each stretch, as equal as whole numbers are.

    Examples
    --------
    >>> shares(10, 4), shares(3, 1)
    ([2, 3, 2, 3], [3])
    """
    cuts = [n_steps * number // n_stretches for number in range(n_stretches + 1)]
    return [stop - start for start, stop in pairwise(cuts)]


def trace_seconds(config: WorkloadConfig, active_seconds: float) -> float:
    """Return how long a trace takes, its rests included; what makes no sense is left to ``Settings``.

    Examples
    --------
    >>> config = WorkloadConfig("a", "b", {"pauses": 2, "pause_seconds": 6.0, "duty_ratio": 0.5})
    >>> trace_seconds(config, 1.5)
    15.0
    """
    duty_ratio, pauses = _number(config, "duty_ratio", 1.0), _number(config, "pauses", 0.0)
    return active_seconds / (duty_ratio or 1.0) + pauses * _number(config, "pause_seconds", 6.0)


def preheat_seconds(config: WorkloadConfig) -> float:
    """Return how long a board is treated before the first trace."""
    return _number(config, "preheat_seconds", 0.0)


def _number(config: WorkloadConfig, name: str, default: float) -> float:
    value = config.parameters.get(name, default)
    return float(value) if isinstance(value, int | float) else default
