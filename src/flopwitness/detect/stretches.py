"""Runs of states in, stretches of time out: where one thing ends and the next begins. Knows no samples."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.detect.states import State

STALLED_NAME = "stalled"
"""Name of a stretch in which a device was held but did no work."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time of one device, UTC nanoseconds; ``name`` is ``"stalled"`` or empty."""

    start_ns: int
    stop_ns: int
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse an empty stretch."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"stretch stops at {self.stop_ns}, not after its start {self.start_ns}")

    @property
    def duration_seconds(self) -> float:
        """Length of the stretch."""
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND


def nanoseconds(seconds: float) -> int:
    """Return a duration in whole nanoseconds.

    Examples
    --------
    >>> nanoseconds(1.5)
    1500000000
    """
    return round(seconds * NANOSECONDS_PER_SECOND)


def equal_runs(codes: NDArray[np.int8]) -> list[Span]:
    """Return the index ranges, first and one past the last, in which neighbours are equal.

    Examples
    --------
    >>> equal_runs(np.array([0, 0, 2], dtype=np.int8))
    [(0, 2), (2, 3)]
    """
    if not len(codes):
        return []
    turns = (np.flatnonzero(np.diff(codes)) + 1).tolist()
    return list(zip([0, *turns], [*turns, len(codes)], strict=True))


@dataclass(slots=True)
class StretchCutter:
    """Cut the states of one device into stretches; fed in time order, in pieces of any size.

    - Idle time of ``quiet_ns`` or more ends a stretch; less stays inside. A stretch begins and ends with time
      that is not idle, so no idle time is added at its ends.
    - Stalled time of ``stall_ns`` or more is a stretch of its own, named ``"stalled"``; less is a job that
      waits.
    - Unseen time is never idle. Next to work it is part of the work. Between two stalled times it stays
      inside when they lie less than ``quiet_ns`` apart, and is a stretch of its own when more: it may have
      been work.
    """

    quiet_ns: int
    stall_ns: int
    _work: Span | None = field(default=None, init=False)
    _stall: Span | None = field(default=None, init=False)
    _unseen: Span | None = field(default=None, init=False)
    """Unseen time after stalled time: whose it is, is not known yet."""

    def push(self, state: State, start_ns: int, stop_ns: int) -> list[Stretch]:
        """Take time in one state, directly after the last; return the stretches that it ends."""
        span = (start_ns, stop_ns)
        match state:
            case State.IDLE:
                return self._idle(stop_ns)
            case State.WORKING:
                ended = self._settle()
                self._work = _extended(self._work, span)
                return ended
            case State.STALLED:
                return self._stalled(span)
            case State.UNSEEN:
                return self._not_seen(span)

    def flush(self) -> list[Stretch]:
        """End what is open; idle time at its end is left out."""
        if self._stall and self._unseen and self._unseen[1] - self._stall[1] < self.quiet_ns:
            self._stall, self._unseen = _extended(self._stall, self._unseen), None
        return [*self._settle(), *self._end_work()]

    @property
    def open_since_ns(self) -> int | None:
        """Start of what is open; None where nothing is."""
        spans = [span[0] for span in (self._work, self._stall) if span]
        return min(spans, default=None)

    def _idle(self, stop_ns: int) -> list[Stretch]:
        spans = [span[1] for span in (self._work, self._stall, self._unseen) if span]
        if spans and stop_ns - max(spans) >= self.quiet_ns:
            return self.flush()
        return []

    def _stalled(self, span: Span) -> list[Stretch]:
        far = self._stall is not None and span[0] - self._stall[1] >= self.quiet_ns
        ended = self._settle() if far else []
        self._unseen = None
        self._stall = _extended(self._stall, span)
        return [*ended, *self._end_work()] if self._is_long(self._stall) else ended

    def _not_seen(self, span: Span) -> list[Stretch]:
        if self._stall:
            self._unseen = _extended(self._unseen, span)
        else:
            self._work = _extended(self._work, span)
        return []

    def _settle(self) -> list[Stretch]:
        """Decide what stalled time was, now that it is over: a stretch of its own, or a wait within work."""
        stall, unseen = self._stall, self._unseen
        self._stall = self._unseen = None
        if stall is None:
            return []
        if self._is_long(stall):
            self._work = unseen  # the work before it ended when the stall had grown long
            return [Stretch(*stall, name=STALLED_NAME)]
        self._work = _extended(self._work, (stall[0], (unseen or stall)[1]))
        return []

    def _end_work(self) -> list[Stretch]:
        work, self._work = self._work, None
        return [Stretch(*work)] if work else []

    def _is_long(self, stall: Span) -> bool:
        return stall[1] - stall[0] >= self.stall_ns


def _extended(span: Span | None, later: Span) -> Span:
    return (span[0], later[1]) if span else later
