"""Slurm's prolog and epilog, run for real: what they write down, and that they never fail a job."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from flopwitness.app.cli.watch import run as run_watch
from flopwitness.telemetry.scheduling.hpc_map import holdings
from flopwitness.telemetry.scheduling.job_log import JobLog
from source_tree import ROOT

SCRIPTS = ROOT / "deploy" / "slurm"
NODE_B = ROOT / "datasets" / "h200x2-b"
SHELLS = [name for name in ("sh", "dash", "bash") if shutil.which(name)]
INFORMATION = (
    "Model: \t\t NVIDIA H200\nIRQ:   \t\t 9\nGPU UUID: \t {}\nBus Location: \t {}\nDevice Minor: \t {}\n"
)


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """Return the driver's folder of a host with three GPUs whose minors run against the bus."""
    folder = tmp_path / "driver"
    gpus = (
        ("0000:19:00.0", "h200x2-b:0", 2),
        ("0000:3b:00.0", "h200x2-b:1", 1),
        ("0000:83:00.0", "GPU-c", 0),
    )
    for bus, uuid, minor in gpus:
        (folder / "gpus" / bus).mkdir(parents=True)
        text = INFORMATION.format(uuid, bus, minor)
        (folder / "gpus" / bus / "information").write_text(text, encoding="utf-8")
    return folder


def ran(script: str, folder: Path, shell: str = "sh", **environment: str) -> str:
    """Run a script with nothing but this environment; return what it said. It must leave with 0."""
    places = {"FLOPWITNESS_JOBS": str(folder / "jobs"), "FLOPWITNESS_DRIVER": str(folder / "driver")}
    ended = subprocess.run(
        [shell, str(SCRIPTS / f"{script}.sh")],
        env={"PATH": "/usr/bin:/bin", "SLURMD_NODENAME": "n1"} | places | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "")
    return ended.stderr


def lines_of(folder: Path) -> list[dict[str, object]]:
    """Return the journal."""
    journal = folder / "jobs" / "jobs.jsonl"
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.usefixtures("driver")
def test_a_job_is_written_down_by_the_uuids_of_its_gpus(tmp_path: Path, shell: str):
    """Slurm numbers them as the device files do; dcgm-exporter's map by their place on the bus."""
    assert ran("prolog", tmp_path, shell, SLURM_JOB_ID="17", SLURM_JOB_GPUS="1,2") == ""

    (start,) = lines_of(tmp_path)
    assert (start["event"], start["job_id"], start["host"]) == ("start", "17", "n1")
    assert start["gpus"] == ["h200x2-b:0", "h200x2-b:1"]
    assert {(one.job_id, one.index) for one in holdings(tmp_path / "jobs")} == {("17", 0), ("17", 1)}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.usefixtures("driver")
def test_the_end_closes_the_window_and_leaves_other_jobs_alone(tmp_path: Path, shell: str):
    """Two jobs share a GPU; the one that ends is taken out of the map."""
    ran("prolog", tmp_path, shell, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0-2")
    ran("prolog", tmp_path, shell, SLURM_JOB_ID="18", SLURM_JOB_GPUS="0")

    assert ran("epilog", tmp_path, shell, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0-2") == ""

    log = JobLog(tmp_path / "jobs" / "jobs.jsonl", lambda *_: ())
    log.look()
    assert [(one.job_id, one.stop_ns is None) for one in log.windows] == [("17", False), ("18", True)]
    assert log.n_refused == 0
    assert [(one.job_id, one.index) for one in holdings(tmp_path / "jobs")] == [("18", 2)]
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == [".lock", "2", "jobs.jsonl"]


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ("0,7", "1 of 2 GPUs found"),
        ("0-7", "3 of 8 GPUs found"),
        ("$(reboot)", "GPUs '$(reboot)'"),
        ("0,,1", "GPUs '0,,1'"),
        ("-1", "GPUs '-1'"),
        ("1-", "GPUs '1-'"),
        ("0-1-2", "GPUs '0-1-2'"),
    ],
)
def test_what_cannot_be_resolved_is_not_written_and_fails_no_job(tmp_path: Path, gpus: str, words: str):
    """A window without one of its GPUs would understate the job."""
    said = ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS=gpus)

    assert words in said
    assert lines_of(tmp_path) == []
    assert holdings(tmp_path / "jobs") == ()


