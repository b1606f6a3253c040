"""Stand-ins for the world: a clock that waits in no time, a sampler that reads from a list."""

from collections.abc import Callable, Mapping, Sequence

from contracts.detector import GPU_A, GPU_B, Look, trace_of
from flopwitness.core.trace import Trace, joined


class FakeClock:
    """Time passes when somebody waits, or when told to."""

    def __init__(self, *, start_ns: int = 5_000_000_000, n_waits: int | None = None) -> None:
        self.now_ns = start_ns
        self.n_waits = n_waits
        self.waited_for: list[int] = []

    def utc_ns(self) -> int:
        """Return UTC: here a day after the monotonic clock."""
        return self.now_ns + 86_400_000_000_000

    def monotonic_ns(self) -> int:
        """Return the present instant."""
        return self.now_ns

    def wait_until(self, monotonic_ns: int) -> bool:
        """Jump there; False after as many waits as were allowed."""
        if self.n_waits is not None and len(self.waited_for) >= self.n_waits:
            return False
        self.waited_for.append(monotonic_ns)
        self.now_ns = max(self.now_ns, monotonic_ns)
        return True


class ListedSampler:
    """Gives these rounds; each may take a while."""

    source, driver = "listed", "1.0"

    def __init__(
        self, rounds: Sequence[tuple[Trace, ...]], during: Callable[[int], object] = lambda _: None
    ) -> None:
        self._rounds = list(rounds)
        self._during = during
        self.n_asked = 0
        self.n_closed = 0
        self.lost: Mapping[str, str] = {}

    def sample(self) -> tuple[Trace, ...]:
        """Return the next round; nothing after the last."""
        self._during(self.n_asked)
        self.n_asked += 1
        return self._rounds.pop(0) if self._rounds else ()

    def close(self) -> None:
        """Count."""
        self.n_closed += 1


class PacedList(ListedSampler):
    """Keeps the beat itself: each fetch gives what the clock let it gather, as one trace a device."""

    n_missed = 0

    def __init__(self, rounds: Sequence[tuple[Trace, ...]], clock: FakeClock) -> None:
        super().__init__(rounds)
        self._clock = clock
        self._start_ns = self._interval_ns = self._n_fetched = 0

    def pace(self, interval_seconds: float) -> None:
        """Begin."""
        self._start_ns, self._interval_ns = self._clock.now_ns, round(interval_seconds * 1e9)

    def fetch(self) -> tuple[Trace, ...]:
        """Return the rounds that are due by now and were not fetched yet."""
        n_due = (self._clock.now_ns - self._start_ns) // self._interval_ns + 1
        taken = [self.sample() for _ in range(n_due - self._n_fetched)]
        self._n_fetched = n_due
        return tuple(joined(parts) for parts in zip(*filter(None, taken), strict=True))


def rounds_of(*traces: Trace) -> list[tuple[Trace, ...]]:
    """Return traces of the same instants, sample by sample."""
    return [tuple(trace.between(at, at + 1) for trace in traces) for at in range(len(traces[0]))]


def two_gpus(looks: Sequence[Look]) -> tuple[Trace, Trace]:
    """Return two GPUs that do the same."""
    return trace_of(looks, GPU_A), trace_of(looks, GPU_B)
