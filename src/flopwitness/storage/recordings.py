"""Recordings as Parquet: one file, rows grouped by device, so that a column comes back without a copy.

Layout (version 1): columns ``device`` (UUID), ``time_ns`` (int64, UTC) and one float64 column a channel.
Each device has its own row groups, in time order. Null means that the device has no such channel, NaN that
one sample is missing. Names, provenance, devices and findings are JSON in the file's metadata, under
``flopwitness``. Any Parquet tool can read the rows without this package.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.atomic import reason, write_atomically
from flopwitness.storage.documents import from_json, to_json
from flopwitness.storage.nouns import device_from, finding_from, finding_to, provenance_from, rebuilt

KIND = "flopwitness-recording"
VERSION = 1
METADATA_KEY = b"flopwitness"

ROWS_PER_GROUP = 2**24
"""Samples of one device in one row group: 19 days at 10 Hz. One group a device means one block of memory."""

FAST = {"compression": "lz4"}
COMPACT = {"compression": "zstd", "compression_level": 3}
"""Measured on 2 cores with 12 channels x 10 million rows: LZ4 reads in 0.4 s and writes in 3.5 s; zstd reads
in about 1.4 s, writes in 8 s and is a quarter smaller.

Byte-stream split reads faster still but leaves these files a quarter larger. Dictionaries are left out
because they merge NaNs of different bits.
"""


@dataclass(frozen=True, slots=True)
class DeviceSummary:
    """What a recording holds of one device; instants are None where it has no sample."""

    device: Device
    n_samples: int
    channels: tuple[str, ...]
    start_ns: int | None
    stop_ns: int | None


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """A recording without its samples."""

    name: str
    provenance: Provenance
    devices: tuple[DeviceSummary, ...]
    findings: tuple[Finding, ...]


def write_recording(
    path: Path, recording: Recording, *, replace: bool = False, compact: bool = False
) -> None:
    """Write a recording, whole or not at all.

    Parameters
    ----------
    path : Path
        The file; its folder must exist.
    recording : Recording
        What to write.
    replace : bool
        Whether an existing file may go.
    compact : bool
        Whether to spend time on a smaller file, as for a data set that is shipped.

    Raises
    ------
    BadInputError
        When the name is taken and ``replace`` is not given, or the folder cannot be written to.
    """
    traces = {trace.device.uuid: trace for trace in recording.traces}
    devices = tuple(_summarised(trace) for trace in recording.traces)
    summary = RecordingSummary(recording.name, recording.provenance, devices, recording.findings)
    write_parts(path, summary, lambda device: [traces[device.device.uuid]], replace=replace, compact=compact)


def write_parts(
    path: Path,
    summary: RecordingSummary,
    parts_of: Callable[[DeviceSummary], Iterable[Trace]],
    *,
    replace: bool = False,
    compact: bool = False,
) -> None:
    """Write a recording that need not fit into memory, whole or not at all.

    Parameters
    ----------
    path, replace, compact
        As of ``write_recording``, with its errors.
    summary : RecordingSummary
        What the recording will hold.
    parts_of : callable
        Gives the samples of a device in time order, part by part; a channel that a part lacks is NaN there.
    """
    schema = _schema(summary, source=str(path))

    def fill(out: BinaryIO) -> None:
        with pq.ParquetWriter(
            out,
            schema,
            column_encoding={"time_ns": "DELTA_BINARY_PACKED"},
            write_statistics=["time_ns"],
            write_page_checksum=True,
            use_dictionary=["device"],
            **(COMPACT if compact else FAST),
        ) as writer:
            for held in summary.devices:
                for part in parts_of(held):
                    if len(part):
                        writer.write_table(_table(part, held, schema), row_group_size=ROWS_PER_GROUP)

    write_atomically(path, fill, replace=replace)


def read_recording(path: Path, *, channels: Collection[str] | None = None) -> Recording:
    """Read a recording, or only some of its channels; bit for bit what was written.

    Parameters
    ----------
    path : Path
        The file.
    channels : collection of str or None
        The channels wanted; one that a device lacks is absent from its trace. None means all.

    Raises
    ------
    BadInputError
        When the file is none of ours, of another version, cut, damaged or contradicts itself.
    """
    with _opened(path) as file:
        summary, row_groups = _layout(file, path)

        def make() -> Recording:
            pairs = zip(summary.devices, row_groups, strict=True)
            traces = tuple(_trace(file, held, groups, wanted=channels) for held, groups in pairs)
            return Recording(summary.name, traces, summary.provenance, summary.findings)

        return rebuilt(str(path), "samples", make)


def read_summary(path: Path) -> RecordingSummary:
    """Read what a recording is, without its samples; errors are those of ``read_recording``."""
    with _opened(path) as file:
        return _layout(file, path)[0]


def read_device(path: Path, uuid: str) -> Trace | None:
    """Read the samples of one device; None where there is none of it. Errors as of ``read_recording``."""
    with _opened(path) as file:
        summary, row_groups = _layout(file, path)
        for held, groups in zip(summary.devices, row_groups, strict=True):
            if held.device.uuid == uuid:
                return rebuilt(str(path), "samples", partial(_trace, file, held, groups, wanted=None))
    return None


def _schema(summary: RecordingSummary, *, source: str) -> Any:
    names = dict.fromkeys(name for held in summary.devices for name in held.channels)
    # A required column, unlike a nullable one, is decoded straight into one block of memory.
    fields = [
        pa.field("device", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("time_ns", pa.int64(), nullable=False),
        *(
            pa.field(name, pa.float64(), nullable=any(name not in held.channels for held in summary.devices))
            for name in names
        ),
    ]
    content = {
        "format": KIND,
        "version": VERSION,
        "name": summary.name,
        "provenance": asdict(summary.provenance),
        "devices": [_described(held) for held in summary.devices],
        "findings": [finding_to(finding) for finding in summary.findings],
    }
    return pa.schema(fields, metadata={METADATA_KEY: to_json(content, source=source)})


def _summarised(trace: Trace) -> DeviceSummary:
    start_ns, stop_ns = (int(trace.time_ns[0]), int(trace.time_ns[-1])) if len(trace) else (None, None)
    return DeviceSummary(trace.device, len(trace), tuple(trace.channels), start_ns, stop_ns)


def _described(held: DeviceSummary) -> dict[str, Any]:
    return asdict(held.device) | {
        "n_samples": held.n_samples,
        "channels": list(held.channels),
        "start_ns": held.start_ns,
        "stop_ns": held.stop_ns,
    }


def _table(part: Trace, held: DeviceSummary, schema: Any) -> Any:
    n_samples = len(part)
    device = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_samples, np.int32)), [held.device.uuid])
    nothing = pa.nulls(n_samples, pa.float64())
    columns = [
        pa.array(part.column(name), from_pandas=False) if name in held.channels else nothing
        for name in schema.names[2:]
    ]
    return pa.table([device, pa.array(part.time_ns), *columns], schema=schema)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever is wrong with its bytes becomes ``BadInputError``."""
    try:
        # A mapped file stays whole while it is read: ours are replaced by rename, never changed.
        with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
            yield file
    except (pa.ArrowException, OSError, MemoryError, OverflowError, UnicodeDecodeError) as error:
        got = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInputError(str(path), "", expected="a readable Parquet recording", got=got) from error


