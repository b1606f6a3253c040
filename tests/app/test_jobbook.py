"""A book adds up jobs, and takes them up again from what a journal holds."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from detect.jobs.made import DENSE, IDLE, SECOND, stretches_of
from flopwitness.app.cli.joblines import job_object
from flopwitness.app.jobbook import JobBook
from flopwitness.app.tally import stub_session
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.estimate import Estimate
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.session import Session
from flopwitness.core.workload import Target

TRACE = stretches_of((IDLE, 5, 1), (DENSE, 30, 40), (IDLE, 6, 40), (DENSE, 30, 40), (IDLE, 5, 1))
FIRST, SECOND_PART = detected_sessions(Recording("made", (TRACE,), Provenance("made")))
CUT_NS = FIRST.stop_ns + SECOND
ESTIMATES = {Target.EXECUTED: {"fused": Estimate(2e15, 1e15, float("inf"), 0.9, "fused", Target.EXECUTED)}}


def stub(session: Session) -> Session:
    """Return a session as a daemon tells it, without samples."""
    return stub_session(session.start_ns, session.stop_ns, [TRACE.device], session.name)


def entry_of(book: JobBook) -> Mapping[str, Any]:
    """Return what a journal holds of the first session."""
    book.observe((TRACE.within(0, CUT_NS),))
    job = book.add(stub(FIRST), ESTIMATES)
    stretch = {"session_id": FIRST.session_id, "start_ns": FIRST.start_ns, "stop_ns": FIRST.stop_ns}
    found: Mapping[str, Any] = json.loads(json.dumps(stretch | {"job": job_object(job)}, allow_nan=False))
    return found


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_run_goes_on_across_a_restart(is_restarted: bool):
    """The new daemon saw a part of the pause alone: the same job, the same total, unbounded as it was."""
    book = JobBook()
    entry = entry_of(book)
    if is_restarted:
        book = JobBook()
        book.resume(entry)

    book.observe((TRACE.within(CUT_NS + 1, int(TRACE.time_ns[-1])),))
    job = book.add(stub(SECOND_PART), ESTIMATES)

    assert (job.placed.job_id, job.placed.number, job.placed.n_sessions) == (FIRST.session_id, 1, 2)
    assert job.placed.link is not None
    assert "memory held" in job.placed.link.reason
    assert job.total.n_sessions == 2
    assert job.total.flop[Target.EXECUTED]["fused"] == (4e15, 2e15, float("inf"))


@pytest.mark.parametrize("job", [None, {}, {"mark": None}, {"mark": {"signature": [1.0]}}])
def test_entries_without_a_mark_are_passed_over(job: object):
    """Journals of earlier versions hold none, or another one."""
    book = JobBook()

    book.resume({"session_id": "x", "start_ns": 0, "stop_ns": 1, "job": job})
    book.observe((TRACE,))

    assert book.add(stub(FIRST), ESTIMATES).placed.number == 1
