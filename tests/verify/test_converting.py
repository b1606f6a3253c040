"""Conversions made: the worked example, and laws that hold under every convention."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.verify.conventions import CONVENTIONS, Convention, convert
from flopwitness.verify.conversion_table import EVALUATION
from verify.amounts import ADDITIONS, AMOUNTS, DECLARATIONS, NARROWING, POSITIVE, ends_of, sure

EU = CONVENTIONS["eu-cumulative"]
NAMES = st.sampled_from(sorted(CONVENTIONS))
EXAMPLE = {"context_tokens": 8192.0, "width": 4096.0, "evaluation_ratio": 0.07}


def test_the_worked_example_crosses_the_threshold() -> None:
    """1.30e25 executed, 8k at width 4096, 7 % evaluation: 7.9e24 to 1.21e25, or 1.30e25 if not believed."""
    made = convert(sure(1.30e25), EU, declared=EXAMPLE)

    assert made.amount.low_flop == pytest.approx(7.9e24, rel=0.005)
    assert made.amount.high_flop == pytest.approx(1.21e25, rel=0.005)
    assert made.without_declared.high_flop == 1.30e25
    assert made.envelope.low_flop == made.amount.low_flop
    assert made.envelope.high_flop == 1.30e25


def test_the_worked_example_is_below_the_american_one() -> None:
    """Under SB 53 the whole range is far under 1e26, and nothing is taken off for evaluation."""
    made = convert(sure(1.30e25), CONVENTIONS["us-operations"], declared=EXAMPLE)

    assert made.amount.high_flop == 1.30e25
    assert made.amount.low_flop == pytest.approx(1.30e25 / 1.1429, rel=1e-4)


def test_the_widest_step_of_the_example_is_recomputation() -> None:
    """It is what an auditor should ask for first; once declared, the mask is."""
    asked = convert(sure(1.30e25), EU, declared=EXAMPLE)
    told = convert(sure(1.30e25), EU, declared=EXAMPLE | {"recompute_factor": 1.0})

    assert asked.widest_step is not None
    assert asked.widest_step.conversion.name == "recomputation"
    assert told.widest_step is not None
    assert told.widest_step.conversion.name == "causal-mask"


def test_doubtful_work_elsewhere_is_the_widest_when_it_is_most() -> None:
    """A base model ten times the run decides a modifier's standing in California."""
    made = convert(sure(1e24), CONVENTIONS["us-operations"], declared={"base_flop": 1e25})

    assert made.widest_step is not None
    assert made.widest_step.conversion.name == "base-model"
    assert (made.amount.low_flop, made.amount.high_flop) == (pytest.approx(1e24 / 1.1429, rel=1e-4), 1.1e25)


def test_where_nothing_widens_there_is_no_widest_step() -> None:
    """With everything declared, or nothing to convert."""
    declared = {"recompute_factor": 1.2, "mask_factor": 1.0}

    assert convert(sure(1.0), EU, declared=declared).widest_step is None
    assert convert(sure(1.0), CONVENTIONS["executed"]).widest_step is None


def test_a_step_says_whether_it_was_declared() -> None:
    """Declared is printed as declared; a reader must not take it for measured."""
    steps = {step.conversion.name: step for step in convert(sure(1e25), EU, declared=EXAMPLE).steps}

    assert steps["evaluation"].is_declared
    assert steps["evaluation"].sentence == "evaluation does not count: x 0.93, declared, not measured"
    assert not steps["recomputation"].is_declared
    assert steps["failed-runs"].sentence == "failed-runs does not count: nothing declared"
    assert steps["precision"].sentence == "precision counts: no change"


def test_a_step_that_adds_says_how_much() -> None:
    """In FLOP, not as a factor."""
    made = convert(sure(1e25), EU, declared={"parent_flop": 2e24})

    (step,) = [step for step in made.steps if step.is_declared]
    assert step.sentence == "parent-weights counts: 2e+24 FLOP added, declared, not measured"
    assert made.amount.high_flop == pytest.approx(1.2e25)


def test_the_widest_recomputation_can_be_asked_for() -> None:
    """Before a claim is called false: twice recomputed is 1.67."""
    usual = convert(sure(1.0), EU, declared={"mask_factor": 1.0})
    widest = convert(sure(1.0), EU, declared={"mask_factor": 1.0}, widest={"recomputation"})

    assert usual.amount.low_flop == pytest.approx(1 / 1.34)
    assert widest.amount.low_flop == pytest.approx(0.6)


def test_what_nobody_knows_cannot_be_declared() -> None:
    """Not even under a convention that would not use it."""
    with pytest.raises(InvalidNounError, match="nobody can declare"):
        convert(sure(1.0), CONVENTIONS["executed"], declared={"hours": 1.0})


@given(AMOUNTS)
def test_an_identity_conversion_keeps(amount: Amount) -> None:
    """Executed FLOP counted as executed FLOP are what they were."""
    made = convert(amount, CONVENTIONS["executed"])

    assert made.amount == amount == made.without_declared
    assert made.steps == ()


