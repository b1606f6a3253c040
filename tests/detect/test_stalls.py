"""Devices that look busy and do nothing."""

import pytest

from contracts.detector import GPU_A, GPU_B, START_NS, lasting, trace_of
from flopwitness.core.finding import Severity
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityDetector, ActivityRule
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stalls import stall_findings, stalled_stretches

HANG = lasting("idle", 2) + lasting("working", 5) + lasting("stalled", 295) + lasting("idle", 2)


def test_a_deadlock_is_found_with_its_bounds():
    """From the last work to the kill."""
    (stretch,) = stalled_stretches(trace_of(HANG))

    assert (stretch.start_ns - START_NS, stretch.stop_ns - START_NS) == (7 * 10**9, 302 * 10**9)


def test_a_deadlock_is_told_in_one_sentence():
    """The auditor reads what it looked like, for how long, and that nothing was done."""
    (finding,) = stall_findings([trace_of(HANG), trace_of(lasting("idle", 300), GPU_B)])

    assert finding.message == (
        "GPU GPU-a reads 100 % utilisation and 18 % SM activity for 295 s "
        "with tensor and DRAM activity at idle: no work was done"
    )
    assert (finding.code, finding.subject, finding.severity) == ("stalled", "GPU-a", Severity.ALARM)
    assert (finding.start_ns, finding.stop_ns) == (START_NS + 7 * 10**9, START_NS + 302 * 10**9)


def test_blank_samples_inside_are_owned_up_to():
    """What nobody saw is not called nothing."""
    looks = [*lasting("stalled", 20), ("unseen", 0.1), *lasting("stalled", 20)]

    (finding,) = stall_findings([trace_of(looks)])

    assert finding.message.endswith("no work was done, as far as seen (1 of 400 samples are blank)")


@pytest.mark.parametrize(("seconds", "severity"), [(59.9, Severity.WARNING), (60, Severity.ALARM)])
def test_a_stall_below_a_minute_is_a_warning(seconds: float, severity: Severity):
    """A slow partner or a stuck file system, not yet a dead job."""
    (finding,) = stall_findings([trace_of(lasting("working", 5) + lasting("stalled", seconds))])

    assert finding.severity is severity


def test_a_session_can_be_asked_as_well():
    """The session that a detector named stalled says so again when asked."""
    work, stall = sessions_of(ActivityDetector(), [trace_of(HANG)])

    assert stall_findings(work) == ()
    assert [finding.start_ns for finding in stall_findings(stall)] == [stall.start_ns]


def test_the_shortest_stall_can_be_chosen():
    """Two seconds of waiting count where somebody wants to see them."""
    trace = trace_of(lasting("working", 5) + lasting("stalled", 2) + lasting("working", 5))

    assert stalled_stretches(trace) == ()
    assert len(stalled_stretches(trace, ActivityRule(stall_seconds=1.5))) == 1


@pytest.mark.parametrize("channel", ["tensor_active_ratio", "dram_active_ratio", "power_instant_watts"])
def test_nothing_is_called_stalled_without_the_channels_that_prove_it(channel: str):
    """An accusation needs all three witnesses."""
    whole = trace_of(HANG)
    columns = {name: whole[name] for name in whole.channels if name != channel}

    assert stalled_stretches(Trace(GPU_A, whole.time_ns, columns)) == ()


def test_an_empty_trace_holds_no_stall():
    """No samples, no sentence."""
    assert stall_findings([trace_of([])]) == ()
