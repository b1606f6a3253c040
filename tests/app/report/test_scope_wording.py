"""Numbers of a scope carry their unit and are never surer than they are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.report.scope_wording import (
    amount_text,
    bounds_text,
    claim_text,
    drawn,
    duration_text,
    energy_text,
    figures_text,
    flop_number,
    opinion_text,
    powers,
    probability_text,
)
from flopwitness.core.account import Amount
from flopwitness.core.verdict import Claim
from flopwitness.core.workclass import ClassOpinion, WorkClass

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@given(st.floats(1e6, 1e30))
def test_a_count_reads_back_to_three_figures(flop: float):
    """What is printed is the count, not more than half a unit of its third figure away."""
    text = flop_number(flop).replace("\u00a0", "").translate(SUPERSCRIPTS)
    mantissa, _, exponent = text.rpartition("×")
    shown = float(mantissa or 1) * 10.0 ** int(exponent.removeprefix("10"))

    assert shown == pytest.approx(flop, rel=0.0051)


@given(st.floats(0, 1))
def test_no_probability_is_told_as_none_or_sure(probability: float):
    """Evidence never makes an outcome certain."""
    text = probability_text(probability)

    assert re.fullmatch(r"(less than |more than )?\d+(\.\d)?\u00a0%", text)
    assert text not in ("0\u00a0%", "100\u00a0%", "0.0\u00a0%", "100.0\u00a0%")


def test_a_missing_upper_bound_is_said():
    """Infinity is no figure."""
    assert bounds_text(Amount(1e18, 2e18, float("inf"), float("inf"))) == (
        "at least 10¹⁸\u00a0FLOP, no upper bound"
    )


def test_an_amount_is_its_point_and_its_bounds_with_units():
    """Both ends in FLOP."""
    text = amount_text(Amount(9e17, 1e18, 1.1e18, 2e18)).replace("\u00a0", " ")

    assert text == "10¹⁸ FLOP (9 × 10¹⁷ to 1.1 × 10¹⁸ FLOP)"


@pytest.mark.parametrize(
    ("number", "n_figures", "text"),
    [(0.0, 2, "0"), (9.99, 2, "10"), (0.00123, 2, "0.0012"), (999.9, 3, "1,000"), (5e7, 1, "5 × 10⁷")],
)
def test_figures_are_significant(number: float, n_figures: int, text: str):
    """As many as asked for; a carry does not add one behind the point."""
    assert figures_text(number, n_figures) == text


def test_what_is_not_known_is_said():
    """NaN is neither zero nor a figure."""
    assert {duration_text(float("nan")), energy_text(float("nan")), flop_number(float("nan"))} == {
        "not known"
    }


def test_an_opinion_carries_letter_and_probability():
    """Unknown has no probability of its own."""
    known = ClassOpinion(WorkClass.INFERENCE, {WorkClass.INFERENCE: 0.75, WorkClass.OTHER: 0.25}, ("why",))

    assert opinion_text(known) == "I inference (75\u00a0%)"
    assert opinion_text(ClassOpinion(WorkClass.UNKNOWN, {}, ("why",))) == "? unknown"


def test_a_claim_shows_its_margin():
    """One without a margin shows none."""
    texts = [claim_text(Claim("ACME", 3.1e22, "executed", margin)) for margin in (0.3, 0.0)]

    assert [one.replace("\u00a0", " ") for one in texts] == ["3.1 × 10²² FLOP ± 30 %", "3.1 × 10²² FLOP"]


@given(st.text("0123456789abcdef", min_size=64, max_size=64))
def test_digests_are_not_taken_for_powers(digest: str):
    """A digest is shown as it is, or nobody can compare it."""
    assert powers(digest) == digest


def test_text_for_figures_starts_no_formula():
    """Names come from strangers."""
    assert drawn("a$b\u00a0c") == r"a\$b c"
