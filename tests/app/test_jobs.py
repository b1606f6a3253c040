"""Jobs of a recording, and the same jobs of a stream that keeps the last minutes alone."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.live import FakeClock
from contracts.detector import GPU_A, START_NS
from detect.jobs.made import DENSE, IDLE, SPARSE, stretches_of
from flopwitness.app.jobs import KEPT_SECONDS, JobStream, placed_jobs
from flopwitness.app.opening import open_recording
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.tally import stub_session
from flopwitness.app.ticking import batched
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.recording import Provenance, Recording
from flopwitness.detect.jobs.chain import Placed
from flopwitness.evaluate.splices import Part, PauseMemory, spliced

DATASETS = Path(__file__).resolve().parents[2] / "datasets"

SPLIT = Recording(
    "split",
    (stretches_of((IDLE, 5, 1), (DENSE, 30, 40), *[(IDLE, 6, 40), (DENSE, 30, 40)] * 3, (IDLE, 5, 1)),),
    Provenance("made"),
)
TWO_JOBS = Recording(
    "two", (stretches_of((IDLE, 5, 1), (DENSE, 30, 40), (IDLE, 6, 1), (SPARSE, 30, 20)),), Provenance("made")
)


def streamed(recording: Recording) -> list[Placed]:
    """Return where a stream places the sessions of a recording, each as soon as its samples are in."""
    stream, waiting = JobStream(), sorted(detected_sessions(recording), key=lambda one: one.stop_ns)
    found = []
    for batch in batched(replayed(ReplaySampler(recording), FakeClock(), speed=0)):
        stream.observe(batch)
        now_ns = max((int(piece.time_ns[-1]) for piece in batch), default=0)
        while waiting and waiting[0].stop_ns <= now_ns:
            session = waiting.pop(0)
            devices = [trace.device for trace in session.traces]
            stub = stub_session(session.start_ns, session.stop_ns, devices, session.name)
            found.append(stream.place(stream.mark(stub)))
    return found


def test_a_run_with_three_pauses_is_one_job_and_two_programs_are_two():
    """Of six seconds each, with memory held; other steps after memory was freed."""
    split = placed_jobs(detected_sessions(SPLIT), SPLIT.traces)
    two = placed_jobs(detected_sessions(TWO_JOBS), TWO_JOBS.traces)

    assert [one.number for one in split] == [1, 1, 1, 1]
    assert [one.number for one in two] == [1, 2]


@pytest.mark.parametrize("name", ["h200x2-c3", "h200x1-e-inference"])
def test_a_stream_places_sessions_as_the_whole_recording_does(name: str):
    """Same jobs, same links, from samples that came second by second."""
    recording = open_recording(DATASETS / name)
    sessions = sorted(detected_sessions(recording), key=lambda one: one.stop_ns)

    assert streamed(recording) == list(placed_jobs(sessions, recording.traces))


def test_a_stream_keeps_minutes_not_days():
    """Samples older than a signature looks at are let go, in any number of pieces."""
    stream = JobStream()
    hour = stretches_of((DENSE, 3600, 40))

    for first in range(0, len(hour), 10):
        stream.observe((hour.between(first, first + 10),))

    assert stream.n_kept <= 10 * KEPT_SECONDS + 20


@pytest.mark.parametrize("pause_seconds", [0.3, 0.5, 1.0, 2.0, 6.0])
@pytest.mark.parametrize("burst_seconds", [0.5, 2.0])
def test_a_throttled_run_is_one_job(burst_seconds: float, pause_seconds: float):
    """Real steps with real idle between: short sleeps stay in one session, longer ones are linked."""
    recording = open_recording(DATASETS / "h200x2-c3")
    first, second = [one for one in detected_sessions(recording) if one.duration_seconds > 5][:2]
    idle_ns = (first.stop_ns + 1, min(second.start_ns, first.stop_ns + 2_000_000_000) - 1)
    start_ns = first.start_ns + 3_000_000_000
    edges = start_ns + np.arange(6) * round(burst_seconds * 1e9 / 2.5)
    parts = [
        Part(recording, (int(a), int(b)), idle_ns, pause_seconds=pause_seconds, memory=PauseMemory.HELD)
        for a, b in pairwise(edges)
    ]
    made = spliced(parts).recording
    sessions = detected_sessions(made)

    assert {one.number for one in placed_jobs(sessions, made.traces)} == {1}
    assert (len(sessions) == 1) == (pause_seconds < 0.8)


def test_a_session_whose_samples_are_gone_is_a_job_of_its_own():
    """Nothing is known of it, so nothing is claimed."""
    stream = JobStream()

    placed = stream.place(stream.mark(stub_session(START_NS, START_NS + 10, [GPU_A], "")))

    assert (placed.number, placed.link) == (1, None)
