"""What a user sees of a bad input: one line that names it, status 2, and what was good is kept."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.recordings import (
    HEADER,
    Rows,
    repeated_row,
    second_gpu_lost,
    text_in_power,
    unsorted_times,
    with_cell,
    without_second_gpu,
    write_folder,
)
from flopwitness.app.cli.main import status_of
from flopwitness.app.opening import SHIPPED

NOBODY = 65534


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused; return its one line."""
    status = status_of(arguments)
    said = capsys.readouterr().err.strip()

    assert status == 2, said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    return said


UNUSABLE = {
    "empty file": "",
    "header alone": HEADER + "\n",
    "wrong columns": "a,b,c\n1,2,3\n",
    "not text": "\x00\x01\x02",
}


@pytest.mark.parametrize("command", ["read", "estimate"])
@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_is_no_recording_is_refused_in_one_line(
    text: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the file, what was expected and what came."""
    path = tmp_path / "samples.csv"
    path.write_text(text)

    said = refused([command, str(path)], capsys)

    assert str(path) in said
    assert "expected" in said
    assert "got" in said


@pytest.mark.parametrize(
    ("spoil", "named"),
    [(text_in_power, "power_w"), (with_cell(10, "t", "inf"), "'t'")],
    ids=["text in every power", "infinite time"],
)
def test_cells_that_leave_nothing_to_go_by_refuse_the_file(
    spoil: Callable[[Rows], Rows], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column without a number, or a row without a time, cannot be worked around."""
    folder = write_folder(tmp_path / "bad", spoil)

    said = refused(["read", str(folder / "samples.csv")], capsys)

    assert named in said
    assert "line" in said


PARTLY_GOOD = {
    "text in one cell": (with_cell(100, "power_w", "high"), "power_w"),
    "infinite value": (with_cell(100, "energy_mj", "inf"), "energy_mj"),
    "unsorted times": (unsorted_times, "time runs back"),
    "duplicate times": (repeated_row, "repeat a time stamp"),
    "a GPU that goes silent": (second_gpu_lost, "last sample"),
}


@pytest.mark.parametrize(("spoil", "named"), PARTLY_GOOD.values(), ids=PARTLY_GOOD)
def test_a_damaged_recording_is_answered_and_its_damage_is_said(
    spoil: Callable[[Rows], Rows], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Data on standard output, one line a fault on standard error, status 2: no script takes it for clean."""
    folder = write_folder(tmp_path / "bad", spoil)

    status = status_of(["read", str(folder), "--json"])
    out, err = capsys.readouterr()

    assert status == 2
    assert {device["uuid"] for device in json.loads(out)["devices"]} == {"bad:0", "bad:1"}
    assert all(line.startswith(f"flopwitness: {folder}: expected ") for line in err.splitlines())
    assert named in err


@pytest.mark.parametrize("spoil", [without_second_gpu, unsorted_times, with_cell(100, "power_w", "high")])
def test_nothing_is_calibrated_on_half_of_the_evidence(
    spoil: Callable[[Rows], Rows], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A truth of two GPUs beside samples of one would teach an estimator a lie; so would damaged samples."""
    folder = write_folder(tmp_path / "bad", spoil)
    output = tmp_path / "calibration.json"

    said = refused(["calibrate", str(folder), "--output", str(output)], capsys)

    assert str(folder) in said
    assert not output.exists()


def test_windows_of_more_gpus_than_were_seen_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An estimate of one GPU is no estimate of a run on two."""
    folder = write_folder(tmp_path / "one", without_second_gpu)

    said = refused(["estimate", str(folder), "--windows", str(folder / "runs.json")], capsys)

    assert "2 GPUs" in said


@pytest.mark.parametrize("command", ["read", "estimate"])
def test_a_folder_without_samples_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A directory is no recording unless it holds one."""
    assert str(tmp_path) in refused([command, str(tmp_path)], capsys)


@pytest.mark.parametrize("command", ["read", "estimate", "evaluate"])
def test_a_path_that_is_not_there_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the path."""
    path = tmp_path / "nothing"

    assert str(path) in refused([command, str(path)], capsys)


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    """A real process of a user who may not read the file; root may read everything."""
    folder = write_folder(tmp_path / "locked")
    path = folder / "samples.csv"
    path.chmod(0)
    for parent in path.parents:
        if parent.is_relative_to(Path(tempfile.gettempdir())) and parent != Path(tempfile.gettempdir()):
            parent.chmod(0o755)  # the folders are the test run's own; the file stays locked
    code = (  # root reads a good one first, so that nothing is left to import when its rights are gone
        "import os, sys; from flopwitness.app.cli.main import status_of; status_of(['read', sys.argv[1]]); "
        f"os.getuid() or os.setuid({NOBODY}); sys.exit(status_of(['read', sys.argv[2]]))"
    )
    good = write_folder(tmp_path / "open")

    ended = subprocess.run(
        [sys.executable, "-c", code, str(good), str(path)], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2, ended.stderr
    assert "permission denied" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '{"format": "flopwitness-calibration", "version": 99}'])
def test_a_file_that_is_no_calibration_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recording is fine; the calibration is named."""
    folder = write_folder(tmp_path / "good")
    path = tmp_path / "calibration.json"
    path.write_text(text)

    assert "calibration" in refused(["estimate", str(folder), "--calibration", str(path)], capsys)


def test_a_recording_of_another_chip_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one chip's cycles are worth says nothing of another's, so a calibration that is named must fit."""
    folder = write_folder(tmp_path / "good")
    other = ["--chip", "Tesla V100-SXM2-16GB", "--calibration", str(SHIPPED / "h200-sxm.json")]

    assert "V100-SXM2" in refused(["estimate", str(folder), *other], capsys)


def test_an_unknown_option_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Misuse of the command line looks like any other."""
    refused(["read", "--sideways"], capsys)


def test_an_existing_calibration_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing overwrites without --force."""
    folder = write_folder(tmp_path / "good")
    output = tmp_path / "calibration.json"
    output.write_text("mine")

    said = refused(["convert", str(folder), "--output", str(output)], capsys)

    assert str(output) in said
    assert output.read_text() == "mine"
