"""The daemon finds and estimates what `estimate` does on the file, keeps before it tells, and tells once."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.live import FakeClock
from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.cli.joblines import job_object
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.jobbook import JobBook
from flopwitness.app.jobs import placed_jobs
from flopwitness.app.jobtotals import JobTotal
from flopwitness.app.liveview import LiveView, sparkline
from flopwitness.app.opening import open_recording, shipped_calibration
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.ticking import Round, batched
from flopwitness.app.witnessing import detected_sessions, witnessed
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityWatch
from flopwitness.detect.jobs.chain import Placed

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
CALIBRATION = shipped_calibration(["H200-SXM"])


class Heard:
    """Remembers what the daemon did, in order."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.told: list[Finished] = []

    def keep(self, finished: Finished) -> None:
        """Note it."""
        self.acts.append(f"keep {finished.witnessed.session.session_id}")

    def tell(self, finished: Finished) -> None:
        """Note it."""
        self.acts.append(f"tell {finished.witnessed.session.session_id}")
        self.told.append(finished)

    def append(self, _: Round) -> None:
        """Note a recorded batch."""
        self.acts.append("record")


def known_baselines(recording: Recording) -> IdleBaselines:
    """Return the idle power that the whole recording shows, as an earlier run of the daemon would have."""
    baselines = IdleBaselines()
    for trace in recording.traces:
        baselines.observe(trace)
    return baselines


def batches_of(recording: Recording) -> list[Round]:
    """Return what a live daemon would have been given."""
    return list(batched(replayed(ReplaySampler(recording), FakeClock(), speed=0)))


def daemon_of(
    heard: Heard, recording: Recording, *, chunk_seconds: float = 60.0, store: bool = False
) -> Daemon:
    """Return a daemon that knows nothing yet but the boards."""
    outputs = Outputs(lambda _: False, heard.keep, heard.tell, heard if store else None)
    finder = WorkloadFinder(ActivityWatch, chunk_seconds=chunk_seconds)
    return Daemon(finder, lambda _: CALIBRATION, outputs=outputs, baselines=known_baselines(recording))


def book_of(told: Sequence[Finished]) -> JobBook:
    """Return the book that a journal of these workloads gives after a restart."""
    book = JobBook()
    for one in told:
        assert one.job is not None
        session, job = one.witnessed.session, job_object(one.job)
        entry = {"session_id": session.session_id, "start_ns": session.start_ns, "stop_ns": session.stop_ns}
        book.resume(json.loads(json.dumps(entry | {"job": job})))
    return book


def standing(told: Sequence[Finished]) -> list[tuple[Placed, JobTotal]]:
    """Return where each workload stands and what its job has spent."""
    return [(one.job.placed, one.job.total) for one in told if one.job]


@pytest.mark.parametrize("chunk_seconds", [60.0, 15.0])
@pytest.mark.parametrize("name", ["h200x2-hang", "h200x2-b"])
def test_a_replay_gives_the_sessions_and_estimates_of_the_file(name: str, chunk_seconds: float):
    """Same stretches, devices, samples and estimates; the deadlock of five minutes is summed in pieces."""
    recording = open_recording(DATASETS / name)
    expected = witnessed(recording, detected_sessions(recording), CALIBRATION)
    heard = Heard()

    daemon_of(heard, recording, chunk_seconds=chunk_seconds).run(batches_of(recording))

    by_id = {finished.witnessed.session.session_id: finished for finished in heard.told}
    assert len(by_id) == len(heard.told) == len(expected)
    for one in expected:
        finished = by_id[one.session.session_id]
        assert finished.witnessed.session.name == one.session.name
        assert finished.n_samples == one.session.n_samples
        for target, by_name in one.estimates.items():
            for method, estimate in by_name.items():
                found = finished.witnessed.estimates[target][method]
                # The signature is searched for: asked alone it ends some 1e-9 beside its answer in a batch.
                tolerance = 1e-7 if method == "fused" else 1e-9
                assert found.point_flop == pytest.approx(estimate.point_flop, rel=tolerance)
                assert found.low_flop == pytest.approx(estimate.low_flop, rel=tolerance)
                assert found.high_flop == pytest.approx(estimate.high_flop, rel=tolerance)


def test_a_deadlock_is_an_alarm():
    """Five minutes held without work are said to be that."""
    recording = open_recording(DATASETS / "h200x2-hang")
    heard = Heard()

    daemon_of(heard, recording).run(batches_of(recording))

    alarms = [f for one in heard.told for f in one.witnessed.findings if f.severity.value == "alarm"]
    assert [alarm.code for alarm in alarms] == ["stalled"]
    assert "no work was done" in alarms[0].message


