"""What ``flopwitness read`` shows of a file, gathered in one pass whatever its size."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flopwitness.app.faults import faults_among, input_faults, is_own_parquet
from flopwitness.app.importing import OWN_FORMAT, is_large
from flopwitness.app.opening import open_recording
from flopwitness.app.summarising import DeviceOverview, overviews
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.assembly import no_sample, provenance_of
from flopwitness.telemetry.readers.files import FileReader
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Summary
from flopwitness.telemetry.readers.rules.periods import step_findings


@dataclass(frozen=True, slots=True)
class Overview:
    """A recording without its samples.

    Attributes
    ----------
    name : str
        Of the capture.
    provenance : Provenance
        Where it came from.
    devices : tuple of DeviceOverview
        What was seen of each GPU.
    findings : tuple of Finding
        What reading lost or inferred.
    faults : tuple of BadInputError
        What of it was wrong with the file.
    """

    name: str
    provenance: Provenance
    devices: tuple[DeviceOverview, ...]
    findings: tuple[Finding, ...]
    faults: tuple[BadInputError, ...]


def overview_of(
    path: Path, asked: Asked, *, chip: str | None = None, seen: Callable[[int], None] = lambda _: None
) -> Overview | Summary:
    """Look through a file or folder.

    Parameters
    ----------
    path : Path
        What the user named.
    asked : Asked
        What the user adds to it.
    chip : str or None
        Chip of GPUs that a recording does not name.
    seen : callable
        Is told how many samples each piece held.

    Raises
    ------
    BadInputError
        When it is of no known format, or nothing in it can be used.
    """
    if path.is_dir() or not path.exists() or is_own_parquet(path):
        return _opened(path, asked, chip)
    reader = FileReader(Input.of(path), asked)
    if reader.format.parse is None:
        return reader.summary
    if reader.format.name == OWN_FORMAT or not is_large(path):
        return _opened(path, asked, chip)
    return _passed_through(path, reader, seen)


def _opened(path: Path, asked: Asked, chip: str | None) -> Overview:
    found = open_recording(path, chip=chip, asked=asked)
    faults = input_faults(path, found)
    return Overview(found.name, found.provenance, overviews(found.traces), found.findings, faults)


def _passed_through(path: Path, reader: FileReader, seen: Callable[[int], None]) -> Overview:
    devices = overviews(_counted(reader.read(), seen))
    if not devices:
        raise no_sample(reader.context, reader.format)
    interval = devices[0].typical_step_seconds
    provenance = provenance_of(reader.context, reader.format, interval)
    findings = reader.findings()
    faults = faults_among(findings, path, provenance)
    return Overview(reader.context.capture, provenance, devices, findings, faults)


def _counted(pieces: Iterator[Trace], seen: Callable[[int], None]) -> Iterator[Trace]:
    for piece in pieces:
        seen(len(piece))
        yield piece


def too_slow(found: Overview, required_seconds: float) -> Iterator[Finding]:
    """Yield a finding for each GPU that was sampled less often than a rule requires."""
    for one in found.devices:
        span = (one.start_ns or 0, one.stop_ns or 0)
        yield from step_findings(one.device.uuid, one.steps_seconds, span, required_seconds=required_seconds)