def _layout(file: Any, path: Path) -> tuple[RecordingSummary, list[list[int]]]:
    """Read the metadata, and find the row groups of each device."""
    source = str(path)
    data = (file.metadata.metadata or {}).get(METADATA_KEY)
    if data is None:
        raise BadInputError(source, "", expected="a recording of this package", got="another Parquet file")
    content = from_json(data, source=source, kind=KIND, version=VERSION)
    summary = rebuilt(source, "metadata", lambda: _summary(content))
    return summary, rebuilt(source, "row groups", lambda: _row_groups(file.metadata, summary.devices))


def _summary(content: dict[str, Any]) -> RecordingSummary:
    return RecordingSummary(
        str(content["name"]),
        provenance_from(content["provenance"]),
        tuple(_device_summary(fields) for fields in content["devices"]),
        tuple(finding_from(fields) for fields in content["findings"]),
    )


def _device_summary(fields: dict[str, Any]) -> DeviceSummary:
    return DeviceSummary(
        device_from(fields),
        int(fields["n_samples"]),
        tuple(str(name) for name in fields["channels"]),
        fields["start_ns"],
        fields["stop_ns"],
    )


def _row_groups(metadata: Any, devices: Iterable[DeviceSummary]) -> list[list[int]]:
    """Deal the row groups out to the devices, in order, each as many as hold its samples."""
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    dealt: list[list[int]] = []
    group = 0
    for held in devices:
        first, n_left = group, held.n_samples
        while n_left > 0 and group < len(rows):
            n_left -= rows[group]
            group += 1
        if n_left:
            raise ValueError(f"no row groups of {held.n_samples} samples for {held.device.uuid!r}")
        dealt.append(list(range(first, group)))
    if group < len(rows):
        raise ValueError(f"{sum(rows[group:])} samples belong to no device")
    return dealt


def _trace(file: Any, held: DeviceSummary, groups: list[int], *, wanted: Collection[str] | None) -> Trace:
    names = [name for name in held.channels if wanted is None or name in wanted]
    if not groups:
        return Trace(held.device, [], {name: [] for name in names})
    table = file.read_row_groups(groups, columns=["time_ns", *names])
    columns = {name: _array(table[name]) for name in names}
    trace = Trace(held.device, _array(table["time_ns"]), columns)
    if (held.start_ns, held.stop_ns) != (trace.time_ns[0], trace.time_ns[-1]):
        raise ValueError(f"samples of {held.device.uuid!r} do not span the stretch that is stated")
    return trace


def _array(column: Any) -> NDArray[Any]:
    """Return a column as a read-only array; one chunk without nulls is shared, not copied."""
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    array: NDArray[Any] = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    array.flags.writeable = False
    return array
