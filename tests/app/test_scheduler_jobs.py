"""Sessions get the job of the scheduler that held their GPUs at the time: by UUID, or not at all."""

import json
import os
from pathlib import Path

import pytest

from contracts.detector import GPU_A, GPU_B, trace_of
from flopwitness.app.scheduler_jobs import SchedulerJobs, ids_of
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.session import Session
from flopwitness.telemetry.scheduling.windows import JobWindow

SECOND = 10**9
SLOW, FAST = Device("GPU-slow", chip="A100-SXM"), Device("GPU-fast", chip="H200-SXM")


def session(*devices: Device, start: float = 10, stop: float = 20) -> Session:
    """Return a session of these GPUs, in seconds."""
    traces = tuple(trace_of([], device) for device in devices)
    return Session(round(start * SECOND), round(stop * SECOND), traces)


def logged(folder: Path, *lines: dict[str, object]) -> Path:
    """Write a journal of jobs."""
    (folder / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def start(job_id: str, **more: object) -> dict[str, object]:
    """Return a start at the epoch."""
    return {"event": "start", "job_id": job_id, "at": "1970-01-01T00:00:00Z"} | more


def test_a_session_has_the_jobs_that_held_one_of_its_gpus_meanwhile():
    """The one with most of it first; neither another GPU's nor another time's."""
    windows = [
        JobWindow("before", (GPU_A.uuid,), 0, 10 * SECOND),
        JobWindow("most", (GPU_A.uuid,), 0, 17 * SECOND),
        JobWindow("rest", (GPU_A.uuid,), 17 * SECOND),
        JobWindow("other", (GPU_B.uuid,), 0),
    ]

    assert ids_of(windows, session(GPU_A)) == ("most", "rest")
    assert ids_of([], session(GPU_A)) == ()


def test_the_journal_names_gpus_by_uuid(tmp_path: Path):
    """An index of the job's own counts nothing: the session of its GPU is found."""
    jobs = SchedulerJobs(logged(tmp_path, start("17", gpus=[GPU_B.uuid])), (GPU_A, GPU_B))

    assert jobs.job_ids(session(GPU_B)) == ("17",)
    assert jobs.job_ids(session(GPU_A)) == ()


@pytest.mark.parametrize(
    ("order", "held", "free"), [("FASTEST_FIRST", FAST, SLOW), ("PCI_BUS_ID", SLOW, FAST)]
)
def test_visible_devices_are_resolved_by_the_order_of_the_job(
    tmp_path: Path, order: str, held: Device, free: Device
):
    """CUDA puts the fastest GPU first unless it is told otherwise."""
    folder = logged(tmp_path, start("17", visible_devices="0", device_order=order))
    jobs = SchedulerJobs(folder, (SLOW, FAST), pci_uuids=(SLOW.uuid, FAST.uuid))

    assert (jobs.job_ids(session(held)), jobs.job_ids(session(free))) == (("17",), ())


def test_a_chip_that_nobody_knows_has_a_place_on_the_bus_alone(tmp_path: Path):
    """How fast it is is not guessed."""
    odd = Device("GPU-odd", chip="something")
    lines = [start(name, visible_devices="0", device_order=name) for name in ("PCI_BUS_ID", "FASTEST_FIRST")]
    jobs = SchedulerJobs(logged(tmp_path, *lines), (odd, FAST), pci_uuids=(odd.uuid, FAST.uuid))

    assert jobs.job_ids(session(odd, FAST)) == ("PCI_BUS_ID",)


@pytest.mark.parametrize(("order", "pci"), [("", True), ("PCI_BUS_ID", False)])
def test_an_index_that_may_be_either_gpu_is_refused(tmp_path: Path, order: str, pci: bool):
    """Where the job's order is not known, or the host's GPUs are not; a finding says so."""
    folder = logged(tmp_path, start("17", visible_devices="0", device_order=order))
    jobs = SchedulerJobs(folder, (SLOW, FAST), pci_uuids=(SLOW.uuid, FAST.uuid) if pci else ())

    assert jobs.job_ids(session(SLOW, FAST)) == ()
    assert jobs.findings()[0].code == "job-log"


def test_uuids_need_no_order_of_gpus(tmp_path: Path):
    """A replay does not know how its host numbered them."""
    folder = logged(tmp_path, start("17", visible_devices="GPU-fast"))

    assert SchedulerJobs(folder, (SLOW, FAST)).job_ids(session(FAST)) == ("17",)


def test_the_map_holds_from_when_it_was_written_until_it_is_gone(tmp_path: Path):
    """As of the looks: the window of a job that left ends there."""
    jobs = SchedulerJobs(tmp_path, (GPU_A, GPU_B), pci_uuids=(GPU_A.uuid, GPU_B.uuid))
    (tmp_path / "1").write_text("17\n", encoding="utf-8")
    os.utime(tmp_path / "1", ns=(12 * SECOND, 12 * SECOND))

    jobs.look(13 * SECOND)
    (tmp_path / "1").unlink()
    jobs.look(18 * SECOND)
    jobs.look(19 * SECOND)

    assert jobs.windows() == (JobWindow("17", (GPU_B.uuid,), 12 * SECOND, 18 * SECOND),)
    assert jobs.job_ids(session(GPU_B)) == ("17",)


def test_a_second_job_on_a_gpu_leaves_the_first_its_start(tmp_path: Path):
    """The file is written anew with each job that comes to share the GPU."""
    jobs = SchedulerJobs(tmp_path, (GPU_A,), pci_uuids=(GPU_A.uuid,))
    for at, ids in ((2, "17\n"), (9, "17\n18\n")):
        (tmp_path / "0").write_text(ids, encoding="utf-8")
        os.utime(tmp_path / "0", ns=(at * SECOND, at * SECOND))
        jobs.look(at * SECOND)

    assert [(one.job_id, one.start_ns) for one in jobs.windows()] == [("17", 2 * SECOND), ("18", 9 * SECOND)]


def test_a_map_whose_order_is_not_known_is_passed_over_and_said_once(tmp_path: Path):
    """Neither GPU gets the job."""
    said: list[str] = []
    (tmp_path / "0").write_text("17\n", encoding="utf-8")
    jobs = SchedulerJobs(tmp_path, (GPU_A, GPU_B), say=said.append)

    jobs.look(5 * SECOND)
    jobs.look(6 * SECOND)

    assert jobs.windows() == ()
    assert len(said) == 1
    assert "could be several" in said[0]


def test_a_job_in_both_is_taken_from_the_journal(tmp_path: Path):
    """It knows the instants; the map would add a second window."""
    jobs = SchedulerJobs(logged(tmp_path, start("17", gpus=[GPU_A.uuid])), (GPU_A,), pci_uuids=(GPU_A.uuid,))
    (tmp_path / "0").write_text("17\n", encoding="utf-8")

    jobs.look(10**18)

    assert jobs.windows() == (JobWindow("17", (GPU_A.uuid,), 0),)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path):
    """A misspelt one would look like a scheduler without jobs."""
    with pytest.raises(BadInputError, match="a folder of jobs"):
        SchedulerJobs(tmp_path / "none", (GPU_A,))
