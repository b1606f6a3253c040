"""Rounds of samples at even instants: deadlines of the monotonic clock, which nobody can set back."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from math import ceil, inf
from typing import Protocol, runtime_checkable

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.ports import Sampler
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined

BATCH_SECONDS = 0.9
"""Samples go on together once they span this: after a kill, all older than two seconds are on disk."""

Round = tuple[Trace, ...]


class Clock(Protocol):
    """Tells the time and waits."""

    def utc_ns(self) -> int:
        """Return nanoseconds since the Unix epoch."""
        ...

    def monotonic_ns(self) -> int:
        """Return nanoseconds since some instant; never set back."""
        ...

    def wait_until(self, monotonic_ns: int) -> bool:
        """Wait for an instant; return False at once when asked to stop."""
        ...


@runtime_checkable
class PacedSampler(Protocol):
    """A sampler that keeps the beat itself, which is cheaper than being asked each time."""

    n_missed: int

    def pace(self, interval_seconds: float) -> None:
        """Sample every so often from now on."""
        ...

    def fetch(self) -> Round:
        """Return the samples since the last call, one Trace a device."""
        ...


class HostClock:
    """The clocks of this machine; ``stop`` ends every wait, also from a signal handler."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def utc_ns(self) -> int:
        """Return nanoseconds since the Unix epoch."""
        return time.time_ns()

    def monotonic_ns(self) -> int:
        """Return nanoseconds since the machine started."""
        return time.monotonic_ns()

    def wait_until(self, monotonic_ns: int) -> bool:
        """Wait for an instant; return False when ``stop`` was called."""
        left_ns = max(monotonic_ns - time.monotonic_ns(), 0)
        return not self._stopped.wait(left_ns / NANOSECONDS_PER_SECOND)

    def stop(self) -> None:
        """End this and every later wait."""
        self._stopped.set()


class Ticker:
    """Yields a round of samples at each tick, without drift.

    Tick n is due at start + n x interval. A round that is late takes the newest tick that is due; those that
    passed meanwhile are skipped, show as a gap and are counted. Of a sampler that keeps the beat itself the
    ticks of ``BATCH_SECONDS`` are yielded together. Samplers stamp with a clock that never goes
    back; a sample that is not after its device's last one is left out and counted.

    Parameters
    ----------
    sampler : Sampler
        Asked once a tick, unless it is a ``PacedSampler`` too.
    clock : Clock
        Tells the ticks.
    interval_seconds : float
        From tick to tick, > 0.
    duration_seconds : float or None
        When to end; None runs until the clock is stopped.
    after_ns : mapping of str to int or None
        Last instants that are known already, by UUID.

    Raises
    ------
    BadInputError
        When the interval is not above 0.
    """

    def __init__(
        self,
        sampler: Sampler,
        clock: Clock,
        *,
        interval_seconds: float,
        duration_seconds: float | None = None,
        after_ns: Mapping[str, int] | None = None,
    ) -> None:
        if not 0 < interval_seconds < float("inf"):
            raise BadInputError("interval", "", expected="seconds above 0", got=str(interval_seconds))
        self._sampler = sampler
        self._clock = clock
        self._interval_ns = round(interval_seconds * NANOSECONDS_PER_SECOND)
        self._until_ns = None if duration_seconds is None else round(duration_seconds * 1e9)
        self._last_ns: dict[str, int] = dict(after_ns or {})
        self.n_missed = 0
        self.n_stale = 0

    def __iter__(self) -> Iterator[Round]:
        if isinstance(self._sampler, PacedSampler):
            return self._fetched(self._sampler)
        return self._asked()

    def _asked(self) -> Iterator[Round]:
        start_ns, tick = self._clock.monotonic_ns(), 0
        while self._until_ns is None or tick * self._interval_ns < self._until_ns:
            if not self._clock.wait_until(start_ns + tick * self._interval_ns):
                return
            yield self._in_order(self._sampler.sample())
            due = (self._clock.monotonic_ns() - start_ns) // self._interval_ns
            self.n_missed += max(due - tick - 1, 0)
            tick = max(tick + 1, due)

    def _fetched(self, sampler: PacedSampler) -> Iterator[Round]:
        """Yield what the sampler gathered, each time half-way between two ticks; the rest when stopped."""
        start_ns = self._clock.monotonic_ns()
        n_each = max(round(BATCH_SECONDS * NANOSECONDS_PER_SECOND) // self._interval_ns, 1)
        n_all = inf if self._until_ns is None else ceil(self._until_ns / self._interval_ns)
        n_done, going = 0, True
        sampler.pace(self._interval_ns / NANOSECONDS_PER_SECOND)
        while going and n_done < n_all:
            n_done = int(min(n_done + n_each, n_all))
            going = self._clock.wait_until(start_ns + n_done * self._interval_ns - self._interval_ns // 2)
            yield self._in_order(sampler.fetch())
            self.n_missed = sampler.n_missed

    def findings(self) -> tuple[Finding, ...]:
        """Say how many ticks were missed and how many samples left out."""
        counted = (
            ("missed-ticks", self.n_missed, "ticks were missed: a round of samples took too long"),
            ("stale-samples", self.n_stale, "samples were not after the one before and were left out"),
        )
        return tuple(
            Finding(code, f"{number} {words}", Severity.WARNING) for code, number, words in counted if number
        )

    def _in_order(self, pieces: Round) -> Round:
        """Leave out what is not after a device's last sample: an answer given twice, or a clock set back."""
        kept = []
        for piece in pieces:
            if self._last_ns.get(piece.device.uuid, -(2**63)) < piece.time_ns[0]:
                self._last_ns[piece.device.uuid] = int(piece.time_ns[-1])
                kept.append(piece)
        self.n_stale += len(pieces) - len(kept)
        return tuple(kept)


def batched(rounds: Iterable[Round], *, seconds: float = BATCH_SECONDS) -> Iterator[Round]:
    """Yield rounds together, one longer trace a device, once a device's samples span the time given.

    Detectors give the same sessions however a stream is cut; ten samples at once cost little more than one.
    A round that holds several of a device is a batch already.
    """
    span_ns = round(seconds * NANOSECONDS_PER_SECOND)
    waiting: dict[str, list[Trace]] = {}
    for pieces in rounds:
        full = not pieces or any(len(piece) > 1 for piece in pieces)
        for piece in pieces:
            parts = waiting.setdefault(piece.device.uuid, [])
            parts.append(piece)
            full = full or int(piece.time_ns[-1] - parts[0].time_ns[0]) >= span_ns
        if full:
            yield _joined(waiting)
            waiting = {}
    if waiting:
        yield _joined(waiting)


def _joined(waiting: dict[str, list[Trace]]) -> Round:
    return tuple(joined(parts) for parts in waiting.values())
