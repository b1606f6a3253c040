"""Jobs in tables, lines and JSON: why sessions belong together, and sums."""

import json

from detect.jobs.made import mark_at
from flopwitness.app.cli.joblines import COLUMNS, job_line, job_object, job_rows, jobs_so_far
from flopwitness.app.tally import stub_session
from flopwitness.app.witnessing import Witnessed
from flopwitness.core.device import Device
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import JobChain

SECOND = 1_000_000_000
METHODS = ("fused", "linear-power")


def answer_of(start: int, stop: int, high_flop: float = 3e15) -> Witnessed:
    """Return a session of one estimate."""
    estimate = Estimate(2e15, 1e15, high_flop, 0.9, "fused", Target.EXECUTED)
    session = stub_session(start * SECOND, stop * SECOND, [Device("GPU-a")], "")
    return Witnessed(session, {Target.EXECUTED: {"fused": estimate}}, ())


def chained() -> tuple:
    """Return where three sessions stand, the last of another program."""
    chain = JobChain()
    marks = (mark_at(0, 100), mark_at(106, 200), mark_at(210, 300, shift=0.5, gib=10))
    return tuple(chain.place(mark, {}) for mark in marks)


ANSWERS = (answer_of(0, 100), answer_of(106, 200, float("inf")), answer_of(210, 300))
PLACED = chained()
JOBS = jobs_so_far(PLACED, ANSWERS)


def test_a_job_has_a_row_with_its_sums_and_its_weakest_link():
    """Unbounded stays unbounded; a job of one session is among the sessions already."""
    (row,) = job_rows(PLACED, ANSWERS, Target.EXECUTED, methods=METHODS)

    assert len(row) == len(COLUMNS)
    assert row[:1] + row[3:8] == ("1", "2", "4e+15", "2e+15", "inf", "fused")
    assert row[8].startswith("p > 0.99: same GPUs")
    assert job_rows(PLACED[:1], ANSWERS[:1], Target.EXECUTED, methods=METHODS) == []


def test_a_method_without_a_total_is_a_dash():
    """Another target was not estimated."""
    (row,) = job_rows(PLACED, ANSWERS, Target.ALGORITHMIC, methods=METHODS)

    assert row[4:8] == ("-", "-", "-", "none")


def test_a_line_says_what_is_continued_and_why():
    """The first session of a job has none."""
    assert job_line(JOBS[0], Target.EXECUTED, METHODS) == ""
    line = job_line(JOBS[1], Target.EXECUTED, METHODS)
    assert line.startswith("continues job 1 (p > 0.99): same GPUs, after 6 s, same memory footprint")
    assert line.endswith("2 sessions so far, 4e+15 FLOP [2e+15, inf] fused")


def test_json_values_hold_evidence_and_sums():
    """An unbounded end is null, as in the estimates."""
    found = json.loads(json.dumps(job_object(JOBS[1]), allow_nan=False))

    assert (found["job_id"], found["number"], found["n_sessions"]) == ("0-100", 1, 2)
    assert found["link"]["continues"] == "0-100"
    assert {one["kind"] for one in found["link"]["evidence"]} >= {"prior", "devices", "signature"}
    assert found["flop"]["executed"]["fused"] == {"point_flop": 4e15, "low_flop": 2e15, "high_flop": None}
    assert job_object(JOBS[0])["link"] is None
