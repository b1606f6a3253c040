"""From bounds to a probability: calibrated at the ends, one half where an end is open."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import NOTHING, Amount
from flopwitness.verify.probability import probability_over, probability_over_with

POSITIVE = st.floats(1e-3, 1e3)


@st.composite
def amounts(draw: st.DrawFn) -> Amount:
    """Any amount, its ends perhaps open."""
    point = draw(POSITIVE)
    low = point * draw(st.floats(0, 1))
    high = draw(st.just(inf) | st.floats(1, 10).map(lambda ratio: ratio * point))
    return Amount(low, point, high, inf)


@pytest.mark.parametrize(("figure", "expected"), [(90.0, 0.95), (100.0, 0.5), (130.0, 0.05)])
def test_the_ends_leave_half_of_the_misses_each(figure: float, expected: float) -> None:
    """Ends may lie unequally far from the point; each leaves five of a hundred."""
    amount = Amount(90.0, 100.0, 130.0, inf)

    assert probability_over(amount, figure, coverage_ratio=0.9) == pytest.approx(expected)


@given(amount=amounts(), figures=st.tuples(POSITIVE, POSITIVE).map(sorted))
def test_a_larger_figure_is_not_exceeded_more_often(amount: Amount, figures: list[float]) -> None:
    """Probability falls as the figure rises, from 1 to 0."""
    first, second = (probability_over(amount, figure, coverage_ratio=0.9) for figure in figures)

    assert 1 >= first >= second >= 0


@given(amount=amounts(), figure=POSITIVE)
def test_an_open_end_is_no_evidence(amount: Amount, figure: float) -> None:
    """Without a lower end no figure below the point is exceeded for sure."""
    blind = Amount(0.0, amount.point_flop, inf, inf)

    assert probability_over(blind, figure, coverage_ratio=0.9) == pytest.approx(0.5)


def test_nothing_exceeds_no_figure() -> None:
    """What took nothing for sure is over nothing."""
    assert probability_over(NOTHING, 1.0, coverage_ratio=0.9) == 0.0


def test_an_amount_of_unknown_size_may_exceed_what_its_end_allows() -> None:
    """A point of zero with room above is not known to be under a figure inside it."""
    assert probability_over(Amount(0.0, 0.0, 5.0, 5.0), 3.0, coverage_ratio=0.9) == 0.5


def test_an_exact_amount_is_over_or_not() -> None:
    """Without width there is no doubt."""
    exact = Amount(2.0, 2.0, 2.0, 2.0)

    assert [probability_over(exact, figure, coverage_ratio=0.9) for figure in (1.0, 3.0)] == [1.0, 0.0]


@given(amount=amounts(), unseen=POSITIVE, figure=POSITIVE)
def test_work_that_nobody_saw_only_adds(amount: Amount, unseen: float, figure: float) -> None:
    """With unseen work a figure is exceeded at least as often."""
    seen = probability_over(amount, figure, coverage_ratio=0.9)

    assert probability_over_with(amount, unseen, figure, coverage_ratio=0.9) >= seen
