"""``flopwitness convert``: any recording that we can read, as our Parquet."""

from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.options import Chip, Force, RecordingPath
from flopwitness.app.cli.output import print_faults, print_findings, talk
from flopwitness.app.faults import input_faults
from flopwitness.app.opening import DEFAULT_CHIP, open_recording
from flopwitness.storage.recordings import write_recording

Output = Annotated[Path, typer.Option("--output", help="The Parquet file to write.", show_default=False)]


def run(recording: RecordingPath, output: Output, chip: Chip = DEFAULT_CHIP, force: Force = False) -> int:
    """Write a recording as Parquet, with its provenance and everything that reading it lost."""
    found = open_recording(recording, chip=chip)
    write_recording(output, found, replace=force, compact=True)
    n_samples = sum(len(trace) for trace in found.traces)
    talk().print(f"wrote {output}: {len(found.traces)} GPUs, {n_samples:,} samples")
    print_findings(found.findings)
    return print_faults(input_faults(recording, found))
