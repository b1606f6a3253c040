"""Above by the low end alone, below by the high one and the one for cheats, else not to be told."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.policy import CLEAR_FLOP, PolicyContract, clear
from flopwitness.core.account import DeviceWatch
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Standing, Threshold
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.policies.threshold import ThresholdPolicy
from verify.made_accounts import ALARM, CEILING, estimate, made_account, session, watch

RULE = Threshold(
    "made",
    "A made rule",
    "Nowhere",
    CLEAR_FLOP,
    is_strict=True,
    convention="executed",
    measured="compute",
    conditions=("and it is Tuesday",),
    status="proposal",
    citation="Made, Art. 1",
    text_date=date(2026, 1, 1),
)


def policy(
    flop: float, convention: str = "executed", *, strict: bool = True, **rules: Any
) -> ThresholdPolicy:
    """Return a policy for a threshold of this many FLOP."""
    rule = replace(RULE, flop=flop, convention=convention, is_strict=strict)
    return ThresholdPolicy(rule, CONVENTIONS[convention], **rules)


class TestThresholdPolicy(PolicyContract):
    """A threshold that everything clear lies below."""

    needs_sessions = False

    def make_policy(self) -> ThresholdPolicy:
        """Ask for little more than cheats can have taken."""
        return policy(1.25 * CLEAR_FLOP)


class TestThresholdPolicyInGoodFaith(PolicyContract):
    """The same for an operator who asks about himself."""

    needs_sessions = False

    def make_policy(self) -> ThresholdPolicy:
        """Ask for little more than the high end."""
        return policy(1.1 * CLEAR_FLOP, is_good_faith=True)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (0.9, Standing.ABOVE),
        (0.96, Standing.UNDETERMINED),
        (1.04, Standing.UNDETERMINED),
        (1.1, Standing.UNDETERMINED),
        (1.21, Standing.BELOW),
    ],
)
def test_ends_decide_and_nothing_between_them(limit: float, expected: Standing) -> None:
    """Low 950, high 1050, at most 1200 of 1000."""
    assert policy(limit * CLEAR_FLOP).judge(clear()).answer is expected


def test_good_faith_is_asked_for_and_named() -> None:
    """Leaving the bound for cheats out is an argument, and a reason."""
    verdict = policy(1.1 * CLEAR_FLOP, is_good_faith=True).judge(clear())

    assert verdict.answer is Standing.BELOW
    assert "good faith" in verdict.reasons[0]


@pytest.mark.parametrize(("strict", "expected"), [(True, Standing.BELOW), (False, Standing.UNDETERMINED)])
def test_the_limit_itself_is_above_where_the_rule_says_so(strict: bool, expected: Standing) -> None:
    """``>`` and ``>=`` differ at the limit alone."""
    assert policy(1.2 * CLEAR_FLOP, strict=strict).judge(clear()).answer is expected


def test_the_convention_that_widens_the_range_most_is_named() -> None:
    """Recomputation decides here, and declaring it would settle the question."""
    verdict = policy(0.9 * CLEAR_FLOP, "eu-cumulative").judge(clear())

    assert verdict.answer is Standing.UNDETERMINED
    assert any("What widens the range most" in one and "recomputation" in one for one in verdict.reasons)
    assert "recompute_factor" in verdict.would_settle[0]


def test_the_unobserved_part_is_named_where_it_widens_the_range_most() -> None:
    """The ceiling of half of a device's time is more than everything else."""
    found = made_account([session()], [watch("GPU-a", (0, 500)), watch("GPU-b")])

    verdict = policy(CLEAR_FLOP).judge(found)

    assert any("500 device-seconds that nobody observed" in one for one in verdict.reasons)
    assert "500 device-seconds" in verdict.would_settle[0]


