"""Datasets as folders: ``samples.parquet``, ``runs.json`` and ``card.md``, all three or nothing."""

import os
import shutil
from pathlib import Path

from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Run
from flopwitness.storage.atomic import reason, refuse_taken, sync_folder, temporary_beside, write_atomically
from flopwitness.storage.documents import read_document, write_document
from flopwitness.storage.nouns import rebuilt, run_from, run_to
from flopwitness.storage.recordings import read_recording, write_recording

KIND = "flopwitness-runs"
VERSION = 1

SAMPLES, RUNS, CARD = "samples.parquet", "runs.json", "card.md"


def write_dataset(folder: Path, dataset: Dataset, card: str) -> None:
    """Write a dataset into a new folder, whole or not at all.

    Parameters
    ----------
    folder : Path
        Must not exist; the folder above it must.
    dataset : Dataset
        Samples and runs.
    card : str
        Markdown for people: devices, driver, method, ground truth, faults, licence, splits.

    Raises
    ------
    BadInputError
        When the name is taken or the disk refuses.
    """
    folder = Path(folder)
    refuse_taken(folder)
    temporary = temporary_beside(folder)
    try:
        temporary.mkdir()
        _fill(temporary, dataset, card)
        os.rename(temporary, folder)  # noqa: PTH104 - fails on a folder with content, as it must
        sync_folder(folder.parent)
    except OSError as error:
        raise BadInputError(str(folder), "", expected="a folder to write to", got=reason(error)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_dataset(folder: Path) -> Dataset:
    """Return what was written; ``BadInputError`` where a file is missing, damaged or of another version."""
    folder = Path(folder)
    if not folder.is_dir():
        raise BadInputError(str(folder), "", expected="a dataset folder", got="none")
    runs, skipped = read_dataset_runs(folder / RUNS)
    return Dataset(read_recording(folder / SAMPLES), runs, skipped)


def read_dataset_runs(path: Path) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """Return the runs of a dataset's ``runs.json``, and a sentence for each one that was skipped."""
    content = read_document(path, kind=KIND, version=VERSION)
    runs = rebuilt(str(path), "field 'runs'", lambda: tuple(run_from(run) for run in content["runs"]))
    skipped = rebuilt(str(path), "field 'skipped'", lambda: tuple(str(text) for text in content["skipped"]))
    return runs, skipped


def _fill(folder: Path, dataset: Dataset, card: str) -> None:
    content = {
        "format": KIND,
        "version": VERSION,
        "runs": [run_to(run) for run in dataset.runs],
        "skipped": list(dataset.skipped),
    }
    write_recording(folder / SAMPLES, dataset.recording, compact=True)
    write_document(folder / RUNS, content)
    write_atomically(folder / CARD, lambda out: out.write(card.encode()))
