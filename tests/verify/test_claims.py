"""Declared figures: the formulas, the margin, and how bounds lie to what a claim allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Claim
from flopwitness.verify.claims import (
    EU_MARGIN,
    Agreement,
    Period,
    agreement,
    allowed,
    architecture_flop,
    hardware_flop,
    is_within_margin,
)
from verify.amounts import POSITIVE

HOUR = 3600.0
CLAIM = Claim("developer", 1e25, "eu-cumulative", EU_MARGIN)


def measured(low: float, high: float) -> Amount:
    """Return bounds whose point is the low end and whose hostile bound is the high one."""
    return Amount(low, low, high, high)


def test_the_hardware_formula_adds_periods_up() -> None:
    """Cutting a period in two changes nothing."""
    whole = Period(64, 10 * HOUR, 1e15, 0.4)
    halves = [Period(64, 5 * HOUR, 1e15, 0.4)] * 2

    assert hardware_flop([whole]) == pytest.approx(64 * 36000 * 1e15 * 0.4)
    assert hardware_flop(halves) == pytest.approx(hardware_flop([whole]))


def test_a_breakdown_is_held_against_its_total() -> None:
    """200,000 A100-hours at 300 TFLOP/s and 50 % support "about 1e23", and not 8e22."""
    breakdown = hardware_flop([Period(200_000, HOUR, 300e12, 0.5)])

    assert is_within_margin(breakdown, 1e23)
    assert not is_within_margin(breakdown, 8e22)


def test_the_architecture_formula_is_6pd() -> None:
    """Two FLOP forward and four backward a parameter and token."""
    assert architecture_flop(1e9, n_tokens=2e10) == 1.2e20


def test_a_figure_of_no_period_is_refused() -> None:
    """It would be zero, and zero fits no claim but looks like an answer."""
    with pytest.raises(InvalidNounError, match="at least one period"):
        hardware_flop([])


@pytest.mark.parametrize(
    ("units", "seconds", "peak", "utilisation", "message"),
    [
        (-1, HOUR, 1e15, 0.5, "n_units"),
        (1, float("nan"), 1e15, 0.5, "seconds"),
        (1, HOUR, float("inf"), 0.5, "peak_flop_per_second"),
        (1, HOUR, 1e15, 1.1, "utilisation"),
    ],
)
def test_an_impossible_period_is_refused(
    units: float, seconds: float, peak: float, utilisation: float, message: str
) -> None:
    """Negative, unknown, endless, or more than all of a chip."""
    with pytest.raises(InvalidNounError, match=message):
        Period(units, seconds, peak, utilisation)


@pytest.mark.parametrize(("actual", "expected"), [(0.7, True), (1.3, True), (0.69, False), (1.31, False)])
def test_the_margin_is_thirty_per_cent_of_the_declared_figure(actual: float, *, expected: bool) -> None:
    """``|C - R| / R <= 0.3``: the declared figure is the measure."""
    assert is_within_margin(actual * 1e25, 1e25) is expected


@pytest.mark.parametrize("claim_flop", [0.0, -1.0, float("nan"), float("inf")])
def test_a_margin_of_nothing_is_refused(claim_flop: float) -> None:
    """A ratio to zero or infinity says nothing."""
    with pytest.raises(InvalidNounError, match="declared figure"):
        is_within_margin(1.0, claim_flop)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.8e25, 1.2e25, Agreement.INSIDE),
        (0.5e25, 1.2e25, Agreement.PARTLY),
        (0.8e25, float("inf"), Agreement.PARTLY),
        (0.0, float("inf"), Agreement.PARTLY),
        (1.31e25, float("inf"), Agreement.CLAIM_TOO_LOW),
        (0.0, 0.69e25, Agreement.CLAIM_TOO_HIGH),
    ],
)
def test_only_bounds_wholly_outside_contradict(low: float, high: float, expected: Agreement) -> None:
    """Bounds that reach into what is allowed contradict nothing, those that reach out confirm nothing."""
    assert agreement(measured(low, high), CLAIM) is expected


@given(POSITIVE, st.floats(1e3, 1e30), st.floats(0, 0.99))
def test_a_truth_inside_the_claim_is_never_accused(amount: Amount, flop: float, margin: float) -> None:
    """If any value within the bounds is allowed, the claim is not called too low or too high."""
    claim = Claim("developer", flop, "executed", margin)
    least, most = allowed(claim)

    accused = agreement(amount, claim) in {Agreement.CLAIM_TOO_LOW, Agreement.CLAIM_TOO_HIGH}

    assert accused == (amount.high_flop < least or amount.low_flop > most)


@given(POSITIVE, st.floats(1e3, 1e30), st.floats(0, 0.5), st.floats(0, 0.4))
def test_a_wider_margin_never_accuses_more(amount: Amount, flop: float, margin: float, more: float) -> None:
    """Granting more error can only clear."""
    accused = {Agreement.CLAIM_TOO_LOW, Agreement.CLAIM_TOO_HIGH}
    narrow = agreement(amount, Claim("developer", flop, "executed", margin))
    wide = agreement(amount, Claim("developer", flop, "executed", margin + more))

    assert narrow in accused or wide not in accused
