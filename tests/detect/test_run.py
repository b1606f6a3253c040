"""A recording through a detector at once."""

from contracts.detector import GPU_A, GPU_B, lasting, trace_of
from flopwitness.detect.activity import ActivityDetector
from flopwitness.detect.run import sessions_of


def test_sessions_come_in_time_order_whichever_device_was_fed_first():
    """The order of a list of sessions is the order of time."""
    early = trace_of(lasting("idle", 1) + lasting("working", 3) + lasting("idle", 3), GPU_B)
    late = trace_of(lasting("idle", 3) + lasting("working", 3) + lasting("idle", 3), GPU_A)

    sessions = sessions_of(ActivityDetector(), [late, early])

    assert [session.traces[0].device.uuid for session in sessions] == ["GPU-b", "GPU-a"]


def test_nothing_fed_is_nothing_found():
    """An empty recording holds no session."""
    assert sessions_of(ActivityDetector(), []) == ()
