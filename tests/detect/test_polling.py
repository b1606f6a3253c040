"""The published experiment's rule, held against a plain retelling of it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.detector import (
    GPU_A,
    LAW,
    RUNS,
    START_NS,
    DetectorContract,
    Look,
    lasting,
    seconds_of,
    trace_of,
)
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.detect.polling import PollingDetector, PollingRule
from flopwitness.detect.run import sessions_of

PERIOD_NS = 1_500_000_000


def polls_of(trace: Trace, stale_seconds: float = 1.5) -> list[tuple[int, str]]:
    """Poll as a daemon would: at each instant ask for the latest sample, and disbelieve an old one."""
    polls: list[tuple[int, str]] = []
    if not len(trace):
        return polls
    for instant_ns in range(int(trace.time_ns[0]), int(trace.time_ns[-1]) + 1, PERIOD_NS):
        latest = int(np.searchsorted(trace.time_ns, instant_ns, side="right")) - 1
        utilisation = trace["gpu_util_ratio"][latest]
        if instant_ns - trace.time_ns[latest] > stale_seconds * 1e9 or np.isnan(utilisation):
            polls.append((instant_ns, "unseen"))
        else:
            polls.append((instant_ns, "busy" if utilisation > 0.05 else "idle"))
    return polls


def jobs_of(trace: Trace, stale_seconds: float) -> list[tuple[int, int]]:
    """Follow the published rule poll by poll."""
    jobs, start_ns, row, before = [], None, [], ""
    for instant_ns, reading in polls_of(trace, stale_seconds):
        row = [*row, instant_ns] if reading == before else [instant_ns]
        before = reading
        if start_ns is None and reading == "busy" and len(row) == 2:
            start_ns = row[0]
        if start_ns is not None and reading == "idle" and len(row) == 3:
            jobs.append((start_ns, row[0]))
            start_ns = None
    if start_ns is not None:
        jobs.append((start_ns, int(trace.time_ns[-1])))
    return jobs


class TestPollingDetectorContract(DetectorContract):
    """The polling detector keeps what every detector promises."""

    def make_detector(self) -> PollingDetector:
        """Return one with the published rule."""
        return PollingDetector()

    def held_ns(self, trace: Trace) -> NDArray[np.int64]:
        """Return the polls that read busy next to another that did."""
        pairs = [(one, two) for one, two in pairwise(polls_of(trace)) if one[1] == two[1] == "busy"]
        return np.array(sorted({instant_ns for pair in pairs for instant_ns, _ in pair}), dtype=np.int64)


@LAW
@given(looks=RUNS, stale_seconds=st.sampled_from([0.2, 1.5, 5.0]))
def test_jobs_are_those_of_a_daemon_that_polls_one_by_one(looks: list[Look], stale_seconds: float):
    """Counting polls in bulk gives what following them gives."""
    trace = trace_of(looks)

    sessions = sessions_of(PollingDetector(PollingRule(stale_seconds=stale_seconds)), [trace])

    assert [(job.start_ns, job.stop_ns) for job in sessions] == jobs_of(trace, stale_seconds)


def utilised(readings: list[float]) -> Trace:
    """Return a trace with one sample a poll."""
    time_ns = [START_NS + PERIOD_NS * poll for poll in range(len(readings))]
    return Trace(GPU_A, time_ns, {"gpu_util_ratio": readings})


NAN = float("nan")


@pytest.mark.parametrize(
    ("readings", "jobs"),
    [
        ([0, 1, 0, 0, 0, 0], []),
        ([0, 1, 1, 0, 0, 0], [(1.5, 4.5)]),
        ([0, 0.05, 0.05, 0.05, 0, 0, 0], []),
        ([0, 0.06, 0.06, 0, 0, 0], [(1.5, 4.5)]),
        ([0, 1, 1, 0, 0, 1, 0, 0], [(1.5, 10.5)]),
        ([0, 1, 1, 0, 0, NAN, 0, 0], [(1.5, 10.5)]),
        ([0, 1, 1, 0, 0, NAN, 0, 0, 0], [(1.5, 9.0)]),
        ([0, 1, NAN, 1, 0, 0, 0], []),
        ([NAN, NAN, NAN, NAN], []),
        ([0, 1, 1, NAN, NAN, NAN], [(1.5, 7.5)]),
        ([1, 1, 0, 0, 0.05, 0, 0, 0], [(0.0, 7.5)]),
    ],
)
def test_rows_of_polls_open_and_close_jobs(readings: list[float], jobs: list[tuple[float, float]]):
    """Two above 5 % open, three below close; a blank poll or one at 5 % breaks either row."""
    sessions = sessions_of(PollingDetector(), [utilised(readings)])

    assert seconds_of(sessions) == [("", start, stop) for start, stop in jobs]


def test_a_pause_of_six_seconds_splits_a_job():
    """The experiment's first attack: three polls fall into the pause."""
    looks = lasting("working", 30) + lasting("idle", 6) + lasting("working", 30) + lasting("idle", 6)

    assert len(sessions_of(PollingDetector(), [trace_of(looks)])) == 2


def test_a_pause_of_a_second_does_not_split_a_job():
    """Runs that follow each other closely come out as one job."""
    looks = lasting("working", 30) + lasting("idle", 1.2) + lasting("working", 30) + lasting("idle", 6)

    assert len(sessions_of(PollingDetector(), [trace_of(looks)])) == 1


def test_a_deadlock_looks_like_work():
    """Utilisation reads 100 % of a deadlock: the baseline cannot tell, which is why we have another."""
    looks = lasting("working", 5) + lasting("stalled", 60)

    sessions = sessions_of(PollingDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.1, 65.0)]


def test_a_sample_older_than_its_limit_is_not_believed():
    """A monitor that lost its source must not see idle, nor busy, for ever."""
    looks = [*lasting("working", 6), ("idle", 0.1), ("idle", 60.0), *lasting("working", 6)]

    sessions = sessions_of(PollingDetector(), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 0.1, 72.1)]


def test_a_gap_of_a_century_is_polled_in_no_time():
    """Polls in a gap are counted, not listed."""
    looks = [*lasting("working", 6), ("working", 100 * 365 * 86400.0)]

    (session,) = sessions_of(PollingDetector(), [trace_of(looks)])

    assert session.n_samples == 61


def test_without_utilisation_it_finds_nothing():
    """A source that lacks the channel gives blank polls, which open nothing."""
    trace = Trace(GPU_A, [START_NS + PERIOD_NS * poll for poll in range(9)], {"power_watts": [700.0] * 9})

    assert sessions_of(PollingDetector(), [trace]) == ()


def test_the_rule_can_be_changed():
    """Other intervals and rows are other detectors to compare with."""
    rule = PollingRule(poll_seconds=0.5, opening_polls=1, closing_polls=1, stale_seconds=0.5)
    looks = lasting("idle", 2) + lasting("working", 2) + lasting("idle", 2)

    sessions = sessions_of(PollingDetector(rule), [trace_of(looks)])

    assert seconds_of(sessions) == [("", 2.1, 4.1)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("poll_seconds", 0.0),
        ("poll_seconds", float("nan")),
        ("stale_seconds", float("inf")),
        ("busy_above_ratio", 1.0),
        ("busy_above_ratio", -0.1),
        ("opening_polls", 0),
        ("closing_polls", 0),
    ],
)
def test_a_rule_that_cannot_work_is_refused(name: str, value: float):
    """It must be able to poll, open and close."""
    with pytest.raises(InvalidNounError, match=name):
        PollingRule(**{name: value})
