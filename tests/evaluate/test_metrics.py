"""Errors, coverage and widths, with failed estimates counted rather than dropped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.metrics import (
    ErrorSummary,
    interval_coverage,
    signed_error_ratio,
    summarised,
    wilson_interval,
)

FLOP = st.lists(st.tuples(st.floats(1e10, 1e26), st.floats(1e10, 1e26)), min_size=1, max_size=20)


def test_a_summary_holds_what_a_hand_would_find() -> None:
    """Five errors, worked out by hand."""
    errors = [-0.4, 0.1, 0.0, -0.2, 0.3]

    expected = ErrorSummary(
        median_abs_error_ratio=pytest.approx(0.2),
        mean_abs_error_ratio=pytest.approx(0.2),
        p90_abs_error_ratio=pytest.approx(0.36),
        worst_under_ratio=pytest.approx(-0.4),
        worst_over_ratio=pytest.approx(0.3),
        median_signed_error_ratio=0.0,
        n=5,
        n_failed=0,
    )

    assert summarised(errors) == expected


def test_the_worst_under_is_zero_where_nothing_is_under() -> None:
    """A worst case of one sign does not borrow from the other."""
    assert summarised([0.1, 0.2]).worst_under_ratio == 0.0
    assert summarised([-0.1, -0.2]).worst_over_ratio == 0.0


def test_an_estimate_that_is_missing_counts_as_infinitely_wrong() -> None:
    """Dropping it would make an estimator better by failing."""
    errors = signed_error_ratio([100.0, np.nan, np.nan], 100.0)
    summary = summarised(errors)

    assert summary.median_abs_error_ratio == np.inf
    assert summary.worst_over_ratio == np.inf
    assert (summary.n, summary.n_failed) == (3, 2)


def test_few_missing_estimates_raise_the_median_but_do_not_end_it() -> None:
    """A rank survives what a mean does not."""
    summary = summarised(signed_error_ratio([101.0, 102.0, np.nan], 100.0))

    assert summary.median_abs_error_ratio == pytest.approx(0.02)
    assert summary.mean_abs_error_ratio == np.inf


def test_a_negative_estimate_is_more_than_all_of_the_truth_under() -> None:
    """A linear fit can go below zero; clipping would hide by how much."""
    assert summarised(signed_error_ratio([-203.0], 100.0)).worst_under_ratio == pytest.approx(-3.03)


def test_nothing_cannot_be_summed_up() -> None:
    """A median of no score is not zero."""
    with pytest.raises(InvalidNounError, match="no score"):
        summarised([])


@given(pairs=FLOP, scale=st.floats(1e-6, 1e6))
def test_scaling_truth_and_estimate_changes_no_ratio(pairs: list[tuple[float, float]], scale: float) -> None:
    """A ratio has no unit."""
    estimate, truth = np.array(pairs).T

    expected = signed_error_ratio(estimate, truth)
    actual = signed_error_ratio(estimate * scale, truth * scale)

    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


def covered(bounds: list[tuple[float, float]], *, point: float = 100.0, workloads: list[str] | None = None):
    """Compare intervals with a truth of 100."""
    n = len(bounds)
    names = np.array(workloads or [f"w{number}" for number in range(n)])
    points, truth = np.full(n, point), np.full(n, 100.0)
    return interval_coverage(truth, points, bounds_flop=np.array(bounds), workloads=names)


def test_coverage_is_the_share_of_intervals_that_hold_the_truth() -> None:
    """Ends belong to the interval; the upper bound is counted on its own."""
    coverage = covered([(90, 110), (100, 110), (101, 110), (80, 99)])

    assert coverage.coverage_ratio == 0.5
    assert coverage.upper_coverage_ratio == 0.75
    assert coverage.median_width_ratio == pytest.approx(0.145)


def test_an_infinite_upper_end_holds_but_narrows_nothing() -> None:
    """Ignorance is honest and useless at the same time."""
    coverage = covered([(0, np.inf)])

    assert coverage.coverage_ratio == 1.0
    assert coverage.median_width_ratio == np.inf


@pytest.mark.parametrize("bounds", [(np.nan, 110.0), (90.0, np.nan)])
def test_an_end_that_is_missing_holds_nothing(bounds: tuple[float, float]) -> None:
    """An interval that was not given is not one that was right."""
    coverage = covered([bounds])

    assert coverage.coverage_ratio == 0.0
    assert coverage.median_width_ratio == np.inf


@pytest.mark.parametrize("point", [0.0, -5.0, np.nan])
def test_width_without_a_positive_point_is_infinite(point: float) -> None:
    """A length needs something to compare with."""
    assert covered([(90, 110)], point=point).median_width_ratio == np.inf


def test_traces_of_one_workload_are_one_trial() -> None:
    """Ten traces of one program say no more of other programs than one does."""
    ten_traces = covered([(90, 110)] * 10, workloads=["a"] * 10)
    ten_workloads = covered([(90, 110)] * 10)

    assert ten_traces.low_ratio < ten_workloads.low_ratio
    assert (ten_traces.n, ten_traces.n_workloads) == (10, 1)


def test_no_interval_cannot_be_compared() -> None:
    """Coverage of nothing is not complete."""
    with pytest.raises(InvalidNounError, match="no interval"):
        covered([])


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(10, 10, 0.7225, 1.0), (0, 10, 0.0, 0.2775), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_gives_published_intervals(hits: int, trials: int, low: float, high: float) -> None:
    """81 of 263 is the worked case of Newcombe, Statistics in Medicine 17, 1998; the ends are n/(n + z²)."""
    assert wilson_interval(hits / trials, trials) == pytest.approx((low, high), abs=1e-4)