@pytest.mark.parametrize("script", ["prolog", "epilog"])
@pytest.mark.usefixtures("driver")
def test_a_job_without_gpus_leaves_no_trace(tmp_path: Path, script: str):
    """It needs no witness."""
    assert ran("prolog", tmp_path, SLURM_JOB_ID="1", SLURM_JOB_GPUS="0") == ""

    assert ran(script, tmp_path, SLURM_JOB_ID="17") == ""

    assert len(lines_of(tmp_path)) == 1


@pytest.mark.parametrize("script", ["prolog", "epilog"])
@pytest.mark.usefixtures("driver")
def test_a_job_id_is_a_number(tmp_path: Path, script: str):
    """Nothing else goes into the journal."""
    (tmp_path / "jobs").mkdir()

    assert "no job id" in ran(script, tmp_path, SLURM_JOB_ID='1"', SLURM_JOB_GPUS="0")
    assert "no job id" in ran(script, tmp_path, SLURM_JOB_GPUS="0")
    assert lines_of(tmp_path) == []


def test_a_gpu_that_was_never_opened_and_a_partitioned_one_are_refused(tmp_path: Path, driver: Path):
    """The driver prints question marks for the first; a number of a slice is no GPU's."""
    path = driver / "gpus" / "0000:83:00.0" / "information"
    path.write_text(path.read_text().replace("GPU-c", "GPU-????"), encoding="utf-8")
    assert "0 of 1" in ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0")

    (driver / "capabilities" / "gpu1" / "mig" / "gi3").mkdir(parents=True)
    assert "MIG" in ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="1")
    assert lines_of(tmp_path) == []


@pytest.mark.usefixtures("driver")
def test_a_line_that_a_crash_cut_off_costs_itself(tmp_path: Path):
    """The next is on a line of its own."""
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "jobs.jsonl").write_text('{"event":"sta', encoding="utf-8")

    ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0")

    log = JobLog(tmp_path / "jobs" / "jobs.jsonl", lambda *_: ())
    log.look()
    assert ([one.job_id for one in log.windows], log.n_refused) == (["17"], 1)


def test_without_a_driver_or_a_folder_no_job_fails(tmp_path: Path):
    """A node of another kind may run them too."""
    assert "0 of 1" in ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0")
    shutil.rmtree(tmp_path / "jobs")
    (tmp_path / "jobs").touch()
    assert "cannot write" in ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0")
    assert "cannot write" in ran("epilog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="0")


@pytest.mark.usefixtures("driver")
def test_a_replay_gives_its_sessions_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The script writes the journal, ``watch`` reads it; the start is set back to before the recording."""
    ran("prolog", tmp_path, SLURM_JOB_ID="17", SLURM_JOB_GPUS="1,2")
    journal = tmp_path / "jobs" / "jobs.jsonl"
    (start,) = lines_of(tmp_path)
    journal.write_text(json.dumps(start | {"at": "2020-01-01T00:00:00Z"}) + "\n", encoding="utf-8")

    run_watch(replay=NODE_B, jobs=tmp_path / "jobs", json=True)
    with_jobs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    run_watch(replay=NODE_B, json=True, once=True)
    without = json.loads(capsys.readouterr().out)

    assert len(with_jobs) > 1
    assert all(one["scheduler_job_ids"] == ["17"] for one in with_jobs)
    assert without["scheduler_job_ids"] is None


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_scripts_are_clean():
    """As ``shellcheck`` reads POSIX sh."""
    found = subprocess.run(["shellcheck", *SCRIPTS.glob("*.sh")], capture_output=True, text=True, check=False)

    assert found.stdout == ""
