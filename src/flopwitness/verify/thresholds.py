"""Thresholds that follow from others: a third of an original, the bands between two limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Threshold
from flopwitness.verify.conventions import convention_named

MODIFIER_SHARE = 1 / 3
"""Of the original model's compute; more than that makes a modifier the provider.

Commission guidelines for providers of general-purpose AI models, C(2025) 7719 final. Not 30 %: that would set
the bar 10 % too low.
"""

MODIFIER_RULES = frozenset({"eu-modifier-systemic", "eu-modifier-general"})
"""Thresholds that are a third of the original model's compute where that is known."""


def by_name(thresholds: Iterable[Threshold]) -> Mapping[str, Threshold]:
    """Return thresholds by their names, each one's convention looked up.

    Raises
    ------
    InvalidNounError
        When two bear one name, or one counts by a convention that nobody knows.
    """
    found: dict[str, Threshold] = {}
    for threshold in thresholds:
        if threshold.name in found:
            raise InvalidNounError(f"two thresholds are called {threshold.name!r}")
        convention_named(threshold.convention)
        found[threshold.name] = threshold
    return MappingProxyType(found)


def one_third_of(original_flop: float | None, default: Threshold) -> Threshold:
    """Return the threshold for whoever modifies a model.

    Parameters
    ----------
    original_flop : float or None
        Compute of the original model, > 0, as declared; None where nobody knows it.
    default : Threshold
        What applies then, such as ``eu-modifier-systemic``: it is returned, and its conditions say so.

    Raises
    ------
    InvalidNounError
        When the original's compute is not positive and finite.
    """
    if original_flop is None:
        said = f"the original model's compute is not known, so the default of {default.flop:.3g} FLOP applies"
        return replace(default, conditions=(said, *default.conditions))
    if not 0 < original_flop < float("inf"):
        raise InvalidNounError(
            f"an original model's compute must be positive and finite, got {original_flop}"
        )
    said = f"a third of {original_flop:.3g} FLOP, declared for the original model, not measured"
    return replace(default, flop=original_flop * MODIFIER_SHARE, conditions=(said, *default.conditions))


@dataclass(frozen=True, slots=True)
class Band:
    """What applies between two limits.

    Attributes
    ----------
    name : str
        Of the threshold that it starts at; ``"free"`` below all.
    from_flop, to_flop : float
        Its ends, ordered; 0 and infinity at the outside.
    """

    name: str
    from_flop: float
    to_flop: float


def bands(thresholds: Iterable[Threshold]) -> tuple[Band, ...]:
    """Return the bands that limits cut the FLOP into, from zero to infinity.

    Examples
    --------
    The draft treaty (arXiv:2511.10783) has three: free, ``treaty-monitored`` from 1e22 to 1e24, and
    ``treaty-forbidden`` above.

    Raises
    ------
    InvalidNounError
        When two limits are the same.
    """
    ordered = sorted(thresholds, key=lambda threshold: threshold.flop)
    edges = [0.0, *(threshold.flop for threshold in ordered), float("inf")]
    if len(set(edges)) < len(edges):
        raise InvalidNounError("bands need limits that differ")
    names = ["free", *(threshold.name for threshold in ordered)]
    return tuple(Band(*cut) for cut in zip(names, edges, edges[1:], strict=False))


def bands_touched(amount: Amount, within: Iterable[Band]) -> tuple[Band, ...]:
    """Return the bands that an amount may lie in, from its low to its high; more than one is no answer."""
    return tuple(
        band for band in within if amount.low_flop <= band.to_flop and band.from_flop <= amount.high_flop
    )
