"""The project's own recording CSV, NVML and GPM at 10 Hz: ``nvml_csv`` reads it, here it is one of many.

Times are seconds since 1970, UTC; activities are percent; a device is known by its capture and its index. A
killed recorder leaves a gzip stream without its end.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from flopwitness.telemetry.readers.nvml_columns import COLUMNS
from flopwitness.telemetry.readers.nvml_csv import NvmlCsvReader
from flopwitness.telemetry.readers.products import chip_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.source import Source

SIGNATURE = frozenset({"t", "gpu"})

SAID_LATER = frozenset({"uneven-devices", "starts-late", "stops-early"})
"""What is said of any recording, once its traces are together."""


def claims(head: Head) -> bool:
    """Say whether a head is a header with a time, an index and columns that only this recorder writes."""
    names = set(head.header())
    return names >= SIGNATURE and bool(names & COLUMNS.keys())


def parse(context: Context) -> Iterator[Readings]:
    """Yield one piece a device, with what the reader found."""
    data = context.input.raw()
    source = Source(context.path, data, context.input.sha256, is_cut=False)  # a cut stream is said for all
    reader = NvmlCsvReader(
        Path(context.path),
        name=context.capture,
        chip=chip_of("", context.asked.chip),
        host=context.asked.host,
    )
    recording = reader.read_from(source)
    for finding in recording.findings:
        if finding.code not in SAID_LATER:
            context.notes.say(finding)
    for number, trace in enumerate(recording.traces):
        index = np.full(len(trace), number, dtype=np.int64)
        yield Readings({number: trace.device}, index, trace.time_ns, trace.channels)


FORMAT = Format(
    name="project-csv", title="recording CSV of this project (NVML and GPM)", claims=claims, parse=parse
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
