"""What hiding costs: hidden FLOP against extra GPU time, and the cheapest attack that hides enough."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from flopwitness.core.errors import InvalidNounError
from flopwitness.redteam.scoring import Effect

EFFECTIVE_RATIO = 0.10
"""From this share of hidden FLOP on an attack counts as effective."""


class Figure(StrEnum):
    """From which figure FLOP are hidden."""

    POINT = "point"
    HIGH = "high bound"


def hidden_ratio(effect: Effect, figure: Figure) -> float:
    """Return the share of the true FLOP that a figure does not show, >= 0."""
    return effect.hidden_ratio if figure is Figure.POINT else effect.hidden_from_high_ratio


def pareto_front(effects: Iterable[Effect], figure: Figure) -> tuple[Effect, ...]:
    """Return the effects that none beats in both hiding and cost, cheapest first.

    Effects that hide nothing, or whose cost is not known, are not on it.
    """
    able = [
        effect
        for effect in effects
        if hidden_ratio(effect, figure) > 0 and np.isfinite(effect.cost.gpu_time_ratio)
    ]
    front: list[Effect] = []
    for effect in sorted(able, key=lambda one: (one.cost.gpu_time_ratio, -hidden_ratio(one, figure))):
        if not front or hidden_ratio(effect, figure) > hidden_ratio(front[-1], figure):
            front.append(effect)
    return tuple(front)


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The cheapest effective attack on one method.

    Attributes
    ----------
    method : str
        Who is deceived.
    figure : Figure
        From which of its figures the FLOP are hidden.
    in_budget, at_any_cost : Effect or None
        The cheapest within twice the GPU time, and whatever it costs; None where no attack hides enough.
    n_unpriced : int
        Effective attacks whose cost is not known: they are in neither.
    """

    method: str
    figure: Figure
    in_budget: Effect | None
    at_any_cost: Effect | None
    n_unpriced: int


def cheapest(
    effects: Sequence[Effect], method: str, figure: Figure, *, hides_ratio: float = EFFECTIVE_RATIO
) -> Cheapest:
    """Return the attack of least GPU time that hides a share of the FLOP from a method.

    Parameters
    ----------
    effects : sequence of Effect
        Of any methods and attacks.
    method : str
        Whose effects count.
    figure : Figure
        The point, or the high bound.
    hides_ratio : float in (0, 1)
        Share of the true FLOP that must be hidden, in the median of the traces.

    Raises
    ------
    InvalidNounError
        When the share is none.
    """
    if not 0 < hides_ratio < 1:
        raise InvalidNounError(f"a share to hide must lie inside (0, 1), got {hides_ratio}")
    effective = [
        effect
        for effect in effects
        if effect.method == method and hidden_ratio(effect, figure) >= hides_ratio
    ]
    priced = [effect for effect in effective if np.isfinite(effect.cost.gpu_time_ratio)]
    allowed = [effect for effect in priced if effect.cost.is_in_budget]
    return Cheapest(method, figure, _least(allowed), _least(priced), n_unpriced=len(effective) - len(priced))


def _least(effects: Sequence[Effect]) -> Effect | None:
    return min(effects, key=lambda effect: effect.cost.gpu_time_ratio, default=None)
