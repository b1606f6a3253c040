"""A recording in progress: a folder of small sealed Parquet files; a kill loses what is not yet in one.

Layout: ``header.json`` (name, provenance, both clocks at the start) and ``segment-<first>-<last>.parquet``,
each a whole recording of its own; the numbers say which appended pieces it holds. Older segments are merged
into larger ones, and a file whose numbers lie inside a larger one's is a leftover. A clean stop leaves
``samples.parquet`` in place of the segments.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
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
from flopwitness.storage.recordings import (
    DeviceSummary,
    RecordingSummary,
    read_device,
    read_recording,
    read_summary,
    write_parts,
    write_recording,
)

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
    boot_id : str
        Tells boots of the host apart: the monotonic clock means something within one; empty where unknown.
    """

    name: str
    provenance: Provenance
    utc_ns: int
    monotonic_ns: int
    boot_id: str = ""

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
        summaries = [read_summary(segment.path) for segment in found]
        self._segments = list(zip(found, map(_n_values, summaries), strict=True))
        self._last_ns = _last_instants(_joined_summaries(summaries))
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

    def last_instants(self) -> dict[str, int]:
        """Return the last sample of each device, UTC nanoseconds by UUID."""
        return dict(self._last_ns)

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
            self._last_ns |= {trace.device.uuid: int(trace.time_ns[-1]) for trace in held}
            self._next += 1
            self._merge()

    def seal(self, findings: Sequence[Finding] = ()) -> Path | None:
        """Turn the segments into one recording and return its path; None where there is no sample.

        A segment at a time is in memory. Where the disk is full or gone the segments stay, and
        ``BadInputError`` says so.
        """
        if not self._segments:
            return None
        path = self.folder / SEALED
        live = live_segments(self.folder)
        held = _joined_summaries([read_summary(segment.path) for segment in live])
        summary = RecordingSummary(self.header.name, self.header.provenance, held, tuple(findings))
        write_parts(path, summary, lambda device: _parts(live, device.device.uuid))
        for segment in _segments(self.folder):
            segment.path.unlink()
        self._segments.clear()
        return path

    def _write(self, first: int, last: int, traces: tuple[Trace, ...]) -> None:
        path = self.folder / f"segment-{first:010}-{last:010}.parquet"
        write_recording(path, Recording(self.header.name, traces, self.header.provenance))
        n_values = sum(len(trace) * (1 + len(trace.channels)) for trace in traces)
        self._segments.append((Segment(first, last, path), n_values))

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
        instants = int(content["utc_ns"]), int(content["monotonic_ns"])
        return SegmentsHeader(str(content["name"]), provenance, *instants, str(content.get("boot_id", "")))

    return rebuilt(str(path), "header", make)


def iter_segments(folder: Path) -> Iterator[tuple[Trace, ...]]:
    """Yield the samples of a recording in progress, oldest first, a segment at a time."""
    for segment in live_segments(folder):
        yield read_recording(segment.path).traces


def last_recorded_ns(folder: Path, uuids: Collection[str]) -> int | None:
    """Return the last instant of some devices in a folder of recordings, sealed or not; None where none is.

    A recording that cannot be read is passed over.
    """
    found: list[int] = []
    for header in Path(folder).glob(f"*/{HEADER}"):
        sealed = header.with_name(SEALED)
        with suppress(BadInputError):
            paths = [sealed] if sealed.exists() else [each.path for each in live_segments(header.parent)[-1:]]
            last_ns = _last_instants(_joined_summaries(map(read_summary, paths)))
            found += [instant_ns for uuid, instant_ns in last_ns.items() if uuid in uuids]
    return max(found, default=None)


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


def _joined_summaries(summaries: Iterable[RecordingSummary]) -> tuple[DeviceSummary, ...]:
    """Return what segments that follow each other hold of each device together."""
    found: dict[str, DeviceSummary] = {}
    for held in (held for summary in summaries for held in summary.devices):
        before = found.get(held.device.uuid, DeviceSummary(held.device, 0, (), held.start_ns, None))
        channels = tuple(dict.fromkeys((*before.channels, *held.channels)))
        n_samples = before.n_samples + held.n_samples
        found[held.device.uuid] = DeviceSummary(
            held.device, n_samples, channels, before.start_ns, held.stop_ns
        )
    return tuple(found.values())


def _last_instants(devices: Iterable[DeviceSummary]) -> dict[str, int]:
    return {held.device.uuid: held.stop_ns for held in devices if held.stop_ns is not None}


def _parts(segments: Iterable[Segment], uuid: str) -> Iterator[Trace]:
    for segment in segments:
        if (part := read_device(segment.path, uuid)) is not None:
            yield part


def _n_values(summary: RecordingSummary) -> int:
    return sum(held.n_samples * (1 + len(held.channels)) for held in summary.devices)
