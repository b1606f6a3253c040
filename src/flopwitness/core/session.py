"""A stretch of work on one or more devices: what one FLOP estimate speaks of."""

import hashlib
from dataclasses import dataclass, field

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace


@dataclass(frozen=True, slots=True)
class Session:
    """A stretch of time and the samples that devices gave around it.

    Attributes
    ----------
    start_ns, stop_ns : int
        The stretch, UTC nanoseconds, ``start_ns < stop_ns``.
    traces : tuple of Trace
        One a device. A trace may carry the sample before ``start_ns`` and the one after
        ``stop_ns`` (at most one each), so that counters can be interpolated at the ends.
    name : str
        What the lab called it; where a detector found it, empty or ``"stalled"``.

    Raises
    ------
    InvalidNounError
        When the stretch is empty, a device occurs twice, or a trace reaches further out than
        one sample at either end.
    """

    start_ns: int
    stop_ns: int
    traces: tuple[Trace, ...]
    name: str = field(default="")

    def __post_init__(self) -> None:
        """Refuse what is no stretch of these devices."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"session stops at {self.stop_ns}, not after its start {self.start_ns}")
        uuids = [trace.device.uuid for trace in self.traces]
        if not uuids:
            raise InvalidNounError("a session needs a device")
        if len(set(uuids)) < len(uuids):
            raise InvalidNounError(f"a session holds a device twice: {sorted(uuids)}")
        for trace in self.traces:
            n_before = int((trace.time_ns < self.start_ns).sum())
            n_after = int((trace.time_ns > self.stop_ns).sum())
            if n_before > 1 or n_after > 1:
                raise InvalidNounError(f"trace of {trace.device.uuid} reaches beyond its session")

    @property
    def duration_seconds(self) -> float:
        """Length of the stretch."""
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND

    @property
    def n_samples(self) -> int:
        """Samples inside the stretch, over all devices."""
        return sum(
            int(((trace.time_ns >= self.start_ns) & (trace.time_ns <= self.stop_ns)).sum())
            for trace in self.traces
        )

    @property
    def session_id(self) -> str:
        """Sixteen hex digits made from the stretch and its devices alone: the same stretch, the same name."""
        uuids = ",".join(sorted(trace.device.uuid for trace in self.traces))
        return hashlib.sha256(f"{self.start_ns}:{self.stop_ns}:{uuids}".encode()).hexdigest()[:16]


def cut_session(traces: tuple[Trace, ...], start_ns: int, stop_ns: int, *, name: str = "") -> Session:
    """Cut a stretch out of traces, with the one sample on either side that interpolation needs."""
    pieces = []
    for trace in traces:
        first = int(trace.time_ns.searchsorted(start_ns, side="left"))
        last = int(trace.time_ns.searchsorted(stop_ns, side="right"))
        pieces.append(trace.between(max(first - 1, 0), min(last + 1, len(trace))))
    return Session(start_ns, stop_ns, tuple(pieces), name)
