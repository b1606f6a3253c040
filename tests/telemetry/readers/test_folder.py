"""A capture as the recorder leaves it: samples and runs in one folder."""

import gzip
import json
from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.folder import read_dataset_folder
from telemetry.recording_files import ticks, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two seconds of two GPUs and one run inside them."""
    folder = tmp_path / "night"
    folder.mkdir()
    write(folder, ticks(20)).rename(folder / "samples.csv")
    put_runs(folder, 1770091506.5)
    return folder


def put_runs(folder: Path, *starts: float) -> None:
    """Write runs of half a second each."""
    runs = [
        {"name": f"r{k}", "t_start": start, "t_end": start + 0.5, "lr": 1} for k, start in enumerate(starts)
    ]
    (folder / "runs.json").write_text(json.dumps(runs))


def test_samples_and_runs_become_a_dataset(folder: Path):
    """The folder names the capture; what the files do not say is handed on."""
    dataset = read_dataset_folder(folder, driver="580", chip="H100-SXM", executed_flop=lambda _: 5.0)

    assert dataset.recording.name == "night"
    assert [trace.device.uuid for trace in dataset.recording.traces] == ["night:0", "night:1"]
    assert (dataset.chips, dataset.recording.provenance.driver) == (frozenset({"H100-SXM"}), "580")
    assert dataset.runs[0].truth.executed_flop == 5.0
    assert dataset.session(dataset.runs[0]).n_samples == 11


def test_packed_samples_are_found(folder: Path):
    """Either name will do, but both together are ambiguous."""
    plain = read_dataset_folder(folder)
    (folder / "samples.csv.gz").write_bytes(gzip.compress((folder / "samples.csv").read_bytes()))
    with pytest.raises(BadInputError, match="got 2 of them"):
        read_dataset_folder(folder)

    (folder / "samples.csv").unlink()

    assert read_dataset_folder(folder).recording.traces == plain.recording.traces


def test_a_run_that_nobody_sampled_is_skipped(folder: Path):
    """Truth without evidence teaches nothing; the reason is kept."""
    put_runs(folder, 1770091506.5, 1770091600)

    dataset = read_dataset_folder(folder)

    assert [run.config.name for run in dataset.runs] == ["r0"]
    assert dataset.skipped == ("run 'r1': no sample lies in it",)


@pytest.mark.parametrize("name", ["samples.csv", "runs.json"])
def test_a_missing_file_is_named(folder: Path, name: str):
    """Half a capture is refused."""
    (folder / name).unlink()

    with pytest.raises(BadInputError, match=name):
        read_dataset_folder(folder)


def test_what_is_no_folder_is_refused(folder: Path):
    """A file, or nothing."""
    for path in (folder / "samples.csv", folder / "none"):
        with pytest.raises(BadInputError, match="expected a folder, got none"):
            read_dataset_folder(path)
