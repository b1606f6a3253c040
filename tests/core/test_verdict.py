"""Claims, limits and verdicts check themselves: a bad one cannot exist."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Claim, Outcome, Standing, Threshold, Verdict

INFINITE, NAN = float("inf"), float("nan")
ANSWERS = st.sampled_from([*Outcome, *Standing])


def claim(flop: float = 1e25, margin_ratio: float = 0.0) -> Claim:
    """Return a claim of a laboratory."""
    return Claim("a laboratory", flop, "executed", margin_ratio)


def threshold(
    *, name: str = "rule", flop: float = 1e25, convention: str = "executed", citation: str = "Art. 1"
) -> Threshold:
    """Return a made-up rule."""
    return Threshold(
        name=name,
        title="A rule",
        jurisdiction="Nowhere",
        flop=flop,
        is_strict=True,
        convention=convention,
        measured="operations",
        conditions=(),
        status="proposal",
        citation=citation,
    )


def verdict(reasons: tuple[str, ...] = ("so",), over: tuple[float, float] | None = None) -> Verdict:
    """Return a verdict on a claim."""
    return Verdict(Outcome.CONSISTENT, reasons, probability_over=over)


IMPOSSIBLE: dict[str, Callable[[], object]] = {
    **{f"claim of {flop}": lambda flop=flop: claim(flop) for flop in (0.0, -1.0, INFINITE, NAN)},
    **{f"margin of {ratio}": lambda ratio=ratio: claim(1e25, ratio) for ratio in (-0.1, 1.0, NAN)},
    **{f"limit of {flop}": lambda flop=flop: threshold(flop=flop) for flop in (0.0, -1.0, INFINITE, NAN)},
    "threshold without a name": lambda: threshold(name=""),
    "threshold without a convention": lambda: threshold(convention=""),
    "threshold without a source": lambda: threshold(citation=""),
    "verdict without a reason": lambda: verdict(()),
    "probability below zero": lambda: verdict(over=(-0.1, 0.5)),
    "probability above one": lambda: verdict(over=(0.5, 1.1)),
    "least above most": lambda: verdict(over=(0.6, 0.5)),
    "probability of NaN": lambda: verdict(over=(NAN, 0.5)),
}


@pytest.mark.parametrize("make", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_bad_value_cannot_exist(make: Callable[[], object]):
    """Misuse is an exception when the value is made, not a surprise where it is used."""
    with pytest.raises(InvalidNounError):
        make()


@given(flop=st.floats(0, 1e40, exclude_min=True), margin=st.floats(0, 1, exclude_max=True))
def test_a_claim_of_something_with_a_margin_below_all_is_one(flop: float, margin: float):
    """Any positive count; nobody may be wrong by the whole of it."""
    assert claim(flop, margin).margin_ratio == margin


def test_a_claim_has_no_margin_until_one_is_said():
    """What somebody declares, they declare exactly."""
    assert Claim("a laboratory", 1e25, "executed").margin_ratio == 0.0


def test_a_text_that_nobody_read_is_not_verified():
    """Until someone says that they read it, on a day."""
    assert (threshold().is_verified, threshold().text_date) == (False, None)


@given(answer=ANSWERS, ends=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_probabilities_of_a_verdict_are_ordered_ends(answer: Outcome | Standing, ends: tuple[float, float]):
    """Of a claim and of a threshold alike; both may be the same."""
    least, most = sorted(ends)

    assert Verdict(answer, ("so",), probability_over=(least, most)).probability_over == (least, most)


def test_no_evidence_is_no_probability():
    """Ignorance is None, not one half."""
    assert Verdict(Outcome.INCONCLUSIVE, ("nothing was seen",)).probability_over is None


def test_ignorance_is_an_outcome_of_a_claim_and_of_a_threshold():
    """Words for scripts, stable: each has one that decides nothing."""
    assert [*Outcome] == ["consistent", "inconsistent", "inconclusive"]
    assert [*Standing] == ["below", "above", "undetermined"]
