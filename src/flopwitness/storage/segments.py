"""A recording in progress: a folder of small sealed Parquet files; a kill loses what is not yet in one.

Layout: ``header.json`` (name, provenance, both clocks at the start) and ``segment-<first>-<last>.parquet``,
each a whole recording of its own; the numbers say which appended pieces it holds. Older segments are merged
into larger ones, and a file whose numbers lie inside a larger one's is a leftover. A clean stop leaves
``samples.parquet`` in place of the segments.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, Self

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace, joined
from flopwitness.storage.atomic import reason
from flopwitness.storage.documents import read_document, write_document
from flopwitness.storage.nouns import provenance_from, rebuilt
from flopwitness.storage.recordings import read_recording, write_recording

KIND = "flopwitness-segments"
VERSION = 1
HEADER = "header.json"
SEALED = "samples.parquet"
PATTERN = re.compile(r"segment-(\d{10})-(\d{10})\.parquet")

FANOUT = 60
"""So many segments of one size become one of the next: a second, a minute, an hour."""

MAX_MERGED_VALUES = 4_000_000
"""No merged segment holds more numbers than this (32 MB in memory): two hours of two GPUs at 10 Hz."""


@dataclass(frozen=True, slots=True)
class SegmentsHeader:
    """What is known when a recording starts.

    Attributes
    ----------
    name : str
        Name of the recording.
    provenance : Provenance
        Where its samples come from; names the interval that was asked for.
    utc_ns, monotonic_ns : int
        Both clocks of the host at one instant. Their difference places the monotonic clock, which ticks are
        taken by, on the UTC that samples are stamped with.
    """

    name: str
    provenance: Provenance
    utc_ns: int
    monotonic_ns: int

    @property
    def offset_ns(self) -> int:
        """UTC minus monotonic clock."""
        return self.utc_ns - self.monotonic_ns


class Segment(NamedTuple):
    """One file and the numbers of the appended pieces that it holds."""

    first: int
    last: int
    path: Path

    @property
    def n_pieces(self) -> int:
        """How many appended pieces it holds."""
        return self.last - self.first + 1


class SegmentStore:
    """Writes a recording in progress; each append is on disk when it returns.

    Parameters
    ----------
    folder : Path
        The recording's folder, with a header in it.
    header : SegmentsHeader
        Its header.
    """

    def __init__(self, folder: Path, header: SegmentsHeader) -> None:
        self.folder = Path(folder)
        self.header = header
        found = live_segments(self.folder)
        self._segments = [(segment, _n_values(read_recording(segment.path).traces)) for segment in found]
        self._fresh: dict[int, tuple[Trace, ...]] = {}
        """Pieces that were not merged yet, by number, so that merging need not read them again."""
        self._next = found[-1].last + 1 if found else 0

    @classmethod
    def create(cls, folder: Path, header: SegmentsHeader) -> Self:
        """Start a recording; ``BadInputError`` where the folder holds one or cannot be made."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInputError(
                str(folder), "", expected="a folder to write to", got=reason(error)
            ) from error
        if (folder / SEALED).exists():
            raise BadInputError(str(folder), "", expected="a folder without a recording", got=SEALED)
        content = asdict(header) | {"format": KIND, "version": VERSION, "offset_ns": header.offset_ns}
        write_document(folder / HEADER, content)
        return cls(folder, header)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """Continue a recording that was not sealed; ``BadInputError`` where there is none."""
        for leftover in set(_segments(folder)) - set(live_segments(folder)):
            leftover.path.unlink()
        for leftover_file in folder.glob(".*.tmp"):
            leftover_file.unlink()
        return cls(folder, read_header(folder))

    def append(self, traces: Sequence[Trace]) -> None:
        """Force samples to disk, those of a device after all its earlier ones.

        Raises
        ------
        BadInputError
            When the disk is full or gone; what was appended before stays readable.
        """
        held = tuple(trace for trace in traces if len(trace))
        if held:
            self._write(self._next, self._next, held)
            self._fresh[self._next] = held
            self._next += 1
            self._merge()

    def seal(self, findings: Sequence[Finding] = ()) -> Path | None:
        """Turn the segments into one recording and return its path; None where there is no sample."""
        if not self._segments:
            return None
        recording = read_segments(self.folder)
        path = self.folder / SEALED
        whole = Recording(recording.name, recording.traces, recording.provenance, tuple(findings))
        write_recording(path, whole)
        for segment in _segments(self.folder):
            segment.path.unlink()
        self._segments.clear()
        return path

    def _write(self, first: int, last: int, traces: tuple[Trace, ...]) -> None:
        path = self.folder / f"segment-{first:010}-{last:010}.parquet"
        write_recording(path, Recording(self.header.name, traces, self.header.provenance))
        self._segments.append((Segment(first, last, path), _n_values(traces)))

    def _merge(self) -> None:
        """Merge the last segments while there are enough of one size."""
        while len(self._segments) >= FANOUT:
            tail = self._segments[-FANOUT:]
            sizes = {segment.n_pieces for segment, _ in tail}
            if len(sizes) > 1 or sum(n_values for _, n_values in tail) > MAX_MERGED_VALUES:
                return
            parts = [segment for segment, _ in tail]
            traces = _joined_devices([self._traces(part) for part in parts])
            del self._segments[-FANOUT:]
            self._write(parts[0].first, parts[-1].last, traces)
            for part in parts:
                part.path.unlink()

    def _traces(self, part: Segment) -> tuple[Trace, ...]:
        fresh = self._fresh.pop(part.first, None)
        return read_recording(part.path).traces if fresh is None or part.n_pieces > 1 else fresh


