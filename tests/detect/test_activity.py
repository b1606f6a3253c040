"""The detector that looks at work, not at utilisation."""

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.detector import (
    GPU_A,
    START_NS,
    DetectorContract,
    lasting,
    pieces_at,
    seconds_of,
    trace_of,
)
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityDetector, ActivityRule
from flopwitness.detect.run import sessions_of
from flopwitness.detect.states import State, sample_states


class TestActivityDetectorContract(DetectorContract):
    """The activity detector keeps what every detector promises."""

    def make_detector(self) -> ActivityDetector:
        """Return one with the default rule."""
        return ActivityDetector()

    def held_ns(self, trace: Trace) -> NDArray[np.int64]:
        """Return the middle of each step that is a gap or whose sample is not idle."""
        steps_ns = np.diff(trace.time_ns)
        idle = (sample_states(trace)[1:] == State.IDLE) & (steps_ns <= 2.5e9)
        middle_ns = trace.time_ns[:-1] + steps_ns // 2
        return middle_ns[~idle]


def test_a_session_begins_one_idle_step_early_and_ends_with_the_last_work():
    """All witnesses trail a start by up to one sample, and a sample speaks of the time before it."""
    looks = lasting("idle", 2) + lasting("working", 3) + lasting("idle", 2)

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 1.9, 5.0)]


def test_runs_that_sleep_a_second_apart_are_sessions_of_their_own():
    """The gaps of real recordings at 10 Hz are 1.0 to 1.2 s of seen idle."""
    looks = [*lasting("idle", 1), *lasting("working", 4), *lasting("idle", 1), *lasting("working", 4)]

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.9, 5.0), ("", 5.9, 10.0)]


def test_a_pause_below_quiet_seconds_stays_inside():
    """A job that waits for its data for half a second is still one job."""
    looks = [*lasting("idle", 1), *lasting("working", 4), *lasting("idle", 0.5), *lasting("working", 4)]

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.9, 9.5)]


def test_quiet_seconds_decide_which_pause_parts_two_sessions():
    """A longer quiet time joins the runs of a sweep."""
    looks = [*lasting("idle", 1), *lasting("working", 4), *lasting("idle", 1), *lasting("working", 4)]

    sessions = sessions_of(ActivityDetector(ActivityRule(quiet_seconds=2.0)), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.9, 10.0)]


def test_one_idle_sample_a_second_parts_two_sessions_that_do_not_touch():
    """At 1 Hz one idle step is a pause; the session after it does not begin early, or it would be none."""
    looks = [*lasting("working", 4, 1), ("idle", 1.0), *lasting("working", 4, 1)]

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 1.0, 4.0), ("", 5.0, 9.0)]


def test_a_deadlock_is_a_session_named_stalled_apart_from_the_work_before_it():
    """Five minutes at 100 % utilisation and 128 W with every pipe at rest are no work."""
    looks = lasting("idle", 2) + lasting("working", 5) + lasting("stalled", 295) + lasting("idle", 2)

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 1.9, 7.0), ("stalled", 7.0, 302.0)]


def test_work_before_a_deadlock_is_told_while_the_deadlock_lasts():
    """A job that hangs for good must not keep what it did before from being estimated."""
    detector = ActivityDetector()

    told = detector.feed(trace_of(lasting("working", 5) + lasting("stalled", 10)))

    assert [session.name for session in told] == [""]


def test_a_short_wait_for_a_partner_stays_inside_the_work():
    """Collectives wait for the slowest rank; a second of spinning is part of the step."""
    looks = lasting("working", 5) + lasting("stalled", 2) + lasting("working", 5)

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.1, 12.0)]


def test_a_blank_sample_within_a_deadlock_does_not_split_it():
    """Profiling gives no answer once in a few hundred samples; the deadlock went on."""
    looks = [*lasting("stalled", 20), ("unseen", 0.1), *lasting("stalled", 20)]

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("stalled", 0.1, 40.1)]


def test_a_long_blank_within_a_deadlock_is_a_session_of_its_own():
    """Ten seconds that nobody saw may hold work; they must not hide under the name of a stall."""
    looks = lasting("stalled", 20) + lasting("unseen", 10) + lasting("stalled", 20)

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("stalled", 0.1, 20.0), ("", 20.0, 30.0), ("stalled", 30.0, 50.0)]


def test_missing_rows_between_idle_samples_are_a_session_with_nothing_in_it():
    """Idle before and idle after prove nothing about a minute that nobody watched."""
    looks = [*lasting("idle", 2), ("idle", 60.0), *lasting("idle", 2)]

    sessions = sessions_of(ActivityDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 1.9, 62.0)]


def test_slow_samples_are_no_gaps_where_the_rule_says_so():
    """An exporter that samples every 30 s needs another limit than a 10 Hz recorder."""
    looks = lasting("idle", 90, 30) + lasting("working", 90, 30) + lasting("idle", 90, 30)

    sessions = sessions_of(ActivityDetector(ActivityRule(max_step_seconds=45)), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 60.0, 180.0)]


def test_a_single_sample_tells_of_no_time():
    """One sample has no time before it that was watched."""
    assert sessions_of(ActivityDetector(), [trace_of([("working", 0.1)])]) == ()


def test_it_says_which_channels_it_asked():
    """A reader of the report must know whether work or mere utilisation was seen."""
    rich, poor = ActivityDetector(), ActivityDetector()
    rich.feed(trace_of(lasting("idle", 1)))
    poor.feed(Trace(GPU_A, [START_NS], {"gpu_util_ratio": [0.0], "power_watts": [80.0]}))

    assert "tensor_active_ratio" in rich.witnesses["GPU-a"]
    assert poor.witnesses == {"GPU-a": ("gpu_util_ratio", "power_watts")}


def test_without_activity_channels_utilisation_and_power_find_the_work():
    """Old chips and plain exporters offer no profiling; the work is still found."""
    whole = trace_of(lasting("idle", 5) + lasting("working", 20) + lasting("idle", 5))
    poor = Trace(
        GPU_A, whole.time_ns, {name: whole[name] for name in ("gpu_util_ratio", "power_instant_watts")}
    )

    assert seconds_of(sessions_of(ActivityDetector(), [poor])) == [("", 4.9, 25.0)]


def test_a_pause_splits_ours_where_it_is_seen_and_power_still_decays():
    """A board power that is a one-second mean keeps a session open for that second, never shorter."""
    whole = trace_of(lasting("working", 5) + lasting("idle", 3))
    power_watts = np.where(whole.time_ns <= whole.time_ns[59], 600.0, 120.0)
    columns = {name: whole[name] for name in whole.channels if name != "power_instant_watts"}

    sessions = sessions_of(
        ActivityDetector(), [Trace(GPU_A, whole.time_ns, columns | {"power_watts": power_watts})]
    )

    assert seconds_of(sessions) == [("", 0.1, 6.0)]


def test_between_sessions_it_keeps_a_handful_of_samples():
    """A monitor runs for months; idle time must not fill its memory."""
    detector = ActivityDetector()
    for piece in pieces_at(trace_of(lasting("working", 5) + lasting("idle", 60)), range(650)):
        detector.feed(piece)

    ((buffer, _),) = detector._streams.values()
    assert len(buffer) <= 3


@pytest.mark.parametrize("name", ["quiet_seconds", "stall_seconds", "max_step_seconds"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rule_that_ends_everything_or_nothing_is_refused(name: str, value: float):
    """Durations are positive and finite."""
    with pytest.raises(InvalidNounError, match=name):
        ActivityRule(**{name: value})
