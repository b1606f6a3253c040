"""A folder of one capture as the recorder left it: ``samples.csv`` (or ``.csv.gz``) and ``runs.json``."""

from pathlib import Path

from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Run
from flopwitness.telemetry.readers.nvml_csv import read_recording_csv
from flopwitness.telemetry.readers.runs_json import ExecutedFlop, read_runs

SAMPLES = ("samples.csv", "samples.csv.gz")


def read_dataset_folder(
    path: Path, *, executed_flop: ExecutedFlop | None = None, chip: str = "H200-SXM", driver: str = ""
) -> Dataset:
    """Read the samples and the runs of one capture; the folder's name becomes the capture's.

    Parameters
    ----------
    path : Path
        The folder.
    executed_flop : callable or None
        See ``read_runs``.
    chip, driver : str
        What the samples do not say.

    Returns
    -------
    Dataset
        A run with no sample of any device inside its stretch is skipped, with its reason.

    Raises
    ------
    BadInputError
        When the folder lacks a file, holds samples twice, or a file cannot be used.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise BadInputError(str(folder), "", expected="a folder", got="none")
    found = [folder / name for name in SAMPLES if (folder / name).exists()]
    if len(found) != 1:
        got = f"{len(found)} of them"
        raise BadInputError(str(folder), "", expected=f"either {' or '.join(SAMPLES)}", got=got)
    recording = read_recording_csv(found[0], name=folder.resolve().name, chip=chip, driver=driver)
    runs, skipped = read_runs(folder / "runs.json", executed_flop=executed_flop)
    unseen = tuple(
        f"run {run.config.name!r}: no sample lies in it" for run in runs if not _seen(recording, run)
    )
    return Dataset(recording, tuple(run for run in runs if _seen(recording, run)), (*skipped, *unseen))


def _seen(recording: Recording, run: Run) -> bool:
    return any(len(trace.within(run.start_ns, run.stop_ns)) for trace in recording.traces)
