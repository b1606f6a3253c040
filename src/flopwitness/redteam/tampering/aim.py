"""What a tampering acts on: which stretch, which devices, which channels."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a tampering acts.

    Attributes
    ----------
    start_ns, stop_ns : int
        The closed stretch, UTC nanoseconds.
    devices : tuple of str
        UUIDs; empty for every device.
    channels : tuple of str
        Canonical names; empty for every channel.

    Raises
    ------
    InvalidNounError
        When the stretch is empty.
    """

    start_ns: int
    stop_ns: int
    devices: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a stretch that holds nothing."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"tampering stops at {self.stop_ns}, not after its start {self.start_ns}")

    def is_hit(self, trace: Trace) -> bool:
        """Say whether it acts on a device."""
        return not self.devices or trace.device.uuid in self.devices

    def names(self, trace: Trace) -> tuple[str, ...]:
        """Return the channels of a trace that it acts on."""
        return tuple(name for name in trace.channels if not self.channels or name in self.channels)

    def first_part(self, share_ratio: float) -> tuple[int, int]:
        """Return start and stop of the first part of the stretch, UTC nanoseconds."""
        return self.start_ns, self.start_ns + round(share_ratio * (self.stop_ns - self.start_ns))


def inside(trace: Trace, start_ns: int, stop_ns: int) -> NDArray[np.bool_]:
    """Say which samples lie in a closed stretch, shape (n_samples,)."""
    within: NDArray[np.bool_] = (trace.time_ns >= start_ns) & (trace.time_ns <= stop_ns)
    return within


def is_counter(name: str) -> bool:
    """Say whether a channel only grows."""
    return name in CANONICAL and CANONICAL[name].kind is Kind.COUNTER


def recounted(counter: Column, moves: Column) -> Column:
    """Return a counter that starts where another did and makes other moves, shape (n_samples,).

    ``moves[i]`` leads to sample i; the first is ignored. A sample without a value keeps none.
    """
    known = np.isfinite(counter)
    if not known.any():
        return counter
    first = int(known.argmax())
    moved = np.where(np.isfinite(moves), moves, 0.0)
    moved[: first + 1] = 0.0
    return np.where(known, counter[first] + np.cumsum(moved), np.nan)


def moves_of(counter: Column) -> Column:
    """Return how far a counter moved to each sample since the one before; 0 where nobody knows."""
    return np.nan_to_num(np.diff(counter, prepend=counter[:1]))


def with_channels(trace: Trace, changed: dict[str, Column]) -> Trace:
    """Return a trace with some channels replaced."""
    return Trace(trace.device, trace.time_ns, {**trace.channels, **changed}) if changed else trace


def each_hit(recording: Recording, aim: Aim, change: Callable[[Trace], Trace]) -> Recording:
    """Return the recording with every trace changed that the aim hits."""
    traces = tuple(change(trace) if aim.is_hit(trace) else trace for trace in recording.traces)
    return replace(recording, traces=traces)
