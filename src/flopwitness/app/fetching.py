"""Telemetry that Prometheus or VictoriaMetrics kept, as a recording; a file goes on where it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.storage.atomic import read_bytes
from flopwitness.storage.recordings import (
    DeviceSummary,
    RecordingSummary,
    read_device,
    read_summary,
    write_parts,
)
from flopwitness.telemetry.prometheus.client import PrometheusClient
from flopwitness.telemetry.prometheus.fetching import SOURCE
from flopwitness.telemetry.prometheus.reading import PrometheusReader

READER = "prometheus 1"

MOST_CELLS = 50_000_000
"""Values in memory before they are written: 400 MB."""

OVERLAP_NS = 300 * NANOSECONDS_PER_SECOND
"""How far before its end a file's GPUs are asked for again, as a scrape may have come in late; samples that
are there already are not taken twice."""


def open_prometheus(client: PrometheusClient, start_ns: int, stop_ns: int) -> Recording:
    """Read the GPUs that an API kept between two instants.

    Parameters
    ----------
    client : PrometheusClient
        Asks the API.
    start_ns, stop_ns : int
        First and last instant, UTC nanoseconds.

    Raises
    ------
    BadInputError
        When there is no sample of a GPU, or the answer is none.
    SourceUnavailableError
        When the API does not answer, or refuses.
    """
    reader = PrometheusReader(client, start_ns, stop_ns)
    parts: dict[str, list[Trace]] = {}
    for piece in reader.read():
        parts.setdefault(piece.device.uuid, []).append(piece)
    if not parts:
        raise nothing_kept(client)
    traces = tuple(joined(pieces) for pieces in parts.values())
    return Recording(client.access.name, traces, _provenance(traces[0]), reader.findings)


def fetch_into(
    path: Path,
    client: PrometheusClient,
    start_ns: int,
    stop_ns: int,
    *,
    most_cells: int = MOST_CELLS,
) -> int:
    """Write what an API kept as our Parquet; an existing file of the same source is continued.

    The file is replaced whole, also half-way where there is much: a fetch that was cut off goes on there.

    Parameters
    ----------
    path : Path
        The file.
    client : PrometheusClient
        Asks the API.
    start_ns, stop_ns : int
        First and last instant, UTC nanoseconds; an existing file goes on from its own end.
    most_cells : int
        Values in memory before they are written, > 0.

    Returns
    -------
    int
        How many samples are new, over all GPUs.

    Raises
    ------
    BadInputError
        When the file is of another source, cannot be written, or what the API answers is no answer.
    SourceUnavailableError
        When the API does not answer, or refuses.
    """
    held = _held(path, client.access.name)
    known = {each.device.uuid: each.stop_ns for each in held.devices if each.stop_ns is not None}
    first_ns = max(known.values()) - OVERLAP_NS if known else start_ns
    devices = [each.device for each in held.devices]
    reader = PrometheusReader(client, first_ns, stop_ns, after_ns=known, devices=devices)
    parts: dict[str, list[Trace]] = {}
    n_new = n_cells = 0
    for piece in reader.read():
        parts.setdefault(piece.device.uuid, []).append(piece)
        n_new, n_cells = n_new + len(piece), n_cells + len(piece) * len(piece.channels)
        if n_cells > most_cells:
            held, parts, n_cells = _continued(path, held, parts, ()), {}, 0
    if n_new:
        _continued(path, held, parts, reader.findings)
    return n_new


def nothing_kept(client: PrometheusClient) -> BadInputError:
    """Return the error that there is no sample of a GPU."""
    return BadInputError(client.access.name, "", expected="samples of GPUs in that time", got="none")


def token_of(path: Path | None) -> str:
    """Return the token that a file holds, without the blanks around it; empty where there is no file.

    Raises
    ------
    BadInputError
        When the file cannot be read or holds no text.
    """
    if path is None:
        return ""
    try:
        token = read_bytes(path).decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not token:
        raise BadInputError(str(path), "", expected="a token in printable characters", got="none")
    return token


def _held(path: Path, name: str) -> RecordingSummary:
    """Return what a file holds; nothing where there is none."""
    if not path.exists():
        return RecordingSummary(name, Provenance(source=SOURCE), (), ())
    held = read_summary(path)
    if (held.provenance.source, held.name) != (SOURCE, name):
        got = f"one of {held.name} from {held.provenance.source}"
        raise BadInputError(str(path), "", expected=f"a free name, or a recording of {name}", got=got)
    return held


def _continued(
    path: Path,
    held: RecordingSummary,
    parts: Mapping[str, Sequence[Trace]],
    findings: tuple[Finding, ...],
) -> RecordingSummary:
    """Write a file with more samples in place of itself; return what it holds now."""
    before = {each.device.uuid: each for each in held.devices}
    more = {uuid: joined(pieces) for uuid, pieces in parts.items()}
    longer = {uuid: _longer(before.get(uuid), trace) for uuid, trace in more.items()}
    devices = tuple((before | longer).values())
    provenance = held.provenance if before else _provenance(next(iter(more.values())))
    noted = tuple(dict.fromkeys((*held.findings, *findings)))
    summary = replace(held, provenance=provenance, devices=devices, findings=noted)

    def parts_of(device: DeviceSummary) -> list[Trace]:
        uuid = device.device.uuid
        old = read_device(path, uuid) if uuid in before else None
        return [piece for piece in (old, more.get(uuid)) if piece is not None]

    write_parts(path, summary, parts_of, replace=bool(before))
    return summary


def _longer(before: DeviceSummary | None, more: Trace) -> DeviceSummary:
    start_ns, stop_ns = int(more.time_ns[0]), int(more.time_ns[-1])
    if before is None:
        return DeviceSummary(more.device, len(more), tuple(more.channels), start_ns, stop_ns)
    channels = tuple(dict.fromkeys((*before.channels, *more.channels)))
    return replace(before, n_samples=before.n_samples + len(more), channels=channels, stop_ns=stop_ns)


def _provenance(trace: Trace) -> Provenance:
    steps = np.diff(trace.time_ns)
    interval = round(float(np.median(steps)) / NANOSECONDS_PER_SECOND, 3) if len(steps) else None
    return Provenance(
        source=SOURCE, clock="server's scrape times, UTC", interval_seconds=interval, reader=READER
    )