def is_unsealed(folder: Path) -> bool:
    """Say whether a folder holds a recording in progress, or one whose recorder was killed."""
    return (folder / HEADER).exists() and not (folder / SEALED).exists()


def read_header(folder: Path) -> SegmentsHeader:
    """Read what was known when a recording started."""
    path = folder / HEADER
    content = read_document(path, kind=KIND, version=VERSION)

    def make() -> SegmentsHeader:
        provenance = provenance_from(content["provenance"])
        name, instants = str(content["name"]), (content["utc_ns"], content["monotonic_ns"])
        return SegmentsHeader(name, provenance, int(instants[0]), int(instants[1]))

    return rebuilt(str(path), "header", make)


def iter_segments(folder: Path) -> Iterator[tuple[Trace, ...]]:
    """Yield the samples of a recording in progress, oldest first, a segment at a time."""
    for segment in live_segments(folder):
        yield read_recording(segment.path).traces


def read_segments(folder: Path) -> Recording:
    """Read a recording in progress as if it ended here.

    Raises
    ------
    BadInputError
        When there is no header, no sample yet, or a segment is damaged.
    """
    header = read_header(folder)
    pieces = list(iter_segments(folder))
    if not pieces:
        raise BadInputError(str(folder), "", expected="at least one segment", got="none yet")
    return Recording(header.name, _joined_devices(pieces), header.provenance)


def live_segments(folder: Path) -> list[Segment]:
    """Return the segments in order; one that a larger one holds as well is left out."""
    kept: list[Segment] = []
    for segment in sorted(_segments(folder), key=lambda each: (each.first, -each.last)):
        if not kept or segment.first > kept[-1].last:
            kept.append(segment)
    return kept


def _segments(folder: Path) -> list[Segment]:
    found = ((PATTERN.fullmatch(path.name), path) for path in Path(folder).glob("segment-*.parquet"))
    return [Segment(int(match[1]), int(match[2]), path) for match, path in found if match]


def _joined_devices(pieces: Sequence[Sequence[Trace]]) -> tuple[Trace, ...]:
    by_uuid: dict[str, list[Trace]] = {}
    for traces in pieces:
        for trace in traces:
            by_uuid.setdefault(trace.device.uuid, []).append(trace)
    return tuple(joined(parts) for parts in by_uuid.values())


def _n_values(traces: Sequence[Trace]) -> int:
    return sum(len(trace) * (1 + len(trace.channels)) for trace in traces)
