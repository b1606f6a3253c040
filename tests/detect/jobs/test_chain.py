"""Sessions of one run become one job, whatever it did to be seen as several; other jobs stay apart."""

import pytest

from contracts.detector import GPU_A, GPU_B
from detect.jobs.made import held, mark_at
from flopwitness.core.device import Device
from flopwitness.detect.jobs.chain import MAX_PAUSE_SECONDS, N_MARKS, JobChain, Placed
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.memory import MemoryRuns

HELD = {GPU_A.uuid: held((0, 10_000, 40))}
OTHER_SHIFT = 0.5


def placed(*marks: Mark, memory: dict[str, MemoryRuns] | None = None) -> list[Placed]:
    """Return where each session of a fresh chain comes to stand."""
    chain = JobChain()
    return [chain.place(mark, memory or {}) for mark in marks]


def numbers(*marks: Mark, memory: dict[str, MemoryRuns] | None = None) -> list[int]:
    """Return the number of each session's job."""
    return [one.number for one in placed(*marks, memory=memory)]


@pytest.mark.parametrize("pause_seconds", [1.0, 6.0, 60.0, 599.0])
def test_a_paused_run_is_one_job(pause_seconds: float):
    """However long it slept, as long as it kept its memory: even if its steps then look different."""
    marks = [mark_at(0, 100), mark_at(100 + pause_seconds, 900, shift=OTHER_SHIFT)]

    assert numbers(*marks, memory=HELD) == [1, 1]


def test_a_link_says_why():
    """In words, with its probability; the job is named after its first session."""
    first, second = placed(mark_at(0, 100), mark_at(106, 200), memory=HELD)

    assert (first.job_id, first.n_sessions, first.link) == ("0-100", 1, None)
    assert (second.job_id, second.n_sessions) == ("0-100", 2)
    assert second.link is not None
    assert second.link.session_id == "0-100"
    assert second.link.probability > 0.99
    assert second.link.odds == "p > 0.99"
    assert second.link.reason == "same GPUs, after 6 s, memory held, same signature of a step"


def test_different_jobs_one_after_another_stay_apart():
    """Memory given back and other steps."""
    released = {GPU_A.uuid: held((0, 102, 40), (103, 105, 1), (107, 200, 40))}
    marks = [mark_at(0, 100), mark_at(106, 200, shift=OTHER_SHIFT)]

    assert numbers(*marks, memory=released) == [1, 2]


def test_a_run_that_gave_its_memory_back_is_known_by_steps_and_footprint():
    """A checkpoint, an exit and a restart."""
    released = {GPU_A.uuid: held((0, 102, 40), (103, 105, 1), (110, 200, 40))}

    assert numbers(mark_at(0, 100), mark_at(106, 200), memory=released) == [1, 1]


def test_a_run_handed_to_another_gpu_is_one_job():
    """And back again; on another host it is another job."""
    away = Device("GPU-c", host="elsewhere")

    assert numbers(mark_at(0, 100), mark_at(101, 200, devices=(GPU_B,)), mark_at(201, 300)) == [1, 1, 1]
    assert numbers(mark_at(0, 100), mark_at(101, 200, devices=(away,))) == [1, 2]


def test_two_jobs_that_run_at_once_are_two():
    """A hand-over overlaps by moments, not by minutes; on one GPU nothing overlaps."""
    assert numbers(mark_at(0, 100), mark_at(99, 200, devices=(GPU_B,))) == [1, 1]
    assert numbers(mark_at(0, 100), mark_at(50, 200, devices=(GPU_B,))) == [1, 2]
    assert numbers(mark_at(0, 100), mark_at(99, 200)) == [1, 2]


def test_a_job_returns_after_another_ran_in_its_pause():
    """The best earlier job is taken, not the last one."""
    marks = [
        mark_at(0, 100),
        mark_at(110, 150, shift=OTHER_SHIFT, gib=20),
        mark_at(160, 200),
    ]

    assert numbers(*marks) == [1, 2, 1]


def test_a_job_stays_open_for_ten_minutes_or_as_long_as_it_worked():
    """A pause beyond doubles its device time."""
    late = 100 + MAX_PAUSE_SECONDS + 1

    assert numbers(mark_at(0, 100), mark_at(late, late + 50)) == [1, 2]
    assert numbers(mark_at(0, 5000), mark_at(9000, 9100)) == [1, 1]


def test_memory_of_the_chain_is_bounded():
    """A job keeps its latest marks, and a job that is over is forgotten."""
    chain = JobChain()
    for number in range(50):
        chain.place(mark_at(20 * number, 20 * number + 10), {})

    assert len(chain.open_ids) == 1
    chain.place(mark_at(10_000, 10_100), {})
    assert chain.open_ids == {"10000-10100"}
    assert N_MARKS < 50
