"""Instants never go back: not when the clock is set while a run goes on, nor between two runs."""

import pytest

from app.live import FakeClock
from contracts.detector import lasting, trace_of
from flopwitness.app.timeline import STEP_SECONDS, UNSEEN_SECONDS, Timeline, boot_id
from flopwitness.core.recording import Provenance
from flopwitness.storage.segments import SegmentsHeader

SECOND = 1_000_000_000
HOUR = 3600 * SECOND


class SetClock(FakeClock):
    """A clock that can be set; its monotonic side goes on."""

    set_ns = 0

    def utc_ns(self) -> int:
        """Return UTC as it was set."""
        return super().utc_ns() + self.set_ns


def anchor_of(clock: FakeClock, *, boot: str = "this boot") -> SegmentsHeader:
    """Return the header of a recording that was started now."""
    return SegmentsHeader("r", Provenance("listed"), clock.utc_ns(), clock.monotonic_ns(), boot)


def test_without_an_earlier_run_it_is_the_clock():
    """Nothing is shifted and nothing to be said."""
    clock = SetClock()
    timeline = Timeline(clock)
    timeline.join(None, boot="this boot", floor_ns=None)

    assert (timeline.shift_ns, timeline.findings(), timeline.step()) == (0, (), None)
    assert timeline.utc_ns() == clock.utc_ns()
    assert timeline.shifted((trace_of(lasting("idle", 1)),)) == (trace_of(lasting("idle", 1)),)


@pytest.mark.parametrize(
    ("seconds", "way", "where"), [(-3600, "back", "ahead of"), (60, "forward", "behind")]
)
def test_a_clock_that_is_set_meanwhile_is_said_once_and_changes_no_instant(
    seconds: int, way: str, where: str
):
    """The line goes on by the monotonic clock; the finding says how far off the wall clock is."""
    clock = SetClock()
    timeline = Timeline(clock)
    before_ns = timeline.utc_ns()
    clock.now_ns += SECOND

    clock.set_ns = seconds * SECOND

    said = [timeline.step(), timeline.step()]
    (finding,) = timeline.findings()
    assert said[0] is not None
    assert f"set {way} by {abs(seconds)}.0 s" in said[0]
    assert said[1] is None
    assert timeline.utc_ns() == before_ns + SECOND
    assert (finding.code, f"{where} the clock" in finding.message) == ("clock-set", True)


def test_drift_is_not_a_step():
    """What a time service corrects bit by bit is no event, though it is said once it has added up."""
    clock = SetClock()
    timeline = Timeline(clock)
    for _ in range(10):
        clock.set_ns += round(STEP_SECONDS * SECOND / 5)

        assert timeline.step() is None

    assert len(timeline.findings()) == 1


@pytest.mark.parametrize("set_ns", [-HOUR, HOUR])
def test_within_one_boot_a_recording_goes_on_at_its_true_distance(set_ns: int):
    """However the wall clock was set, the monotonic clock says how long the stop was."""
    clock = SetClock()
    anchor, started_ns = anchor_of(clock), clock.utc_ns()
    clock.now_ns += 7 * SECOND
    clock.set_ns = set_ns

    timeline = Timeline(clock)
    timeline.join(anchor, boot="this boot", floor_ns=started_ns + SECOND)

    assert timeline.utc_ns() == started_ns + 7 * SECOND
    assert timeline.shift_ns == -set_ns
    assert [finding.code for finding in timeline.findings()] == ["clock-set"]


@pytest.mark.parametrize("boot", ["another boot", ""])
def test_without_the_same_boot_instants_follow_the_last_one_known(boot: str):
    """How long the stop was nobody knows: it counts as unseen."""
    clock = SetClock()
    anchor, last_ns = anchor_of(clock, boot=boot), clock.utc_ns()
    clock.set_ns = -HOUR

    timeline = Timeline(clock)
    timeline.join(anchor, boot=boot and "this boot", floor_ns=last_ns)
    (piece,) = timeline.shifted((trace_of(lasting("idle", 1), start_ns=clock.utc_ns()),))

    assert timeline.utc_ns() == last_ns + UNSEEN_SECONDS * SECOND
    assert piece.time_ns[0] > last_ns


def test_a_clock_that_stands_after_all_that_is_known_is_believed():
    """The usual restart: no shift."""
    clock = SetClock()
    timeline = Timeline(clock)

    timeline.join(None, boot="this boot", floor_ns=clock.utc_ns() - 1)

    assert timeline.shift_ns == 0


def test_a_boot_has_one_name():
    """Asked twice, the answer is the same; empty where the system does not say."""
    assert boot_id() == boot_id()
