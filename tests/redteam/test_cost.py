"""What evading costs, beside a twin, at equal work."""

from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.redteam.cost import UNKNOWN_COST, Cost, Spending, relative_cost

POSITIVE = st.floats(0.1, 1e6)
TWIN = Spending(4.0, 2000.0, 1e15)


def test_cost_is_time_and_energy_at_equal_flop():
    """Half the work in the same time costs twice as much of both."""
    cost = relative_cost([Spending(4.0, 2000.0, 0.5e15)], [TWIN])

    assert cost == Cost(2.0, 2.0)


def test_time_and_energy_are_apart():
    """A slow run at low power takes time and spares energy."""
    cost = relative_cost([Spending(6.0, 1000.0, 1e15)], [TWIN])

    assert cost.gpu_time_ratio == pytest.approx(1.5)
    assert cost.energy_ratio == pytest.approx(0.5)


@given(factor=st.floats(0.1, 10.0), time=POSITIVE, energy=POSITIVE)
def test_running_longer_at_the_same_pace_costs_nothing(factor: float, time: float, energy: float):
    """Time, energy and work all scaled alike leave the cost as it is."""
    longer = Spending(time * factor, energy * factor, 1e15 * factor)

    cost = relative_cost([longer], [Spending(time, energy, 1e15)])

    assert cost.gpu_time_ratio == pytest.approx(1)
    assert cost.energy_ratio == pytest.approx(1)


def test_one_odd_trace_does_not_set_the_cost():
    """The median of the traces, on either side."""
    runs = [Spending(seconds, 2000.0, 1e15) for seconds in (6.0, 6.0, 60.0)]

    assert relative_cost(runs, [TWIN]).gpu_time_ratio == pytest.approx(1.5)


def test_what_nobody_saw_is_not_known_and_does_not_hide_the_rest():
    """A trace without energy leaves the cost in energy to the others."""
    blind = Spending(4.0, nan, 1e15)

    assert isnan(relative_cost([blind], [TWIN]).energy_ratio)
    assert relative_cost([blind, TWIN], [TWIN]).energy_ratio == 1.0
    assert relative_cost([blind], [TWIN]).gpu_time_ratio == 1.0


@pytest.mark.parametrize(("ratio", "expected"), [(0.4, True), (2.0, True), (2.0001, False)])
def test_the_budget_is_twice_the_gpu_time(ratio: float, expected: bool):
    """Energy is reported, not limited."""
    assert Cost(ratio, 100.0).is_in_budget is expected


def test_an_unknown_cost_is_in_no_budget():
    """Who names no price has not shown that the rule was kept."""
    assert not UNKNOWN_COST.is_in_budget


@pytest.mark.parametrize("values", [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0), (nan, 1.0, 1.0)])
def test_a_run_that_took_nothing_is_refused(values: tuple[float, float, float]):
    """Time must be known; what is known is positive."""
    with pytest.raises(InvalidNounError):
        Spending(*values)
