"""The detectors on what two nodes with two H200s each really gave."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from contracts.detector import pieces_at
from flopwitness.core.dataset import Dataset
from flopwitness.core.session import Session
from flopwitness.detect.activity import ActivityDetector
from flopwitness.detect.polling import PollingDetector
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stalls import stall_findings
from flopwitness.detect.states import State, sample_states
from flopwitness.detect.stitch import stitch
from flopwitness.storage.datasets import read_dataset

DATASETS = Path(__file__).parents[2] / "datasets"
NAMES = ("h200x2-a", "h200x2-b", "h200x2-hang")


@cache
def recorded(name: str) -> Dataset:
    """Return a dataset, read once."""
    return read_dataset(DATASETS / name)


@cache
def found(name: str) -> tuple[Session, ...]:
    """Return what our detector finds on each device."""
    return sessions_of(ActivityDetector(), recorded(name).recording.traces)


def n_windows_in(session: Session, dataset: Dataset) -> int:
    """Count the measured windows that share time with a session."""
    return sum(run.start_ns < session.stop_ns and session.start_ns < run.stop_ns for run in dataset.runs)


@pytest.mark.parametrize(("name", "n_runs"), [("h200x2-a", 68), ("h200x2-b", 23), ("h200x2-hang", 5)])
def test_every_measured_window_lies_in_exactly_one_session_of_each_device(name: str, n_runs: int):
    """The pauses before the windows are 1.3 s long; none is missed, none is cut, none merges with another."""
    dataset = recorded(name)
    covering = [
        [
            (session.start_ns <= run.start_ns, run.stop_ns <= session.stop_ns)
            for session in found(name)
            if session.traces[0].device == trace.device
            and run.start_ns < session.stop_ns
            and session.start_ns < run.stop_ns
        ]
        for trace in dataset.recording.traces
        for run in dataset.runs
    ]

    assert covering == [[(True, True)]] * 2 * n_runs
    assert all(n_windows_in(session, dataset) <= 1 for session in found(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_devices_of_a_run_are_stitched_into_one_session(name: str):
    """Both ranks of a DDP job work at the same time."""
    dataset = recorded(name)

    joint = stitch(found(name), traces=dataset.recording.traces)

    with_window = [session for session in joint if n_windows_in(session, dataset)]
    assert len(with_window) == len(dataset.runs)
    assert {len(session.traces) for session in with_window} == {2}


@pytest.mark.parametrize("name", NAMES)
def test_a_session_without_a_window_is_short_unless_it_is_named_stalled(name: str):
    """What else is found is real but small: making a context, loading a model, warming up."""
    others = [session for session in found(name) if not n_windows_in(session, recorded(name))]

    assert max(session.duration_seconds for session in others if not session.name) < 3.5


def test_the_deadlock_is_one_session_of_the_device_that_spins():
    """Five minutes after the fifth run, until the recorder was killed; its partner reads idle."""
    dataset = recorded("h200x2-hang")
    stalled = [session for session in found("h200x2-hang") if session.name == "stalled"]

    (session,) = stalled
    (trace,) = session.traces
    assert trace.device == dataset.recording.traces[0].device
    assert round(session.duration_seconds, 1) == 313.4
    assert session.stop_ns == trace.time_ns[-1]
    assert not n_windows_in(session, dataset)


def test_the_deadlock_is_told_in_one_sentence():
    """Three of its samples are blank, and that is said too."""
    (finding,) = stall_findings(recorded("h200x2-hang").recording.traces)

    assert finding.message == (
        "GPU h200x2-hang:0 reads 100 % utilisation and 18 % SM activity for 313 s with tensor and DRAM "
        "activity at idle: no work was done, as far as seen (3 of 3134 samples are blank)"
    )


@pytest.mark.parametrize("name", ["h200x2-a", "h200x2-b"])
def test_no_honest_run_is_called_stalled(name: str):
    """A false accusation is worse than a missed stall."""
    assert stall_findings(recorded(name).recording.traces) == ()


@pytest.mark.parametrize("name", NAMES)
def test_no_sample_inside_a_measured_window_is_idle_beside_full_power(name: str):
    """Where profiling gave zeros in mid-run, and where it trails a start, power or utilisation objects."""
    dataset = recorded(name)

    for trace in dataset.recording.traces:
        idle = sample_states(trace) == State.IDLE
        assert not (idle & (trace["power_instant_watts"] > 200)).any()
        blank = np.isnan(trace["dram_active_ratio"])
        assert not (idle & blank & (trace["gpu_util_ratio"] > 0)).any()


@pytest.mark.parametrize(("name", "n_samples"), [("h200x2-a", 10), ("h200x2-b", 1), ("h200x2-hang", 10)])
def test_a_live_stream_finds_what_the_recording_holds(name: str, n_samples: int):
    """A few samples a round, or one, give the sessions of the whole file, bit for bit."""
    traces = recorded(name).recording.traces
    rounds = [piece for trace in traces for piece in pieces_at(trace, range(0, len(trace), n_samples))]

    live = sessions_of(ActivityDetector(), sorted(rounds, key=lambda piece: int(piece.time_ns[0])))

    assert live == found(name)


@pytest.mark.parametrize(("name", "n_most"), [("h200x2-a", 1), ("h200x2-b", 2), ("h200x2-hang", 1)])
def test_the_published_rule_merges_the_runs_of_a_sweep(name: str, n_most: int):
    """It needs 4.5 s of idle polls to end a job: of 68, 23 and 5 runs it makes one or two a device."""
    traces = recorded(name).recording.traces

    for trace in traces:
        jobs = sessions_of(PollingDetector(), [trace])
        assert 1 <= len(jobs) <= n_most


def test_the_published_rule_takes_the_deadlock_for_work():
    """Utilisation reads 100 %: the job that did nothing is part of the job before it."""
    dataset = recorded("h200x2-hang")
    hung, partner = (sessions_of(PollingDetector(), [trace]) for trace in dataset.recording.traces)

    assert [round(job.duration_seconds) for job in hung] == [349]
    assert [round(job.duration_seconds) for job in partner] == [36]
