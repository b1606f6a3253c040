"""Memory as runs of one value, the same however the readings came."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contracts.detector import GPU_A
from detect.jobs.made import GIB, SECOND, held
from flopwitness.core.trace import Trace
from flopwitness.detect.jobs.memory import MemoryRuns, joined_runs, memory_runs


def trace_of(readings: list[float]) -> Trace:
    """Return a trace with a reading a second."""
    return Trace(GPU_A, SECOND * np.arange(len(readings)), {"memory_used_bytes": readings})


def values_of(runs: MemoryRuns) -> list[tuple[int, int, float]]:
    """Return the runs as plain values."""
    return list(zip(runs.first_ns.tolist(), runs.last_ns.tolist(), runs.used_bytes.tolist(), strict=True))


def test_equal_readings_are_one_run_and_blanks_are_none():
    """A sampler that reads memory each second sample says the same."""
    found = memory_runs(trace_of([1.0, np.nan, 1.0, 2.0, np.nan]))

    assert values_of(found) == [(0, 2 * SECOND, 1.0), (3 * SECOND, 3 * SECOND, 2.0)]
    assert len(memory_runs(Trace(GPU_A, [1], {"power_watts": [80.0]}))) == 0


@given(st.lists(st.sampled_from([1.0, 2.0, np.nan]), max_size=30), st.integers(0, 30))
def test_pieces_give_the_runs_of_the_whole(readings: list[float], cut: int):
    """Wherever the stream was cut."""
    trace = trace_of(readings)

    pieces = [memory_runs(trace.between(0, cut)), memory_runs(trace.between(cut, len(trace)))]

    assert values_of(joined_runs(pieces)) == values_of(memory_runs(trace))


def test_what_nobody_read_for_a_minute_is_no_run():
    """Equal values on both sides of a long silence say nothing of the time between."""
    found = memory_runs(Trace(GPU_A, [0, 61 * SECOND], {"memory_used_bytes": [1.0, 1.0]}))

    assert len(found) == 2
    assert len(found.seen_within(5 * SECOND, 50 * SECOND)) == 0


def test_a_level_is_what_was_in_use_for_most_of_the_time():
    """A build at the end of a session, or at its start, is not its level; unread is None."""
    runs = held((0, 1, 5), (1.1, 9, 40), (9.1, 10, 60))

    assert runs.level_within(0, 10 * SECOND) == 40 * GIB
    assert runs.level_within(9_500_000_000, 10 * SECOND) == 60 * GIB
    assert runs.level_within(11 * SECOND, 12 * SECOND) is None


def test_only_the_newest_runs_are_kept():
    """As many as asked for."""
    assert values_of(held((0, 1, 5), (2, 3, 6)).newest(1)) == [(2 * SECOND, 3 * SECOND, 6 * GIB)]
