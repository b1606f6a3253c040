"""The published experiment's detector: polls of GPU utilisation. The baseline to beat, faults included."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.detect.stream import PerDeviceDetector
from flopwitness.detect.stretches import Stretch, equal_runs, nanoseconds


class Poll(IntEnum):
    """What a poll of utilisation read."""

    IDLE = 0
    BUSY = 1
    UNSEEN = 2
    """Blank, stale or exactly at the limit: neither above nor below."""


@dataclass(frozen=True, slots=True)
class PollingRule:
    """When polls open and close a job.

    The defaults are the published rule of the experiment on two V100s (University of Chicago Existential Risk
    Laboratory, 2026): a poll every 1.5 s, above 5 % in 2 in a row opens, below 5 % in 3 in a row closes.

    Attributes
    ----------
    poll_seconds : float
        Time between polls, > 0.
    busy_above_ratio : float
        Utilisation that tells busy from idle, in [0, 1).
    opening_polls, closing_polls : int
        Busy polls in a row that open, idle polls in a row that close; >= 1.
    stale_seconds : float
        A poll does not believe a sample older than this, > 0; one poll interval by default.

    Raises
    ------
    InvalidNounError
        When a value is out of its range.
    """

    poll_seconds: float = 1.5
    busy_above_ratio: float = 0.05
    opening_polls: int = 2
    closing_polls: int = 3
    stale_seconds: float = 1.5

    def __post_init__(self) -> None:
        """Refuse a rule that can never open, never close or never poll."""
        for name in ("poll_seconds", "stale_seconds"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InvalidNounError(f"{name} must be positive and finite, got {getattr(self, name)}")
        if not 0 <= self.busy_above_ratio < 1:
            raise InvalidNounError(f"busy_above_ratio {self.busy_above_ratio} is not inside [0, 1)")
        if min(self.opening_polls, self.closing_polls) < 1:
            raise InvalidNounError("opening_polls and closing_polls must be at least 1")


DEFAULT_POLLING = PollingRule()


class PollingWatch:
    """Poll one device.

    The first poll falls on the device's first sample. A poll reads the latest sample at or before it. Polls
    are numbered, never listed: a gap of a year costs no more than one of a second.
    """

    def __init__(self, rule: PollingRule = DEFAULT_POLLING) -> None:
        self._rule = rule
        self._period_ns = nanoseconds(rule.poll_seconds)
        self._stale_ns = nanoseconds(rule.stale_seconds)
        self._first_ns = 0
        self._last: tuple[int, Poll] | None = None
        self._streak: tuple[Poll, int] = (Poll.UNSEEN, 0)
        self._open_since_ns: int | None = None

    def advance(self, piece: Trace) -> list[Stretch]:
        """Take the next samples, at least one; return the stretches that they end."""
        time_ns, codes = piece.time_ns, self._codes(piece)
        if self._last is None:
            self._first_ns = int(time_ns[0])
        else:
            time_ns = np.append(self._last[0], time_ns)
            codes = np.append(np.int8(self._last[1]), codes)
        self._last = (int(time_ns[-1]), Poll(codes[-1]))
        return self._take(codes[:-1], time_ns[:-1], time_ns[1:] - 1)

    def finish(self) -> list[Stretch]:
        """Take a poll that falls on the last sample; end what is open at that sample."""
        if self._last is None:
            return []
        last_ns = np.array([self._last[0]])
        ended = self._take(np.array([self._last[1]], dtype=np.int8), last_ns, last_ns)
        if self._open_since_ns is not None and self._open_since_ns < self._last[0]:
            ended.append(Stretch(self._open_since_ns, self._last[0]))
        return ended

    @property
    def keep_from_ns(self) -> int:
        """Start of what is open or may be opening, or else the last sample."""
        if self._open_since_ns is not None:
            return self._open_since_ns
        last_ns = self._last[0] if self._last else 0
        code, first = self._streak
        return min(self._instant_ns(first), last_ns) if code is Poll.BUSY else last_ns

    def _codes(self, piece: Trace) -> NDArray[np.int8]:
        utilisation = piece.column("gpu_util_ratio")
        codes = np.full(len(piece), Poll.UNSEEN, dtype=np.int8)
        codes[utilisation > self._rule.busy_above_ratio] = Poll.BUSY
        codes[utilisation < self._rule.busy_above_ratio] = Poll.IDLE
        return codes

    def _take(
        self, codes: NDArray[np.int8], from_ns: NDArray[np.int64], until_ns: NDArray[np.int64]
    ) -> list[Stretch]:
        """Follow the polls for which each sample is the latest, from its instant until the next sample's."""
        first = -((self._first_ns - from_ns) // self._period_ns)
        last = (until_ns - self._first_ns) // self._period_ns
        last_fresh = (np.minimum(until_ns, from_ns + self._stale_ns) - self._first_ns) // self._period_ns
        read = np.stack([codes, np.full_like(codes, Poll.UNSEEN)], axis=1).ravel()
        lows = np.stack([first, last_fresh + 1], axis=1).ravel()
        highs = np.stack([last_fresh, last], axis=1).ravel()
        polled = lows <= highs
        read, lows, highs = read[polled], lows[polled], highs[polled]
        ended: list[Stretch] = []
        for start, end in equal_runs(read):
            ended += self._follow(Poll(read[start]), int(lows[start]), int(highs[end - 1]))
        return ended

    def _follow(self, code: Poll, first: int, last: int) -> list[Stretch]:
        """Take polls ``first`` to ``last``, all of which read the same."""
        if code is not self._streak[0]:
            self._streak = (code, first)
        since_ns, n_polls = self._instant_ns(self._streak[1]), last - self._streak[1] + 1
        if self._open_since_ns is None:
            if code is Poll.BUSY and n_polls >= self._rule.opening_polls:
                self._open_since_ns = since_ns
        elif code is Poll.IDLE and n_polls >= self._rule.closing_polls:
            start_ns, self._open_since_ns = self._open_since_ns, None
            return [Stretch(start_ns, since_ns)]
        return []

    def _instant_ns(self, poll: int) -> int:
        return self._first_ns + poll * self._period_ns


class PollingDetector(PerDeviceDetector):
    """Find jobs as the published experiment did, one device at a time.

    A job starts at the first of the polls that opened it and stops at the first of the polls that closed it.
    What ran before the first poll is missed: up to one poll interval, and every job shorter than two.

    A poll that saw nothing is not idle and not busy: it breaks both kinds of row. So it keeps an open job
    open and does not open one. A job that is open when the stream ends stops at the last sample.

    Parameters
    ----------
    rule : PollingRule
        Interval, limit and rows; the published ones by default.

    Notes
    -----
    The experiment's daemon watched one GPU of a node; ``flopwitness.detect.stitch`` joins devices afterwards.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> time_ns = [1_500_000_000 * poll for poll in range(8)]
    >>> trace = Trace(Device("GPU-a"), time_ns, {"gpu_util_ratio": [0, 1, 1, 1, 0, 0, 0, 0]})
    >>> [(session.start_ns, session.stop_ns) for session in PollingDetector().feed(trace)]
    [(1500000000, 6000000000)]
    """

    def __init__(self, rule: PollingRule = DEFAULT_POLLING) -> None:
        super().__init__(lambda: PollingWatch(rule))