@given(AMOUNTS, NAMES, DECLARATIONS)
def test_the_order_of_bounds_is_kept(amount: Amount, name: str, declared: dict[str, float]) -> None:
    """Low, point, high, most, after every step, believed or not; an Amount out of order cannot exist."""
    made = convert(amount, CONVENTIONS[name], declared=declared)

    for found in (made.amount, made.without_declared, made.envelope, *(step.amount for step in made.steps)):
        assert list(ends_of(found)) == sorted(ends_of(found))


@given(AMOUNTS, NAMES)
def test_ignorance_only_lowers_the_low_and_only_raises_the_high(amount: Amount, name: str) -> None:
    """With nothing declared the low end is not above, the others not below, what was estimated."""
    made = convert(amount, CONVENTIONS[name]).amount

    assert made.low_flop <= amount.low_flop
    assert made.point_flop == amount.point_flop
    assert made.high_flop >= amount.high_flop
    assert made.most_flop >= amount.most_flop


@given(POSITIVE, NAMES, NARROWING)
def test_believing_what_is_said_of_the_work_never_widens(
    amount: Amount, name: str, declared: dict[str, float]
) -> None:
    """High over low, for declarations inside what is assumed without them."""
    made = convert(amount, CONVENTIONS[name], declared=declared)

    believed = made.amount.high_flop / made.amount.low_flop
    unbelieved = made.without_declared.high_flop / made.without_declared.low_flop
    assert believed <= unbelieved * (1 + 1e-9)


@given(AMOUNTS, NAMES, NARROWING)
def test_believing_what_is_said_of_the_work_never_raises(
    amount: Amount, name: str, declared: dict[str, float]
) -> None:
    """It can only take work out of the high end."""
    made = convert(amount, CONVENTIONS[name], declared=declared)

    assert made.amount.high_flop <= made.without_declared.high_flop
    assert made.amount.most_flop <= made.without_declared.most_flop


@given(AMOUNTS, NAMES, st.fixed_dictionaries({}, optional=ADDITIONS))
def test_believing_in_work_elsewhere_never_lowers(
    amount: Amount, name: str, declared: dict[str, float]
) -> None:
    """Nobody gets under a threshold by declaring more work."""
    made = convert(amount, CONVENTIONS[name], declared=declared)

    for believed, unbelieved in zip(ends_of(made.amount), ends_of(made.without_declared), strict=True):
        assert believed >= unbelieved


@given(POSITIVE, NAMES, NARROWING, st.floats(1e-3, 1e3))
def test_scaling_flop_scales_the_result(
    amount: Amount, name: str, declared: dict[str, float], scale: float
) -> None:
    """Conversions inside the scope know no size."""
    larger = Amount(*(end * scale for end in ends_of(amount)))

    one = convert(amount, CONVENTIONS[name], declared=declared).amount
    scaled = convert(larger, CONVENTIONS[name], declared=declared).amount

    assert ends_of(scaled) == pytest.approx([end * scale for end in ends_of(one)])


@given(AMOUNTS, st.floats(1, 10), NAMES, DECLARATIONS)
def test_more_flop_never_count_for_less(
    amount: Amount, more: float, name: str, declared: dict[str, float]
) -> None:
    """Monotone in every end."""
    larger = Amount(*(end * more for end in ends_of(amount)))

    one = convert(amount, CONVENTIONS[name], declared=declared).amount
    other = convert(larger, CONVENTIONS[name], declared=declared).amount

    assert all(less <= great for less, great in zip(ends_of(one), ends_of(other), strict=True))


@given(NAMES, DECLARATIONS)
def test_what_has_no_upper_end_keeps_none(name: str, declared: dict[str, float]) -> None:
    """An infinite bound stays infinite: no conversion brings knowledge."""
    endless = Amount(1e20, 1e20, float("inf"), float("inf"))

    made = convert(endless, CONVENTIONS[name], declared=declared)

    assert made.amount.high_flop == made.amount.most_flop == float("inf")


def test_nothing_with_doubtful_work_elsewhere_opens_without_limit() -> None:
    """A range above zero is infinitely wider than zero, not undefined."""
    made = convert(sure(0.0), CONVENTIONS["treaty-training"], declared={"parent_flop": 1e22})

    assert made.widest_step is not None
    assert made.widest_step.spread_ratio == float("inf")
    assert (made.amount.low_flop, made.amount.high_flop) == (0.0, 1e22)


def test_a_convention_makes_a_conversion_once_and_has_a_source() -> None:
    """Taken out twice, evaluation would be hidden twice."""
    with pytest.raises(InvalidNounError, match="twice"):
        Convention("made", "Made", "Made up.", Target.EXECUTED, (EVALUATION, EVALUATION), "x")
    with pytest.raises(InvalidNounError, match="source"):
        replace(EU, source="")
