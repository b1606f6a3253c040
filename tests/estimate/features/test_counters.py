"""Cumulative counters: interpolated, bridged, cut at resets, not believed beyond what a device can do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimate.made import NAN, START_NS, session_of, trace_of
from flopwitness.core.session import cut_session
from flopwitness.estimate.features.counters import counted
from flopwitness.estimate.features.steps import Integral, session_steps


def joules(
    seconds: list[float], values: list[float], *, most_watts: float = float("inf"), **ends: float
) -> Integral:
    """Count an energy counter over a session."""
    trace = trace_of(seconds, energy_joules_total=values)
    return counted(
        session_steps(session_of(trace, **ends), trace), "energy_joules_total", most_per_second=most_watts
    )


def about(total: float, unobserved_seconds: float) -> Integral:
    """Return what is expected, up to rounding."""
    return Integral(pytest.approx(total, nan_ok=True), pytest.approx(unobserved_seconds))


def test_the_ends_are_interpolated():
    """A window rarely starts where a counter was read."""
    assert joules([0, 1, 2, 3], [100, 200, 400, 800], start=0.5, stop=2.25) == about(50 + 200 + 100, 0)


def test_a_node_that_restarts_is_cut_at_the_reset():
    """600 J, then 1.2 J since the restart, then 600 J; 239 s are unobserved (IBM/CAST#399)."""
    readings = [5_000_000.0, 5_000_600.0, 1.2, 601.2]

    assert joules([0, 1, 240, 241], readings) == about(1201.2, 239.0)


def test_a_blank_is_bridged():
    """The counter counted on while nobody answered, so nothing is unobserved."""
    assert joules([0, 1, 2, 3], [100, NAN, NAN, 700]) == about(600, 0)


def test_missing_rows_are_bridged():
    """NVML counts on while nobody samples; a straight line of a gauge would not know."""
    assert joules([0, 1, 2, 3, 103, 104], [0, 100, 200, 300, 9300, 9400]) == about(9400, 0)


def test_blanks_at_the_ends_are_unobserved():
    """Nothing lies behind the last reading to bridge to."""
    assert joules([0, 1, 2, 3], [NAN, 100, 300, NAN]) == about(200, 2.0)


def test_a_session_beyond_the_samples_is_unobserved_there():
    """Time before the first and after the last reading."""
    assert joules([1, 2], [100, 200], start=0, stop=4) == about(100, 3.0)


def test_a_blank_before_the_session_moves_the_first_reading():
    """Half of the bridged stretch lies inside, so half of what it counted does."""
    assert joules([0, 1, 2, 3], [0, NAN, 200, 300], start=1.0) == about(100 + 100, 0)


@pytest.mark.parametrize("values", [[], [5.0], [NAN, 5.0, NAN], [NAN] * 3])
def test_fewer_than_two_readings_say_nothing(values: list[float]):
    """A difference needs two; the total is not 0."""
    seconds = [float(index) for index in range(len(values))]

    assert joules(seconds, values, start=0, stop=3) == about(NAN, 3.0)


def test_two_equal_readings_are_a_difference_of_nothing():
    """For a link that is an answer; whether it can be one for energy is decided where energy is."""
    assert joules([0, 1], [500, 500]) == about(0, 0)


def test_a_small_jump_back_is_taken_for_a_reset():
    """What the counter shows is all that it can have counted since; the step is unobserved."""
    assert joules([0, 1, 2, 3], [100, 200, 150, 250], most_watts=1000) == about(100 + 150 + 100, 1.0)


def test_a_jump_back_of_an_old_counter_adds_no_absurd_energy():
    """5 GJ since the driver loaded cannot be spent in a second: the rate around it is carried over."""
    readings = [5e9, 5e9 + 600, 5e9 + 100, 5e9 + 700]

    assert joules([0, 1, 2, 3], readings, most_watts=1050) == about(1800, 1.0)


def test_an_underflow_is_not_believed():
    """18446744073447456768 is 2^64 minus a little, not energy (sustainable-computing-io/kepler#53)."""
    readings = [1000, 1600, 18446744073447456768, 2800, 3400]

    assert joules([0, 1, 2, 3, 4], readings, most_watts=1050) == about(600 * 4, 2.0)


def test_a_counter_that_never_moves_believably_says_nothing():
    """NaN, and all of its time unobserved."""
    assert joules([0, 1, 2], [0, 1e18, 5], most_watts=1.0) == about(NAN, 2.0)


def test_a_refresh_that_shows_late_is_no_fault():
    """At 100 Hz a counter that is refreshed every 0.1 s moves by ten steps' worth at once."""
    assert joules([0, 0.01, 0.02], [0, 0, 70], most_watts=1050) == about(70, 0)


@given(
    moves=st.lists(st.floats(0, 1000), min_size=2, max_size=20),
    blanks=st.sets(st.integers(1, 18)),
    at=st.floats(0.01, 0.99),
)
def test_what_two_parts_count_adds_up_to_the_whole(moves: list[float], blanks: set[int], at: float):
    """Wherever a session is cut between two readings, no joule is lost and none is counted twice."""
    middle = at * len(moves)
    beside = {math.floor(middle), math.ceil(middle), len(moves)}
    readings = np.cumsum([0.0, *moves])
    readings[sorted(index for index in blanks - beside if index < len(moves))] = NAN
    trace = trace_of(np.arange(len(readings)), energy_joules_total=readings)
    cut_ns = START_NS + round(middle * 1e9)

    parts = [
        cut_session((trace,), *ends) for ends in ((START_NS, cut_ns), (cut_ns, START_NS + len(moves) * 10**9))
    ]
    totals = [counted(session_steps(part, part.traces[0]), "energy_joules_total").total for part in parts]

    assert sum(totals) == pytest.approx(sum(moves), abs=1e-6)
