"""Devices of one job, and a job across its pauses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.detector import GPU_A, GPU_B, LAW, Look, lasting, trace_of
from flopwitness.core.device import Device
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityDetector
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stitch import stitch

SECOND = 10**9


def whole_of(seconds: float = 100, device: Device = GPU_A) -> Trace:
    """Return a trace to cut sessions from, from instant 0.1 s on."""
    return trace_of(lasting("working", seconds), device, 0)


def session(start: float, stop: float, device: Device = GPU_A, name: str = "") -> Session:
    """Return a session of one device, in seconds."""
    return cut_session((whole_of(device=device),), round(start * SECOND), round(stop * SECOND), name=name)


def told(sessions: tuple[Session, ...]) -> list[tuple[float, float, str, str]]:
    """Return start, stop, devices and name of each session."""
    return [
        (
            one.start_ns / SECOND,
            one.stop_ns / SECOND,
            "".join(sorted(trace.device.uuid[-1] for trace in one.traces)),
            one.name,
        )
        for one in sessions
    ]


def test_devices_that_work_at_the_same_time_become_one_session():
    """Ranks of a job start and stop milliseconds apart."""
    joint = stitch([session(10, 20), session(10.1, 20.2, GPU_B)])

    assert told(joint) == [(10, 20.2, "ab", "")]


def test_sessions_apart_in_time_stay_apart():
    """Time is all that joins them."""
    joint = stitch([session(30, 40, GPU_B), session(10, 20)])

    assert told(joint) == [(10, 20, "a", ""), (30, 40, "b", "")]


def test_a_job_that_starts_as_another_device_ends_is_another_job():
    """To touch is not to overlap."""
    joint = stitch([session(10, 20), session(20, 30, GPU_B)])

    assert told(joint) == [(10, 20, "a", ""), (20, 30, "b", "")]


def test_overlap_joins_through_others():
    """Two short runs of one device under one long run of the other are one session."""
    joint = stitch([session(10, 12), session(15, 18), session(9, 20, GPU_B)])

    assert told(joint) == [(9, 20, "ab", "")]


def test_a_stalled_session_stays_apart_from_work():
    """A device that hangs while its partner finishes is told on its own."""
    joint = stitch([session(10, 20), session(20, 60, name="stalled"), session(10, 21, GPU_B)])

    assert told(joint) == [(10, 21, "ab", ""), (20, 60, "a", "stalled")]


@pytest.mark.parametrize(("max_pause_seconds", "n_sessions"), [(0.0, 4), (5.9, 4), (6.0, 1), (60.0, 1)])
def test_a_split_run_is_joined_where_the_pause_is_short_enough(max_pause_seconds: float, n_sessions: int):
    """The splitting attack makes four jobs of one with pauses of 6 s."""
    parts = [session(start, start + 4) for start in (10, 20, 30, 40)]

    assert len(stitch(parts, max_pause_seconds=max_pause_seconds)) == n_sessions


def test_a_pause_is_joined_only_on_the_same_devices():
    """A job on one GPU after a job on two is another job."""
    joint = stitch([session(10, 20), session(10, 20, GPU_B), session(22, 30)], max_pause_seconds=10)

    assert told(joint) == [(10, 20, "ab", ""), (22, 30, "a", "")]


def test_a_pause_is_not_joined_across_another_job_of_one_of_the_devices():
    """What ran on one GPU in the pause of both would be counted twice."""
    both = [session(start, start + 5, device) for start in (10, 20) for device in (GPU_A, GPU_B)]

    joint = stitch([*both, session(16, 19, GPU_B)], max_pause_seconds=10)

    assert told(joint) == [(10, 15, "ab", ""), (16, 19, "b", ""), (20, 25, "ab", "")]


def test_a_pause_is_not_joined_across_a_stall():
    """The joined session would hold the stall a second time."""
    parts = [session(10, 20), session(20, 30, name="stalled"), session(30, 40)]

    assert len(stitch(parts, max_pause_seconds=60)) == 3


def test_without_the_recording_a_device_keeps_what_its_sessions_held():
    """The pause between them is missing rows: unobserved, and bounded by whoever estimates."""
    (joint,) = stitch([session(10, 12), session(14, 16)], max_pause_seconds=5)

    (trace,) = joint.traces
    assert len(trace.within(13 * SECOND, round(13.8 * SECOND))) == 0
    assert joint.n_samples == 21 + 1 + 1 + 21


def test_samples_that_two_sessions_share_are_taken_once():
    """Sessions half a sample apart each hold the other's edge."""
    (joint,) = stitch([session(10, 12), session(12.1, 14)], max_pause_seconds=1)

    assert joint.n_samples == 41


def test_with_the_recording_every_device_has_its_samples_over_the_whole_stretch():
    """Nothing that was seen is thrown away when the recording is at hand."""
    traces = [whole_of(device=device) for device in (GPU_A, GPU_B)]

    (joint,) = stitch([session(10, 20), session(12, 14, GPU_B)], traces=traces)

    assert joint == cut_session(tuple(traces), 10 * SECOND, 20 * SECOND)


def test_a_session_that_nothing_joins_is_left_as_it_is():
    """Stitching one session is no work."""
    only = session(10, 20)

    assert stitch([only]) == (only,)
    assert stitch([]) == ()


PARTS = st.lists(
    st.tuples(st.sampled_from(["working", "idle", "stalled"]), st.integers(1, 8)), min_size=1, max_size=6
)


def looks_of(parts: list[tuple[str, int]]) -> list[Look]:
    """Return looks, some seconds of each state."""
    return [look for name, seconds in parts for look in lasting(name, seconds, 0.5)]


@LAW
@example(
    one=[("working", 1), ("idle", 2), ("working", 1)],
    two=[("idle", 1), ("working", 1)],
    max_pause_seconds=2.0,
)
@given(one=PARTS, two=PARTS, max_pause_seconds=st.sampled_from([0.0, 2.0, 30.0]))
def test_stitching_loses_no_time_and_needs_no_second_pass(
    one: list[tuple[str, int]], two: list[tuple[str, int]], max_pause_seconds: float
):
    """Every session lies inside a joined one of its devices; joining again changes nothing."""
    found = sessions_of(ActivityDetector(), [trace_of(looks_of(one)), trace_of(looks_of(two), GPU_B)])

    joint = stitch(found, max_pause_seconds=max_pause_seconds)

    for part in found:
        uuids = {trace.device.uuid for trace in part.traces}
        assert any(
            whole.start_ns <= part.start_ns
            and part.stop_ns <= whole.stop_ns
            and uuids <= {trace.device.uuid for trace in whole.traces}
            for whole in joint
        )
    assert told(stitch(joint, max_pause_seconds=max_pause_seconds)) == told(joint)