def test_samples_are_recorded_before_they_count_and_workloads_kept_before_they_are_told():
    """Nothing is acknowledged that a kill could take back."""
    recording = open_recording(DATASETS / "h200x2-b")
    heard = Heard()

    daemon_of(heard, recording, store=True).run(batches_of(recording)[:20])

    assert heard.acts[0] == "record"
    told = [act.removeprefix("tell ") for act in heard.acts if act.startswith("tell")]
    assert told
    for name in told:
        assert heard.acts.index(f"keep {name}") == heard.acts.index(f"tell {name}") - 1


def test_once_ends_with_the_first_finished_workload():
    """What is open then is not told."""
    recording = open_recording(DATASETS / "h200x2-b")
    heard = Heard()

    daemon_of(heard, recording).run(batches_of(recording), once=True)

    assert len(heard.told) == 1


def test_what_is_open_at_the_end_is_closed():
    """A daemon that is stopped amid a workload tells what it saw of it."""
    recording = open_recording(DATASETS / "h200x2-b")
    heard = Heard()
    batches = batches_of(recording)[:21]

    daemon_of(heard, recording).run(batches)

    last_ns = max(int(piece.time_ns[-1]) for piece in batches[-1])
    assert heard.told[-1].witnessed.session.stop_ns == last_ns


def test_after_a_restart_an_open_workload_continues_and_nothing_is_told_twice():
    """Recorded samples first, then new ones: together the workloads of the whole."""
    recording = open_recording(DATASETS / "h200x2-b")
    whole, before, after = Heard(), Heard(), Heard()
    batches = batches_of(recording)
    daemon_of(whole, recording).run(batches)
    killed = daemon_of(before, recording)
    for batch in batches[:60]:
        killed.recall([batch])
    known = {finished.witnessed.session.session_id for finished in before.told}

    outputs = Outputs(lambda session: session.session_id in known, after.keep, after.tell)
    again = Daemon(
        WorkloadFinder(ActivityWatch),
        lambda _: CALIBRATION,
        outputs=outputs,
        baselines=known_baselines(recording),
        jobs=book_of(before.told),
    )
    again.recall(batches[:60])
    again.run(batches[60:])

    ids = [one.witnessed.session.session_id for one in (*before.told, *after.told)]
    assert ids == [one.witnessed.session.session_id for one in whole.told]
    assert standing((*before.told, *after.told)) == standing(whole.told)


def test_the_daemon_tells_the_jobs_of_the_file_with_running_totals():
    """Each session where the whole recording places it; no FLOP lost between jobs."""
    recording = open_recording(DATASETS / "h200x2-c3")
    sessions = sorted(detected_sessions(recording), key=lambda one: one.stop_ns)
    expected = {
        one.session_id: place
        for one, place in zip(sessions, placed_jobs(sessions, recording.traces), strict=True)
    }
    heard = Heard()

    daemon_of(heard, recording).run(batches_of(recording))

    jobs = {one.witnessed.session.session_id: one.job for one in heard.told}
    assert {name: job.placed for name, job in jobs.items() if job} == expected
    latest = {job.placed.job_id: job.total.flop[Target.EXECUTED]["fused"][0] for job in jobs.values() if job}
    points = [one.witnessed.estimates[Target.EXECUTED]["fused"].point_flop for one in heard.told]
    assert sum(latest.values()) == pytest.approx(sum(points))


def test_the_live_view_counts_open_and_finished_work():
    """Its total, batch by batch, ends at the sum of the workloads; the table has a row a GPU."""
    recording = open_recording(DATASETS / "h200x2-b")
    view, heard = LiveView(Target.EXECUTED), Heard()
    daemon = daemon_of(heard, recording)
    totals = []

    for batch in batches_of(recording)[:60]:
        told = len(heard.told)
        daemon.recall([batch])
        for finished in heard.told[told:]:
            view.count(finished)
        view.take(daemon)
        totals.append(view.total_flop)

    finished_flop = sum(one.witnessed.estimates[Target.EXECUTED]["fused"].point_flop for one in heard.told)
    assert view.table().row_count == 2
    assert max(totals) >= finished_flop > 0
    assert np.min(np.diff(totals)) > -0.2 * finished_flop


def test_a_sparkline_leaves_unknown_blank():
    """Unknown is not zero."""
    assert sparkline([0.0, float("nan"), 2.0], highest=1.0) == "▁ █"
