"""Files of others: opened whole, or passed through piece by piece where they may be larger than memory."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.storage.recordings import (
    DeviceSummary,
    RecordingSummary,
    read_device,
    write_parts,
    write_recording,
)
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.assembly import no_sample, provenance_of
from flopwitness.telemetry.readers.files import FileReader
from flopwitness.telemetry.readers.inputs import BLOCK_BYTES, Input
from flopwitness.telemetry.readers.nvml_csv import read_recording_csv
from flopwitness.telemetry.readers.reading import Summary
from flopwitness.telemetry.readers.source import GZIP_MAGIC

OWN_FORMAT = "project-csv"


def open_foreign(path: Path, asked: Asked, *, own_chip: str) -> Recording:
    """Open a file as a recording, whatever its format.

    Parameters
    ----------
    path : Path
        The file.
    asked : Asked
        What the user adds to it.
    own_chip : str
        Chip of the project's own CSV, which names none.

    Raises
    ------
    BadInputError
        When it is of no known format, or holds no samples.
    """
    reader = FileReader(Input.of(path), asked)
    if reader.format.name == OWN_FORMAT:
        return read_recording_csv(path, chip=own_chip)
    return reader.recording


def open_any(path: Path, asked: Asked, *, own_chip: str) -> Recording | Summary:
    """Open a file as a recording, or as figures about stretches where it holds no samples."""
    reader = FileReader(Input.of(path), asked)
    return reader.summary if reader.format.parse is None else open_foreign(path, asked, own_chip=own_chip)


def is_large(path: Path) -> bool:
    """Say whether a file is read piece by piece: it is longer than a block, or may be once unpacked."""
    with path.open("rb") as file:
        is_packed = file.read(2) == GZIP_MAGIC
    return path.stat().st_size > (BLOCK_BYTES // 8 if is_packed else BLOCK_BYTES)


def convert_large(
    path: Path, output: Path, asked: Asked, *, replace: bool, seen: Callable[[int], None] = lambda _: None
) -> RecordingSummary:
    """Write a file as Parquet without having it in memory: pieces go to a folder beside the output first.

    Parameters
    ----------
    path, output : Path
        From, to.
    asked : Asked
        What the user adds to the file.
    replace : bool
        Whether an existing output may go.
    seen : callable
        Is told how many samples each piece held.

    Raises
    ------
    BadInputError
        When the file cannot be used, or the output cannot be written.
    """
    if output.exists() and not replace:
        raise BadInputError(str(output), "", expected="a new file (or --force)", got="one that exists")
    reader = FileReader(Input.of(path), asked)
    with TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent) as folder:
        spool = _Spool(Path(folder))
        for piece in reader.read():
            spool.keep(piece)
            seen(len(piece))
        if not spool.parts:
            raise no_sample(reader.context, reader.format)
        provenance = provenance_of(reader.context, reader.format, spool.interval_seconds)
        summary = RecordingSummary(reader.context.capture, provenance, spool.devices(), reader.findings())
        write_parts(output, summary, spool.of, replace=replace, compact=True)
    return summary


class _Spool:
    """Pieces in a folder, a small recording each, until all are known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.parts: dict[str, list[Path]] = defaultdict(list)
        self._held: dict[str, DeviceSummary] = {}
        self._steps_ns: list[float] = []

    def keep(self, piece: Trace) -> None:
        """Put a piece away."""
        uuid, device = piece.device.uuid, piece.device
        before = self._held.get(uuid)
        if before is not None and before.device != device:
            device = before.device  # a later piece may know its chip or host less
            piece = Trace(device, piece.time_ns, piece.channels)
        number = sum(len(paths) for paths in self.parts.values())
        path = self._folder / f"{number:08}.parquet"
        write_recording(path, Recording("part", (piece,), Provenance("part")))
        self.parts[uuid].append(path)
        names = dict.fromkeys((*(before.channels if before else ()), *piece.channels))
        n_samples = (before.n_samples if before else 0) + len(piece)
        start_ns = before.start_ns if before else int(piece.time_ns[0])
        self._held[uuid] = DeviceSummary(device, n_samples, tuple(names), start_ns, int(piece.time_ns[-1]))
        if len(piece) > 1:
            self._steps_ns.append(float(np.median(np.diff(piece.time_ns))))

    @property
    def interval_seconds(self) -> float | None:
        """The middle of the pieces' middle steps."""
        return round(float(np.median(self._steps_ns)) / NANOSECONDS_PER_SECOND, 3) if self._steps_ns else None

    def devices(self) -> tuple[DeviceSummary, ...]:
        """Return what was put away of each device."""
        return tuple(self._held.values())

    def of(self, held: DeviceSummary) -> Iterator[Trace]:
        """Yield the pieces of a device."""
        for path in self.parts[held.device.uuid]:
            part = read_device(path, held.device.uuid)
            if part is not None:
                yield part
