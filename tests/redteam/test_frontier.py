"""Hidden FLOP against cost: the frontier, and the cheapest attack that hides enough."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.redteam.frontier import Figure, cheapest, hidden_ratio, pareto_front
from redteam.made import effect

EFFECTS = st.lists(
    st.builds(
        lambda error, time: effect(error=error, gpu_time=time), st.floats(-0.9, 0.5), st.floats(0.5, 5.0)
    ),
    max_size=12,
)


@given(effects=EFFECTS)
def test_nobody_beats_the_frontier(effects: list[object]):
    """Whatever hides more than a point of it costs more; along it both grow."""
    front = pareto_front(effects, Figure.POINT)

    hidden = [hidden_ratio(one, Figure.POINT) for one in front]
    costs = [one.cost.gpu_time_ratio for one in front]
    assert hidden == sorted(set(hidden))
    assert costs == sorted(set(costs))
    for one in effects:
        if hidden_ratio(one, Figure.POINT) > 0:
            reached = [
                hidden_ratio(other, Figure.POINT)
                for other in front
                if other.cost.gpu_time_ratio <= one.cost.gpu_time_ratio
            ]
            assert max(reached) >= hidden_ratio(one, Figure.POINT)


def test_the_cheapest_effective_attack_is_named_within_and_beyond_the_budget():
    """Each by GPU time; one that hides less than asked for is not effective, however cheap."""
    weak = effect("heads-1", error=-0.09, gpu_time=0.5)
    dear = effect("throttle-2", error=-0.5, gpu_time=1.9)
    fair = effect("batch-64", error=-0.10, gpu_time=1.2)

    found = cheapest([weak, dear, fair], "fused", Figure.POINT)

    assert (found.in_budget, found.at_any_cost) == (fair, fair)


def test_over_budget_is_another_answer():
    """Twice the GPU time is the rule of the game; beyond it the attack is named apart."""
    dear = effect("decoy-1", error=-0.5, gpu_time=2.5)

    found = cheapest([dear], "fused", Figure.POINT)

    assert (found.in_budget, found.at_any_cost) == (None, dear)


def test_hiding_from_the_high_bound_is_another_question():
    """A point that is 20 % low under a bound that holds hides nothing from the bound."""
    one = effect(error=-0.2, high_error=0.05)
    other = effect("fp8-all", error=-0.4, high_error=-0.3, gpu_time=1.9)

    found = cheapest([one, other], "fused", Figure.HIGH)

    assert found.in_budget == other
    assert cheapest([one], "fused", Figure.HIGH).at_any_cost is None


def test_effects_on_other_methods_do_not_count_and_unknown_costs_are_counted_apart():
    """No price, no rank; but it is said that something was left out."""
    effects = [effect(method="mlp"), effect("fp8-all", gpu_time=nan)]

    found = cheapest(effects, "fused", Figure.POINT)

    assert (found.in_budget, found.at_any_cost, found.n_unpriced) == (None, None, 1)


@pytest.mark.parametrize("share", [0.0, 1.0, nan])
def test_a_share_of_nothing_is_refused(share: float):
    """Every attack hides 0 %."""
    with pytest.raises(InvalidNounError):
        cheapest([], "fused", Figure.POINT, hides_ratio=share)
