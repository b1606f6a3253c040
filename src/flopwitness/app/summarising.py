"""What a recording holds, gathered piece by piece: one pass, whatever its size."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

GAP_STEPS = 5.0
"""A step longer than this many median steps is shown as a gap."""


@dataclass(slots=True)
class ChannelSummary:
    """What was seen of one channel; NaN where nothing was."""

    n_missing: int = 0
    n_seen: int = 0
    total: float = 0.0
    minimum: float = float("nan")
    maximum: float = float("nan")

    @property
    def mean(self) -> float:
        """Mean of what was seen."""
        return self.total / self.n_seen if self.n_seen else float("nan")

    def add(self, column: NDArray[np.float64]) -> None:
        """Take more samples."""
        seen = column[~np.isnan(column)]
        self.n_missing += len(column) - len(seen)
        if len(seen):
            self.n_seen += len(seen)
            self.total += float(seen.sum())
            self.minimum = float(np.fmin(self.minimum, seen.min()))
            self.maximum = float(np.fmax(self.maximum, seen.max()))


@dataclass(slots=True)
class DeviceOverview:
    """What was seen of one device.

    Attributes
    ----------
    device : Device
        Who it is.
    n_samples : int
        Samples in all.
    start_ns, stop_ns : int or None
        First and last sample, UTC nanoseconds; None without any.
    channels : dict of str to ChannelSummary
        By name.
    """

    device: Device
    n_samples: int = 0
    start_ns: int | None = None
    stop_ns: int | None = None
    channels: dict[str, ChannelSummary] = field(default_factory=dict)
    _steps: list[NDArray[np.float32]] = field(default_factory=list)

    def add(self, piece: Trace) -> None:
        """Take the next samples."""
        for name in piece.channels.keys() - self.channels.keys():
            self.channels[name] = ChannelSummary(n_missing=self.n_samples)
        for name, summary in self.channels.items():
            if name in piece:
                summary.add(piece[name])
            else:
                summary.n_missing += len(piece)
        if not len(piece):
            return
        first = piece.time_ns[:1] if self.stop_ns is None else np.array([self.stop_ns])
        before = np.concatenate([first, piece.time_ns])
        steps = np.diff(before) / NANOSECONDS_PER_SECOND
        self._steps.append((steps if self.stop_ns is not None else steps[1:]).astype(np.float32))
        self.n_samples += len(piece)
        self.start_ns = int(piece.time_ns[0]) if self.start_ns is None else self.start_ns
        self.stop_ns = int(piece.time_ns[-1])

    @property
    def steps_seconds(self) -> NDArray[np.float32]:
        """Steps between samples."""
        return np.concatenate(self._steps) if self._steps else np.array([], dtype=np.float32)

    @property
    def typical_step_seconds(self) -> float | None:
        """The middle of the steps; None without any."""
        steps = self.steps_seconds
        return round(float(np.median(steps)), 6) if len(steps) else None

    @property
    def n_gaps(self) -> int:
        """Steps longer than ``GAP_STEPS`` typical ones."""
        typical = self.typical_step_seconds
        return int((self.steps_seconds > GAP_STEPS * typical).sum()) if typical else 0

    @property
    def duration_seconds(self) -> float:
        """From the first to the last sample."""
        if self.start_ns is None or self.stop_ns is None:
            return 0.0
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND


def overviews(pieces: Iterable[Trace]) -> tuple[DeviceOverview, ...]:
    """Return what pieces hold of each device, in the order of their first pieces."""
    found: dict[str, DeviceOverview] = {}
    for piece in pieces:
        found.setdefault(piece.device.uuid, DeviceOverview(piece.device)).add(piece)
    return tuple(found.values())
