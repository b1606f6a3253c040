"""The interval's promise: kept on draws that can be exchanged, not made where there are too few."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from estimate.made import NAN
from flopwitness.estimate.conformal import (
    SHIFT_COVER,
    UNBOUNDED,
    LogInterval,
    bounds_flop,
    conformal_interval,
    guard_log,
    widest,
)

COVERAGES = st.floats(0.05, 0.99)
RATIOS = st.lists(st.floats(-5, 5), max_size=60)


def coverage_of(draws: NDArray[np.float64], coverage_ratio: float) -> float:
    """Return how often the interval of all draws but the last holds the last; one trial a row."""
    held = 0
    for row in draws:
        low, high = conformal_interval(row[:-1], coverage_ratio)
        held += low <= row[-1] <= high
    return held / len(draws)


def exact_coverage(n_runs: int, coverage_ratio: float) -> float:
    """Return the coverage of two order statistics of n, at equal ranks from either end."""
    rank = int(np.ceil((n_runs + 1) * (1 + coverage_ratio) / 2))
    return (2 * rank - n_runs - 1) / (n_runs + 1)


@pytest.mark.parametrize("law", ["normal", "standard_cauchy", "exponential"])
@pytest.mark.parametrize(("n_runs", "coverage_ratio"), [(19, 0.9), (30, 0.9), (68, 0.9), (25, 0.5)])
def test_coverage_is_what_order_statistics_promise(law: str, n_runs: int, coverage_ratio: float):
    """Not above and not below, whatever the law of the errors, with few runs as with many."""
    draws = getattr(np.random.default_rng(7), law)(size=(4000, n_runs + 1))

    expected = exact_coverage(n_runs, coverage_ratio)

    assert expected >= coverage_ratio
    assert coverage_of(draws, coverage_ratio) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("n_runs", "is_bounded"), [(0, False), (1, False), (18, False), (19, True)])
def test_nineteen_runs_are_needed_for_nine_in_ten(n_runs: int, is_bounded: bool):
    """Below, one miss in twenty on each side cannot be told from none."""
    assert (conformal_interval(np.zeros(n_runs), 0.9) != UNBOUNDED) == is_bounded


@given(ratios=RATIOS, coverages=st.tuples(COVERAGES, COVERAGES))
def test_a_larger_promise_is_never_narrower(ratios: list[float], coverages: tuple[float, float]):
    """The interval for more coverage holds the one for less."""
    smaller, larger = (conformal_interval(ratios, coverage) for coverage in sorted(coverages))

    assert larger.low <= smaller.low <= smaller.high <= larger.high


@given(
    ratios=RATIOS,
    coverage=COVERAGES,
    n_missed=st.integers(0, 5),
    miss=st.sampled_from([NAN, np.inf, -np.inf]),
)
def test_a_run_without_an_answer_counts_as_missed(
    ratios: list[float], coverage: float, n_missed: int, miss: float
):
    """As if its error had been beyond every other one, on both sides: silence earns no narrow interval."""
    interval = conformal_interval([*ratios, *[miss] * n_missed], coverage)
    beyond_above = conformal_interval([*ratios, *[1e300] * n_missed], coverage)
    beyond_below = conformal_interval([*ratios, *[-1e300] * n_missed], coverage)

    assert interval.high == (np.inf if beyond_above.high == 1e300 else beyond_above.high)
    assert interval.low == (-np.inf if beyond_below.low == -1e300 else beyond_below.low)


@given(ratios=st.permutations([x / 100 for x in range(-50, 50)]))
def test_the_order_of_runs_does_not_matter(ratios: list[float]):
    """Exchangeable draws have no order."""
    assert conformal_interval(ratios, 0.9) == LogInterval(-0.46, 0.45)


@given(
    points=st.lists(st.floats(0, 1e30), min_size=1, max_size=5),
    ends=st.tuples(st.floats(-9, 9) | st.just(-np.inf), st.floats(-9, 9) | st.just(np.inf)),
)
def test_the_point_lies_between_its_bounds(points: list[float], ends: tuple[float, float]):
    """Also where every held-out run was off to the same side, and for a point of 0."""
    low, high = bounds_flop(points, LogInterval(*ends)).T

    assert np.all((low >= 0) & (low <= points) & (points <= high))


def test_bounds_are_ratios_of_the_point():
    """ln(truth / estimate) between -ln 2 and ln 3: from half of the estimate to three times."""
    bounds = bounds_flop([1e15, 2e15], LogInterval(-np.log(2), np.log(3)))

    assert bounds == pytest.approx(np.array([[0.5e15, 3e15], [1e15, 6e15]]))


def test_without_a_promise_bounds_reach_from_zero_to_infinity():
    """Of a point of 0 too."""
    assert bounds_flop([0.0, 1e15], UNBOUNDED).tolist() == [[0.0, np.inf]] * 2


@given(ratios=st.lists(st.floats(-5, 5), min_size=1, max_size=60), n_traces=st.integers(1, 4))
def test_traces_of_one_workload_count_once(ratios: list[float], n_traces: int):
    """The same workloads run again and again promise no more and no less than once."""
    again, names = np.tile(ratios, n_traces), np.tile(np.arange(len(ratios)), n_traces)

    assert conformal_interval(again, 0.9, names) == conformal_interval(ratios, 0.9)


def test_a_workload_that_was_run_often_does_not_outvote_the_others():
    """Nineteen workloads, one of them far off and run a hundred times: it is one in nineteen."""
    ratios = [*np.linspace(-0.1, 0.1, 38), *[5.0] * 100]
    names = [*np.repeat(np.arange(19), 2), *[19] * 100]

    assert conformal_interval(ratios, 0.8, names).high < 0.11
    assert conformal_interval(ratios, 0.8).high == 5.0


def test_the_widest_of_two_intervals_holds_both():
    """The lower low end and the higher high end."""
    assert widest(LogInterval(-0.1, 0.3), LogInterval(-0.2, 0.1)) == LogInterval(-0.2, 0.3)


def test_a_session_of_twice_the_spread_has_bounds_twice_as_far_off():
    """In logarithms, on both sides; an open end stays open."""
    spread = bounds_flop([1e15, 1e15], LogInterval(-0.1, 0.2), [1.0, 2.0])

    assert np.log(spread / 1e15) == pytest.approx(np.array([[-0.1, 0.2], [-0.2, 0.4]]))
    assert bounds_flop([0.0], UNBOUNDED, [2.0]).tolist() == [[0.0, np.inf]]


@pytest.mark.parametrize(("n_runs", "is_bounded"), [(0, False), (98, False), (99, True)])
def test_ninety_nine_runs_are_needed_for_a_guard(n_runs: int, is_bounded: bool):
    """Fewer say nothing about the worst of a hundred."""
    assert np.isfinite(guard_log(np.zeros(n_runs))) == is_bounded


def test_a_guard_is_twice_what_the_worst_benign_run_in_a_hundred_was_short_of():
    """Of 200 runs the 199th; the one that is farther off counts for nothing."""
    ratios = [x / 1000 for x in range(199)] + [5.0]

    assert guard_log(ratios) == pytest.approx(SHIFT_COVER * 0.198)


@given(ratios=st.lists(st.floats(-5, 5), min_size=99, max_size=130))
def test_a_guard_never_lies_below_the_point(ratios: list[float]):
    """Nor below what nearly all benign runs were short of, nor does it depend on the order of runs."""
    guard = guard_log(ratios)

    assert guard >= 0
    assert np.mean(np.array(ratios) <= guard) >= 0.98
    assert guard_log(ratios[::-1]) == guard


@given(ratios=st.lists(st.floats(-5, 5), min_size=99, max_size=130), n_missed=st.integers(0, 3))
def test_a_run_without_an_answer_never_lowers_the_guard(ratios: list[float], n_missed: int):
    """It counts as one that was short of everything; two in a hundred leave no guard."""
    guard = guard_log([*ratios, *[NAN] * n_missed])

    assert guard >= guard_log(ratios) or n_missed == 0
    assert np.isinf(guard) or n_missed < 2
