"""Opinions on a stream: from whole windows inside a session, however it was cut, in bounded memory."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.app.classifying import shipped_classifier
from flopwitness.app.opening import open_recording
from flopwitness.app.opinions import OpinionWatch
from flopwitness.app.tally import stub_session
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.workclass import WorkClass
from flopwitness.estimate.classify.opinion import opinion_of

MAX_ROWS = 16
DATASETS = Path(__file__).resolve().parents[2] / "datasets"


@cache
def recorded() -> Recording:
    """Return a node that served, trained and did other work."""
    return open_recording(DATASETS / "h200x2-i")


@cache
def found() -> tuple[Session, ...]:
    """Return its sessions of six seconds and more."""
    return tuple(session for session in detected_sessions(recorded()) if session.duration_seconds > 6)


def stub(session: Session) -> Session:
    """Return a session as the daemon has it: without samples."""
    devices = [trace.device for trace in session.traces]
    return stub_session(session.start_ns, session.stop_ns, devices, "")


def watched(*cuts: int) -> OpinionWatch:
    """Return a watch that was fed the first two minutes, cut at some samples."""
    watch = OpinionWatch(shipped_classifier)
    for trace in recorded().traces:
        bounds = sorted({0, 1200, *cuts})
        for start, stop in pairwise(bounds):
            watch.observe((trace.between(start, stop),))
    return watch


def test_a_stream_says_what_the_file_says():
    """Windows lie elsewhere, so probabilities differ a little; no answer is contradicted."""
    watch = OpinionWatch(shipped_classifier)
    for trace in recorded().traces:
        for start in range(0, len(trace), 7):
            watch.observe((trace.between(start, min(start + 7, len(trace))),))

    live = [watch.opinion(stub(session)).answer for session in found()]
    filed = [opinion_of(session, shipped_classifier("H200-SXM")).answer for session in found()]

    both = [pair for pair in zip(live, filed, strict=True) if WorkClass.UNKNOWN not in pair]
    assert len(both) >= 30
    assert all(one is other for one, other in both)


@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(1, 1199).map(lambda place: place - place % 10), max_size=8))
def test_windows_end_where_enough_samples_came(cuts: set[int]) -> None:
    """However the stream comes, sessions are judged by windows of two seconds and more, or not at all."""
    watch = watched(*cuts)

    opinions = [watch.opinion(stub(session)) for session in found()[:6]]

    assert all(
        opinion.n_windows <= 2 * session.duration_seconds
        for opinion, session in zip(opinions, found(), strict=False)
    )


def test_what_nobody_watched_is_unknown():
    """No window, no opinion: the reason says so."""
    opinion = OpinionWatch(shipped_classifier).opinion(stub(found()[0]))

    assert opinion.answer is WorkClass.UNKNOWN
    assert opinion.reasons == ("no whole window of samples with every signal lies inside it",)


def test_a_chip_that_nobody_learned_is_unknown():
    """Proportions of signals differ from chip to chip."""
    watch = OpinionWatch(lambda _: None)
    watch.observe(tuple(trace.between(0, 100) for trace in recorded().traces))

    opinion = watch.opinion(stub(found()[0]))

    assert opinion.reasons == ("no classifier was fitted for H200-SXM",)


@pytest.mark.parametrize("n_windows", [MAX_ROWS + 1, 7 * MAX_ROWS])
def test_memory_is_bounded_and_the_answer_stays(n_windows: int) -> None:
    """Of a long session pairs of windows are kept as one: the sum is the same."""
    session = next(session for session in found() if session.duration_seconds > 7)
    trace = session.traces[0].between(20, 41)
    watch = OpinionWatch(shipped_classifier, max_rows=MAX_ROWS)
    step_ns = int(trace.time_ns[-1] - trace.time_ns[0]) + 10**8
    for number in range(n_windows):
        later = Trace(trace.device, trace.time_ns + number * step_ns, trace.channels)
        watch.observe((later,))
    whole = stub_session(int(trace.time_ns[0]), int(later.time_ns[-1]), [trace.device], "")

    opinion = watch.opinion(whole)

    assert opinion.n_windows == n_windows
    assert watch.n_rows <= MAX_ROWS
    assert opinion.probabilities == pytest.approx(opinion_of_one(trace), abs=1e-6)


def opinion_of_one(trace: Trace) -> dict[WorkClass, float]:
    """Return the probabilities of one window."""
    watch = OpinionWatch(shipped_classifier)
    watch.observe((trace,))
    alone = stub_session(int(trace.time_ns[0]), int(trace.time_ns[-1]), [trace.device], "")
    return dict(watch.opinion(alone).probabilities)
