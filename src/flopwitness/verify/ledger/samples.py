"""Which samples a ledger vouches for: spans of each device, each with the digest of its samples.

A span is cut off whenever an entry is written, so that all samples up to then are under it, each once. Anyone
with the recording can compute the digests again.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.verify.ledger.entries import instant

NO_SAMPLE_NS = -(2**63)
"""Marks a list of channels between samples: no sample is of this instant."""


@dataclass(frozen=True, slots=True)
class SampleSpan:
    """Samples of one device, without a gap between them.

    Attributes
    ----------
    device : Device
        Whose.
    start_ns, stop_ns : int
        The stretch that they cover, UTC nanoseconds. Where the span continues the one before it, it starts
        at that one's last sample, which is not among its own.
    is_continued : bool
        Whether it does.
    n_samples : int
        Its own samples.
    sha256 : str
        Of its own samples, as ``SampleHash``.

    Raises
    ------
    InvalidNounError
        When it stops before it starts.
    """

    device: Device
    start_ns: int
    stop_ns: int
    is_continued: bool
    n_samples: int
    sha256: str

    def __post_init__(self) -> None:
        """Refuse a span that runs back."""
        if self.stop_ns < self.start_ns:
            raise InvalidNounError(
                f"samples of {self.device.uuid} stop at {self.stop_ns}, before their start"
            )

    def to_payload(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "device": self.device.uuid,
            "chip": self.device.chip,
            "host": self.device.host,
            "start_ns": str(self.start_ns),
            "stop_ns": str(self.stop_ns),
            "is_continued": self.is_continued,
            "n_samples": self.n_samples,
            "sha256": self.sha256,
        }

    @classmethod
    def from_payload(cls, content: Mapping[str, Any]) -> Self:
        """Read it from JSON values; ``KeyError``, ``TypeError`` or ``ValueError`` where they are others."""
        return cls(
            Device(str(content["device"]), str(content["chip"]), str(content["host"])),
            instant(content["start_ns"]),
            instant(content["stop_ns"]),
            bool(content["is_continued"]),
            int(content["n_samples"]),
            str(content["sha256"]),
        )


class Gap(NamedTuple):
    """A stretch in which a device gave no sample; ``before`` is what was seen of it until then."""

    device: Device
    start_ns: int
    stop_ns: int
    before: SampleSpan | None


class SampleHash:
    """SHA-256 over samples, the same however they were cut into pieces.

    A sample is its instant and the values of the channels that answered, in order of their names, eight bytes
    each, little-endian; a channel without an answer counts as absent. Where the channels change, a list of
    their names comes first: -2^63 and the length of the list in bytes, eight bytes each, and the names with a
    comma between.
    """

    def __init__(self) -> None:
        self._state = hashlib.sha256()
        self._names: tuple[str, ...] | None = None

    def update(self, trace: Trace) -> None:
        """Take the next samples."""
        names = np.array(sorted(trace.channels), dtype=object)
        columns = [trace.time_ns.astype("<i8"), *(trace[name].astype("<f8").view("<i8") for name in names)]
        block = np.stack(columns, axis=1)
        answered = np.stack([~np.isnan(trace[name]) for name in names], axis=1) if len(names) else None
        for start, stop in _runs(answered, len(trace)):
            there = np.zeros(0, dtype=bool) if answered is None else answered[start]
            self._name(tuple(names[there]))
            self._state.update(block[start:stop, np.concatenate([[True], there])].tobytes())

    def hexdigest(self) -> str:
        """Return the digest so far."""
        return self._state.hexdigest()

    def _name(self, names: tuple[str, ...]) -> None:
        if names != self._names:
            self._names = names
            listed = ",".join(names).encode()
            self._state.update(np.array([NO_SAMPLE_NS, len(listed)], dtype="<i8").tobytes() + listed)


def _runs(answered: NDArray[np.bool_] | None, n_samples: int) -> Iterable[tuple[int, int]]:
    """Return the stretches of samples in which the same channels answered."""
    if answered is None or n_samples < 2:
        return [(0, n_samples)] if n_samples else []
    changes = np.flatnonzero((answered[1:] != answered[:-1]).any(axis=1)) + 1
    bounds = [0, *changes.tolist(), n_samples]
    return list(pairwise(bounds))


@dataclass(slots=True)
class _Open:
    """The span of a device that is not cut off yet."""

    device: Device
    start_ns: int
    stop_ns: int
    is_continued: bool
    n_samples: int = 0
    state: SampleHash = field(default_factory=SampleHash)

    def closed(self) -> SampleSpan:
        ends = (self.start_ns, self.stop_ns, self.is_continued)
        return SampleSpan(self.device, *ends, self.n_samples, self.state.hexdigest())


class SampleSpans:
    """Follows the samples of all devices.

    Parameters
    ----------
    max_step_seconds : float
        A longer step between two samples of a device is a gap.
    last_ns : mapping of str to int
        Last sample of each device that a ledger vouches for, by UUID; samples up to it are passed over.
    """

    def __init__(self, *, max_step_seconds: float, last_ns: Mapping[str, int] | None = None) -> None:
        self._max_step_ns = round(max_step_seconds * 1e9)
        self._last_ns = dict(last_ns or {})
        self._open: dict[str, _Open] = {}

    def observe(self, piece: Trace) -> tuple[Gap, ...]:
        """Take the next samples of a device; return the gaps before and between them."""
        uuid = piece.device.uuid
        after = int(piece.time_ns.searchsorted(self._last_ns.get(uuid, NO_SAMPLE_NS), side="right"))
        piece = piece.between(after, len(piece))
        if not len(piece):
            return ()
        breaks = (np.flatnonzero(np.diff(piece.time_ns) > self._max_step_ns) + 1).tolist()
        bounds = [0, *breaks, len(piece)]
        found = [self._take(piece.between(start, stop)) for start, stop in pairwise(bounds)]
        return tuple(gap for gap in found if gap is not None)

    def cut(self) -> tuple[SampleSpan, ...]:
        """Return what was seen since the last cut, by UUID."""
        spans = tuple(self._open[uuid].closed() for uuid in sorted(self._open))
        self._open.clear()
        return spans

    def _take(self, piece: Trace) -> Gap | None:
        """Take samples without a gap between them; return the gap before them."""
        uuid, first_ns = piece.device.uuid, int(piece.time_ns[0])
        last_ns = self._last_ns.get(uuid)
        gap = None
        if last_ns is not None and first_ns - last_ns > self._max_step_ns:
            before = self._open.pop(uuid, None)
            gap = Gap(piece.device, last_ns, first_ns, before.closed() if before else None)
        is_continued = last_ns is not None and gap is None
        start_ns = last_ns if last_ns is not None and gap is None else first_ns
        span = self._open.setdefault(uuid, _Open(piece.device, start_ns, start_ns, is_continued))
        span.state.update(piece)
        span.n_samples += len(piece)
        span.stop_ns = self._last_ns[uuid] = int(piece.time_ns[-1])
        return gap


def span_digest(trace: Trace, span: SampleSpan) -> tuple[int, str]:
    """Return how many samples of a trace belong to a span, and their digest."""
    samples = trace.within(span.start_ns + span.is_continued, span.stop_ns)
    state = SampleHash()
    state.update(samples)
    return len(samples), state.hexdigest()