def test_alarms_keep_from_below_and_what_is_above_stands_without_them() -> None:
    """Evidence that contradicts itself counts at the high end alone."""
    found = clear(findings=(ALARM,))

    assert policy(2 * CLEAR_FLOP).judge(found).answer is Standing.UNDETERMINED
    assert policy(0.5 * CLEAR_FLOP).judge(found).answer is Standing.UNDETERMINED


def test_physics_alone_can_be_below() -> None:
    """Two devices of known chip cannot take more than their ceiling in the time, seen or not."""
    unseen = [DeviceWatch(uuid, "H200-SXM", (), CEILING) for uuid in ("GPU-a", "GPU-b")]
    ceiling = 2000 * CEILING

    answers = [policy(ceiling * share).judge(made_account([], unseen)) for share in (1.01, 0.99)]

    assert [one.answer for one in answers] == [Standing.BELOW, Standing.UNDETERMINED]
    assert "ceiling" in answers[0].reasons[0]
    assert answers[0].probability_over is None


def test_inference_is_not_above_a_threshold_of_training() -> None:
    """It may count, as synthetic data, so it is not below either."""
    serving = made_account([session(20 * k, 20 * k + 10, kind=WorkClass.INFERENCE) for k in range(10)])
    training = made_account([session(20 * k, 20 * k + 10, kind=WorkClass.TRAINING) for k in range(10)])
    asked = policy(0.5 * CLEAR_FLOP, "us-operations")

    assert asked.judge(serving).answer is Standing.UNDETERMINED
    assert asked.judge(training).answer is Standing.ABOVE


def test_what_is_declared_must_not_be_needed() -> None:
    """Declared evaluation alone brings nobody below, unless it is believed."""
    declared = {"evaluation_ratio": 0.5}
    limit = 0.7 * CLEAR_FLOP

    doubted, believed = (
        policy(limit, "eu-cumulative", declared=declared, trusts_declared=trusted).judge(clear())
        for trusted in (False, True)
    )

    assert (doubted.answer, believed.answer) == (Standing.UNDETERMINED, Standing.BELOW)


def test_a_declared_parent_adds_but_does_not_accuse_by_itself() -> None:
    """An operator's own word that counts against him is believed where it is asked to be."""
    declared = {"parent_flop": 1e6}

    answers = [
        policy(1e5, "eu-cumulative", declared=declared, trusts_declared=trusted).judge(clear()).answer
        for trusted in (False, True)
    ]

    assert answers == [Standing.UNDETERMINED, Standing.ABOVE]


def test_the_rule_and_its_conditions_are_told_beside_the_answer() -> None:
    """Text date, source, whether it was read, and what telemetry cannot tell."""
    reasons = policy(CLEAR_FLOP).judge(clear()).reasons

    assert any("Made, Art. 1 (proposal; text of 2026-01-01; not checked" in one for one in reasons)
    assert any("it is Tuesday" in one for one in reasons)


def test_a_rule_counts_by_its_own_convention_alone() -> None:
    """Two ways to count are never mixed."""
    with pytest.raises(InvalidNounError, match="counts as"):
        ThresholdPolicy(RULE, CONVENTIONS["eu-cumulative"])


@given(limit=st.floats(1, 1e4), more=st.floats(1, 10))
def test_a_higher_limit_is_never_more_surely_passed(limit: float, more: float) -> None:
    """Below stays below, and what is not above a limit is not above a higher one."""
    low, high = (policy(one).judge(clear()).answer for one in (limit, limit * more))

    assert not (low is Standing.BELOW and high is not Standing.BELOW)
    assert not (high is Standing.ABOVE and low is not Standing.ABOVE)


def test_probabilities_reach_from_nothing_unseen_to_all_of_it() -> None:
    """The two differ by what nobody observed."""
    found = made_account([session(told=estimate(1000.0))], [watch("GPU-a"), watch("GPU-b", (0, 990))])

    least, most = policy(1500.0).judge(found).probability_over

    assert least < 0.01
    assert most > 0.99
