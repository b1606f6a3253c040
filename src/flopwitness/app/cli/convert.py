"""``flopwitness convert``: any recording that we can read, as our Parquet."""

from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.asking import ForeignChip, Period, Start, Zone, asked_of
from flopwitness.app.cli.options import Force, RecordingPath
from flopwitness.app.cli.output import counting, print_faults, print_findings, talk
from flopwitness.app.faults import faults_among, input_faults
from flopwitness.app.importing import convert_large, is_large
from flopwitness.app.opening import open_recording
from flopwitness.core.finding import Finding
from flopwitness.storage.recordings import write_recording

Output = Annotated[Path, typer.Option("--output", help="The Parquet file to write.", show_default=False)]


def run(
    recording: RecordingPath,
    output: Output,
    tz: Zone = None,
    start: Start = None,
    period: Period = None,
    chip: ForeignChip = None,
    force: Force = False,
) -> int:
    """Write a recording as Parquet, with its provenance and everything that reading it lost.

    A file that may not fit into memory is passed through piece by piece.
    """
    asked = asked_of(tz, start, period, chip)
    if recording.is_file() and is_large(recording):
        with counting("samples") as seen:
            summary = convert_large(recording, output, asked, replace=force, seen=seen)
        counts = [held.n_samples for held in summary.devices]
        _told(output, counts, summary.findings)
        return print_faults(faults_among(summary.findings, recording, summary.provenance))
    found = open_recording(recording, chip=chip, asked=asked)
    write_recording(output, found, replace=force, compact=True)
    _told(output, [len(trace) for trace in found.traces], found.findings)
    return print_faults(input_faults(recording, found))


def _told(output: Path, counts: list[int], findings: tuple[Finding, ...]) -> None:
    talk().print(f"wrote {output}: {len(counts)} GPUs, {sum(counts):,} samples")
    print_findings(findings)
