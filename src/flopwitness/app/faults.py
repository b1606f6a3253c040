"""Input that could be used only in part: what was wrong is said in one line each, what was good is kept.

A damaged recording is still evidence. What can be read of it is read and answered; the lines below go to
standard error and the exit status is that of misuse, so that no script takes such an answer for a clean one.
Losses that a recorder's end explains (a cut last line, samples without an answer) are findings, not faults.
"""

from collections.abc import Iterable
from pathlib import Path

from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.workload import Run
from flopwitness.storage.atomic import reason
from flopwitness.storage.parquet_kind import is_recording

PARQUET_MAGIC = b"PAR1"
OWN_CSV = "nvml+gpm"
"""Source that recordings of the project's own CSV name."""

OWN_SAMPLES = "samples.parquet"

EXPECTED = {
    "bad-cell": "a number in every cell",
    "bad-row": "as many cells in a row as in the header",
    "infinite-value": "finite numbers",
    "unsorted": "times that rise",
    "duplicate-times": "one row for each time and GPU",
    "starts-late": "every GPU from the first sample on",
    "stops-early": "every GPU up to the last sample",
}
"""Codes of findings that are faults of an input, and what would have been right."""

FOREIGN_FAULTS = frozenset({"bad-cell", "bad-row", "infinite-value"})
"""Of the files of others these alone: their rounds are uneven and their rows unsorted by design."""


def is_own_parquet(path: Path) -> bool:
    """Say whether a file is a recording of ours: Parquet by its first bytes, with our metadata.

    Raises
    ------
    BadInputError
        When it cannot be read.
    """
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except OSError as error:
        raise BadInputError(str(path), "", expected="a readable recording", got=reason(error)) from None
    return is_parquet and is_recording(path)


def input_faults(path: Path, recording: Recording) -> tuple[BadInputError, ...]:
    """Return what was wrong with the file that a recording was just read from, worst first to be read.

    Parameters
    ----------
    path : Path
        What the user named.
    recording : Recording
        What reading it gave. Of our own Parquet nothing is a fault: it was accepted, with its findings, when
        it was written.
    """
    read_from = path / OWN_SAMPLES if path.is_dir() else path
    if read_from.exists() and is_own_parquet(read_from):
        return ()
    return faults_among(recording.findings, path, recording.provenance)


def faults_among(
    findings: Iterable[Finding], path: Path, provenance: Provenance
) -> tuple[BadInputError, ...]:
    """Return the findings of a file that are faults of it, each as what was expected and what came."""
    codes = EXPECTED if provenance.source == OWN_CSV else FOREIGN_FAULTS
    return tuple(
        BadInputError(str(path), "", expected=EXPECTED[finding.code], got=finding.message)
        for finding in findings
        if finding.code in codes
    )


def require_sound(path: Path, dataset: Dataset) -> Dataset:
    """Refuse a dataset whose samples are faulty, or lack a GPU that a run's truth counts.

    Nothing may be calibrated or scored on half of a run: its truth is of all its GPUs.

    Raises
    ------
    BadInputError
        Naming the first fault.
    """
    if faults := input_faults(path, dataset.recording):
        raise faults[0]
    require_gpus(path, dataset.recording, dataset.runs)
    return dataset


def require_gpus(path: Path, recording: Recording, runs: Iterable[Run]) -> None:
    """Refuse runs on more GPUs than the recording saw while they ran.

    Raises
    ------
    BadInputError
        Naming the first such run.
    """
    for run in runs:
        expected = run.config.parameters.get("n_gpus")
        seen = sum(len(trace.within(run.start_ns, run.stop_ns)) > 0 for trace in recording.traces)
        if isinstance(expected, int) and seen < expected:
            raise BadInputError(
                str(path),
                f"run {run.config.name!r}",
                expected=f"samples of {expected} GPUs while it ran",
                got=f"samples of {seen}",
            )
