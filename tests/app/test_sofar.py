"""FLOP so far: one sum however the stream was cut, the calibration's bounds, no number without signals."""

import pytest

from app.serving_book import CALIBRATION, DATASETS
from contracts.detector import GPU_A, GPU_B, lasting, pieces_at, trace_of
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import open_recording
from flopwitness.app.sofar import CALIBRATED, SoFar, flop_so_far, shown_estimate
from flopwitness.core.session import cut_session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityWatch
from flopwitness.estimate.estimating import estimated_all
from flopwitness.estimate.features.row import session_features

BUSY = [*lasting("idle", 10), *lasting("working", 12)]


def fed(*traces: Trace, cuts: tuple[int, ...] = ()) -> tuple[SoFar, WorkloadFinder]:
    """Return what follows some GPUs, cut at the same samples."""
    so_far, finder = SoFar(), WorkloadFinder(ActivityWatch)
    for batch in zip(*(pieces_at(trace, cuts) for trace in traces), strict=True):
        finder.feed(batch)
        for piece in batch:
            so_far.advance(finder, piece.device.uuid)
    return so_far, finder


def recorded(until: int) -> tuple[Trace, ...]:
    """Return the first samples of a recording, a workload under way at their end."""
    return tuple(trace.between(0, until) for trace in open_recording(DATASETS / "h200x2-b").traces)


def test_an_idle_gpu_has_no_open_work():
    """Nothing is counted before work begins."""
    so_far, _ = fed(trace_of(lasting("idle", 10)))

    assert so_far.groups() == ()


@pytest.mark.parametrize("cuts", [(), (300, 310, 400), tuple(range(10, 500, 9))])
def test_sums_do_not_depend_on_how_the_stream_was_cut(cuts: tuple[int, ...]):
    """They are those of the stretch as a whole."""
    traces = recorded(520)
    so_far, finder = fed(*traces, cuts=cuts)

    [works] = so_far.groups()

    for work in works:
        trace = next(one for one in traces if one.device == work.device)
        start_ns, stop_ns = finder.open_since_ns(work.device.uuid), int(trace.time_ns[-1])
        session = cut_session((trace,), start_ns, stop_ns)
        expected = session_features(session, {trace.device.uuid: 0.0}).values
        assert (work.sums.start_ns, work.sums.stop_ns) == (start_ns, stop_ns)
        assert work.sums.values["matrix_flop"] == pytest.approx(expected["matrix_flop"], rel=1e-9)


def test_the_figure_is_the_calibrated_pipe_sum_with_its_bounds():
    """As the estimator itself would answer for the stretch so far."""
    so_far, _ = fed(*recorded(520))

    [works] = so_far.groups()
    found = flop_so_far(works, CALIBRATION)

    sessions = [
        cut_session((trace,), w.sums.start_ns, w.sums.stop_ns)
        for w in works
        for trace in recorded(520)
        if trace.device == w.device
    ]
    rows = [session_features(one, {one.traces[0].device.uuid: 0.0}) for one in sessions]
    points = [
        one.estimates[CALIBRATED].point_flop for one in estimated_all(rows, CALIBRATION, Target.EXECUTED)
    ]
    estimate = found[Target.EXECUTED]
    assert estimate.point_flop == pytest.approx(sum(points), rel=1e-6)
    assert estimate.low_flop < estimate.point_flop < estimate.high_flop


def test_gpus_that_began_together_are_one_workload_and_others_are_not():
    """Ten seconds apart is together, a minute is not."""
    early, late = (
        trace_of([*BUSY, *lasting("working", 60)], GPU_A),
        trace_of([*lasting("idle", 60), *BUSY], GPU_B),
    )
    so_far, _ = fed(trace_of(BUSY, GPU_A), trace_of(BUSY, GPU_B))
    apart, _ = fed(early, late)

    assert [len(group) for group in so_far.groups()] == [2]
    assert [[work.device for work in group] for group in apart.groups()] == [[GPU_A], [GPU_B]]


def test_without_the_signals_there_is_no_number():
    """A target is absent, not zero."""
    traces = [Trace(t.device, t.time_ns, {"power_watts": t["power_watts"]}) for t in recorded(520)]
    so_far, _ = fed(*traces)

    assert so_far.groups() == () or flop_so_far(so_far.groups()[0], CALIBRATION) == {}


def test_work_that_ended_is_forgotten():
    """Also that of a GPU which sends nothing more."""
    so_far, finder = fed(trace_of(BUSY))
    assert len(so_far.groups()) == 1

    finder.close()
    so_far.close(finder)

    assert so_far.groups() == ()


def test_the_first_method_that_answered_is_shown():
    """The full estimate before the pipe sum before power; nothing of nothing."""
    [answer] = estimated_all(
        [
            session_features(
                cut_session(
                    recorded(520)[:1], int(recorded(520)[0].time_ns[400]), int(recorded(520)[0].time_ns[519])
                ),
                {},
            )
        ],
        CALIBRATION,
        Target.EXECUTED,
    )

    assert shown_estimate(answer.estimates).method == "fused"
    assert (
        shown_estimate({name: one for name, one in answer.estimates.items() if name != "fused"}).method
        == CALIBRATED
    )
    assert shown_estimate({}) is None
