"""Derived thresholds: a third of an original, and the bands between limits."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Threshold
from flopwitness.verify.thresholds import bands, bands_touched, by_name, one_third_of
from verify.amounts import AMOUNTS


def limit(name: str, flop: float) -> Threshold:
    """Return a threshold with nothing special about it."""
    return Threshold(name, name, "here", flop, True, "executed", "FLOP", ("a condition",), "in force", "text")  # noqa: FBT003


MODIFIER = limit("eu-modifier-systemic", 1e25 / 3)
TREATY = (limit("treaty-forbidden", 1e24), limit("treaty-monitored", 1e22))


def test_a_known_original_sets_the_bar_at_a_third() -> None:
    """One third, not 30 %: that would be 10 % too low."""
    found = one_third_of(6e25, MODIFIER)

    assert found.flop == pytest.approx(2e25)
    assert found.conditions[0] == "a third of 6e+25 FLOP, declared for the original model, not measured"
    assert found.name == MODIFIER.name


def test_an_unknown_original_leaves_the_default_and_says_so() -> None:
    """A third of the threshold itself applies."""
    found = one_third_of(None, MODIFIER)

    assert found.flop == MODIFIER.flop
    assert "default of 3.33e+24 FLOP applies" in found.conditions[0]
    assert found.conditions[1:] == MODIFIER.conditions


@pytest.mark.parametrize("original", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_original_is_refused(original: float) -> None:
    """It is a declaration like any other."""
    with pytest.raises(InvalidNounError, match="original model"):
        one_third_of(original, MODIFIER)


def test_the_treaty_has_three_bands() -> None:
    """Free below 1e22, monitored up to 1e24, forbidden above, whatever the order of the file."""
    found = [(band.name, band.from_flop, band.to_flop) for band in bands(TREATY)]

    assert found == [
        ("free", 0.0, 1e22),
        ("treaty-monitored", 1e22, 1e24),
        ("treaty-forbidden", 1e24, float("inf")),
    ]


def test_an_amount_may_touch_several_bands() -> None:
    """Then nothing is decided."""
    found = bands_touched(Amount(5e23, 6e23, 2e24, 3e24), bands(TREATY))

    assert [band.name for band in found] == ["treaty-monitored", "treaty-forbidden"]


@given(AMOUNTS, st.lists(st.floats(1.0, 1e30), unique=True, max_size=5))
def test_every_amount_lies_in_some_band(amount: Amount, limits: list[float]) -> None:
    """Bands cover everything from zero to infinity, without holes."""
    cut = bands(limit(f"limit-{number}", flop) for number, flop in enumerate(limits))

    assert bands_touched(amount, cut)
    assert all(left.to_flop == right.from_flop for left, right in pairwise(cut))


def test_bands_need_limits_that_differ() -> None:
    """Two names for one band would be ambiguous."""
    with pytest.raises(InvalidNounError, match="differ"):
        bands((TREATY[0], TREATY[0]))


def test_thresholds_are_found_by_name() -> None:
    """Each name once, each convention known."""
    assert set(by_name(TREATY)) == {"treaty-monitored", "treaty-forbidden"}
    with pytest.raises(InvalidNounError, match="two thresholds are called"):
        by_name((TREATY[0], TREATY[0]))
    with pytest.raises(InvalidNounError, match="no convention 'none'"):
        by_name((replace(TREATY[0], convention="none"),))
