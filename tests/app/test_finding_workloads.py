"""Workloads are told once, the devices of one job together, however the stream was cut."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.detector import GPU_A, GPU_B, RUNS, START_NS, Look, lasting, pieces_at, trace_of
from flopwitness.app.finding_workloads import Workload, WorkloadFinder
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityDetector, ActivityWatch
from flopwitness.detect.run import in_time_order, sessions_of
from flopwitness.detect.stitch import stitch

FOREVER_SECONDS = 1e9
LATER_NS = START_NS + 7
"""Stretches that touch to the nanosecond `stitch` joins; a stream cannot."""

UNSTALLED = RUNS.map(lambda looks: [(name.replace("stalled", "working"), step) for name, step in looks])
"""Where a stall is followed by unseen time, its end is known late, and others cannot wait that long."""


def told(finder: WorkloadFinder, batches: Iterable[Sequence[Trace]]) -> list[Workload]:
    """Feed batches, close, return every workload."""
    found = [workload for batch in batches for workload in finder.feed(batch)]
    return [*found, *finder.close()]


def batches_of(traces: Sequence[Trace], step: int) -> list[tuple[Trace, ...]]:
    """Return traces in batches of so many tenths of a second."""
    last_ns = max(int(trace.time_ns[-1]) for trace in traces)
    span_ns = step * 100_000_000
    first_ns = min(int(trace.time_ns[0]) for trace in traces)
    return [
        tuple(piece for trace in traces if len(piece := trace.within(at, at + span_ns - 1)))
        for at in range(first_ns, last_ns + 1, span_ns)
    ]


def known(workloads: Iterable[Workload]) -> list[tuple[str, float, float, str]]:
    """Return name, start, stop in seconds and devices, in order of start."""
    return [
        (
            session.name,
            round((session.start_ns - START_NS) / 1e9, 3),
            round((session.stop_ns - START_NS) / 1e9, 3),
            "".join(trace.device.uuid[-1].upper() for trace in session.traces),
        )
        for session in in_time_order(workload.session for workload in workloads)
    ]


@settings(deadline=None)
@given(looks=RUNS, others=RUNS, step=st.integers(1, 40))
def test_with_endless_patience_it_finds_the_stitched_sessions_of_the_recording(
    looks: list[Look], others: list[Look], step: int
):
    """Same stretches, devices and numbers of samples as detector and stitch give on the whole."""
    traces = [trace for trace in (trace_of(looks, GPU_A), trace_of(others, GPU_B, LATER_NS)) if len(trace)]
    if not traces:
        return
    expected = stitch(sessions_of(ActivityDetector(), traces), traces=traces)
    finder = WorkloadFinder(ActivityWatch, wait_seconds=FOREVER_SECONDS, chunk_seconds=FOREVER_SECONDS)

    found = told(finder, batches_of(traces, step))

    assert {w.session.session_id: w.n_samples for w in found} == {s.session_id: s.n_samples for s in expected}


@settings(deadline=None)
@given(looks=UNSTALLED, others=UNSTALLED, step=st.integers(1, 40))
def test_how_the_stream_is_cut_changes_nothing(looks: list[Look], others: list[Look], step: int):
    """After a restart the recorded samples come in other pieces: the same workloads, by the same names."""
    traces = [trace for trace in (trace_of(looks, GPU_A), trace_of(others, GPU_B, LATER_NS)) if len(trace)]
    if not traces:
        return

    whole = told(WorkloadFinder(ActivityWatch), [traces])
    live = told(WorkloadFinder(ActivityWatch), batches_of(traces, step))

    assert known(live) == known(whole)


def test_partners_that_end_close_together_are_one_workload():
    """The first to end is held until the other has."""
    one = trace_of(lasting("idle", 5) + lasting("working", 20) + lasting("idle", 60), GPU_A)
    two = trace_of(lasting("idle", 6) + lasting("working", 25) + lasting("idle", 54), GPU_B)

    assert known(told(WorkloadFinder(ActivityWatch), batches_of([one, two], 10))) == [("", 4.9, 31.0, "AB")]


def test_a_short_job_beside_a_long_one_is_told_soon_and_not_counted_again():
    """Two tenants: the wait is bounded, and the long job is told without the other's GPU."""
    long = trace_of(lasting("idle", 5) + lasting("working", 200) + lasting("idle", 10), GPU_A)
    short = trace_of(lasting("idle", 20) + lasting("working", 10) + lasting("idle", 185), GPU_B)
    finder = WorkloadFinder(ActivityWatch)

    early = [
        w
        for batch in batches_of([long.between(0, 700), short.between(0, 700)], 10)
        for w in finder.feed(batch)
    ]
    late = told(finder, batches_of([long.between(700, 2150), short.between(700, 2150)], 10))

    assert known(early) == [("", 19.9, 30.0, "B")]
    assert known(late) == [("", 4.9, 205.0, "A")]


def test_a_gpu_that_comes_back_to_a_long_job_is_told_apart():
    """Its first work was told already: joined again over the whole stretch it would count twice."""
    long = trace_of(lasting("idle", 5) + lasting("working", 200) + lasting("idle", 10), GPU_A)
    twice = trace_of(
        lasting("idle", 20)
        + lasting("working", 10)
        + lasting("idle", 170)
        + lasting("working", 5)
        + lasting("idle", 10),
        GPU_B,
    )

    found = known(told(WorkloadFinder(ActivityWatch), batches_of([long, twice], 10)))

    assert found == [("", 4.9, 205.0, "A"), ("", 19.9, 30.0, "B"), ("", 199.9, 205.0, "B")]


def test_a_lost_gpu_holds_nobody_up():
    """It falls silent amid the work: its partner is told after a bounded wait, what it saw at the end."""
    lost = trace_of(lasting("idle", 5) + lasting("working", 10), GPU_A)
    other = trace_of(lasting("idle", 5) + lasting("working", 20) + lasting("idle", 40), GPU_B)
    finder = WorkloadFinder(ActivityWatch)

    early = [workload for batch in batches_of([lost, other], 10) for workload in finder.feed(batch)]

    assert known(early) == [("", 4.9, 25.0, "B")]
    assert [workload.session.traces[0].device for workload in finder.close()] == [GPU_A]


def test_memory_does_not_grow_with_a_long_workload():
    """An hour of work keeps two minutes of samples; its count is complete."""
    looks = lasting("idle", 5) + lasting("working", 3600) + lasting("idle", 30)
    traces = [trace_of(looks, GPU_A), trace_of(looks, GPU_B)]
    finder = WorkloadFinder(ActivityWatch)
    kept = []

    found = []
    for batch in batches_of(traces, 10):
        found += finder.feed(batch)
        kept.append(max(tally.n_kept for tally in finder.tallies.values()))

    (expected,) = stitch(sessions_of(ActivityDetector(), traces), traces=traces)
    assert max(kept) < 1500
    assert [(w.session.session_id, w.n_samples) for w in found] == [(expected.session_id, expected.n_samples)]


@pytest.mark.parametrize(("name", "is_open"), [("working", True), ("idle", False)])
def test_it_says_what_a_gpu_is_at(name: str, is_open: bool):
    """The live view shows work that is not over."""
    finder = WorkloadFinder(ActivityWatch)

    for piece in pieces_at(trace_of(lasting("idle", 5) + lasting(name, 5)), range(0, 100, 10)):
        finder.feed([piece])

    assert finder.open_since_ns("GPU-a") == (START_NS + 4_900_000_000 if is_open else None)
    assert finder.open_since_ns("GPU-x") is None
