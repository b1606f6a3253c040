"""The time between samples: how much of it a session covers, and what was seen of it.

Rules (docs/adr/0005 and 0006): a value that is NaN leaves its step unanswered; a step longer than
``max_step_seconds`` is a gap. Neither is forgotten: its time is counted as unobserved and bounded elsewhere.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace


@dataclass(frozen=True, slots=True)
class StepRule:
    """How time between samples is read.

    Attributes
    ----------
    max_step_periods : float
        A step is a gap when it is longer than this many median steps, > 1.
    min_gap_seconds : float
        And never a gap when it is shorter than this, > 0: schedulers stall for a moment.
    longest_step_seconds : float
        Always a gap when it is longer than this, > ``min_gap_seconds``: nobody samples that seldom, and two
        readings hours apart have no usual step (github.com/davidusb-geek/emhass/issues/1051).
    """

    max_step_periods: float = 5.0
    min_gap_seconds: float = 0.5
    longest_step_seconds: float = 120.0

    def __post_init__(self) -> None:
        """Refuse rules that would call every step a gap."""
        if not (self.max_step_periods > 1 and 0 < self.min_gap_seconds < self.longest_step_seconds):
            raise InvalidNounError(f"step rule out of range: {self}")


DEFAULT_STEPS = StepRule()


class Integral(NamedTuple):
    """A quantity over a stretch, and the seconds of it that nobody saw.

    ``total`` carries the seen rate over into unseen steps (linear between the neighbours); it is NaN where
    nothing was seen. Bounds are made from ``unobserved_seconds``, never from what was carried over.
    """

    total: float
    unobserved_seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of one trace that touch a session.

    Attributes
    ----------
    trace : Trace
        The samples; step i ends at sample i + 1.
    weight_seconds : ndarray of shape (n_steps,)
        How much of each step lies inside the session.
    length_seconds : ndarray of shape (n_steps,)
        How long each step is.
    is_gap : ndarray of shape (n_steps,), bool
        Steps too long to be one sampling interval.
    uncovered_seconds : float
        Time of the session before the first and after the last sample.
    """

    trace: Trace
    weight_seconds: NDArray[np.float64]
    length_seconds: NDArray[np.float64]
    is_gap: NDArray[np.bool_]
    uncovered_seconds: float

    def middles_seconds(self) -> NDArray[np.float64]:
        """Return the middle of each step, in seconds since the first sample."""
        elapsed = self.trace.seconds()
        middles: NDArray[np.float64] = (elapsed[1:] + elapsed[:-1]) / 2
        return middles

    def integrated(self, rate: NDArray[np.float64]) -> Integral:
        """Integrate a rate that each step has, shape (n_steps,), NaN where it is not known."""
        seen = np.isfinite(rate) & ~self.is_gap
        unseen_seconds = float(self.weight_seconds[~seen].sum()) + self.uncovered_seconds
        if not seen.any():
            return Integral(float("nan"), unseen_seconds)
        if not seen.all():
            middles = self.middles_seconds()
            rate = np.where(seen, rate, np.interp(middles, middles[seen], rate[seen]))
        total = self.summed(rate)
        if self.uncovered_seconds > 0 and (covered := float(self.weight_seconds.sum())) > 0:
            total *= 1 + self.uncovered_seconds / covered
        return Integral(total, unseen_seconds)

    def summed(self, rate: NDArray[np.float64]) -> float:
        """Return rate x time summed over the steps.

        Not a matrix product: that would start the threads of a linear-algebra library for each column.
        """
        return float(np.sum(rate * self.weight_seconds))

    def mean_of(self, name: str) -> NDArray[np.float64]:
        """Return a gauge that describes the time since the sample before: its value at each step's end."""
        return self.trace.column(name)[1:]


def session_steps(session: Session, trace: Trace, rule: StepRule = DEFAULT_STEPS) -> Steps:
    """Cut one trace of a session into steps."""
    time_ns = trace.time_ns
    length = np.diff(time_ns) / NANOSECONDS_PER_SECOND
    inside = np.minimum(time_ns[1:], session.stop_ns) - np.maximum(time_ns[:-1], session.start_ns)
    weight = np.clip(inside, 0, None) / NANOSECONDS_PER_SECOND
    typical = float(np.median(length)) if len(length) else 0.0
    longest = min(max(rule.max_step_periods * typical, rule.min_gap_seconds), rule.longest_step_seconds)
    uncovered = max(session.duration_seconds - float(weight.sum()), 0.0)
    negligible = 1e-9 * session.duration_seconds
    return Steps(trace, weight, length, length > longest, uncovered if uncovered > negligible else 0.0)
