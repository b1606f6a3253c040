"""A recording as if it were live: the same rounds, at any speed."""

from collections.abc import Iterator, Mapping

from flopwitness.app.ticking import Clock, Round
from flopwitness.core.recording import Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

DEFAULT_INTERVAL_SECONDS = 0.1


class ReplaySampler:
    """Gives a recording sample by sample; implements ``flopwitness.core.ports.Sampler``.

    A round holds the next sample of each device that took one within half an interval of the earliest; a
    device that has none there is absent, as a dead one would be.

    Parameters
    ----------
    recording : Recording
        What to replay.
    after_ns : mapping of str to int
        Instants by UUID; samples up to them are passed over, as if the daemon had come later.
    """

    def __init__(self, recording: Recording, *, after_ns: Mapping[str, int] | None = None) -> None:
        interval = recording.provenance.interval_seconds or DEFAULT_INTERVAL_SECONDS
        self._half_ns = round(interval * NANOSECONDS_PER_SECOND / 2)
        self._traces = recording.traces
        skipped = after_ns or {}
        self._next = [
            int(trace.time_ns.searchsorted(skipped.get(trace.device.uuid, -(2**63)), side="right"))
            for trace in self._traces
        ]

    @property
    def next_ns(self) -> int | None:
        """When the next round was taken; None after the last."""
        pairs = zip(self._traces, self._next, strict=True)
        return min((int(trace.time_ns[at]) for trace, at in pairs if at < len(trace)), default=None)

    @property
    def lost(self) -> tuple[str, ...]:
        """Nobody is lost in a replay: who fell silent is simply absent."""
        return ()

    def sample(self) -> Round:
        """Return the next round; empty after the last."""
        earliest_ns = self.next_ns
        if earliest_ns is None:
            return ()
        taken = []
        for number, (trace, at) in enumerate(zip(self._traces, self._next, strict=True)):
            if at < len(trace) and trace.time_ns[at] <= earliest_ns + self._half_ns:
                taken.append(trace.between(at, at + 1))
                self._next[number] = at + 1
        return tuple(taken)

    def close(self) -> None:
        """Let go of nothing."""


def replayed(sampler: ReplaySampler, clock: Clock, *, speed: float) -> Iterator[Round]:
    """Yield the rounds of a replay at a multiple of the speed that they were taken at; 0 never waits."""
    first_ns, start_ns = sampler.next_ns, clock.monotonic_ns()
    while (next_ns := sampler.next_ns) is not None and first_ns is not None:
        wait_ns = round((next_ns - first_ns) / speed) if speed else 0
        if not clock.wait_until(start_ns + wait_ns):
            return
        yield sampler.sample()
