"""A claim is called false only with the confidence that was asked for, and true only without a doubt."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.policy import CLEAR_FLOP, PolicyContract, clear
from flopwitness.core.account import Account
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Finding
from flopwitness.core.verdict import Claim, Outcome, Verdict
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.policies.claim import ClaimPolicy
from verify.made_accounts import ALARM, estimate, made_account, session, watch

EXECUTED = CONVENTIONS["executed"]


def policy(
    flop: float = CLEAR_FLOP, convention: str = "executed", *, margin: float = 0.0, **rules: Any
) -> ClaimPolicy:
    """Return a policy for a claim of this many FLOP."""
    return ClaimPolicy(Claim("Example", flop, convention, margin), CONVENTIONS[convention], **rules)


def judged(account: Account, flop: float = CLEAR_FLOP, **rules: Any) -> Verdict:
    """Return the verdict on a claim."""
    return policy(flop, **rules).judge(account)


class TestClaimPolicy(PolicyContract):
    """A claim of what the evidence comes to."""

    def make_policy(self) -> ClaimPolicy:
        """Claim just that."""
        return policy()


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.5, Outcome.INCONSISTENT),
        (0.9, Outcome.INCONSISTENT),
        (0.945, Outcome.INCONCLUSIVE),
        (1.0, Outcome.CONSISTENT),
        (1.04, Outcome.CONSISTENT),
        (1.3, Outcome.INCONSISTENT),
    ],
)
def test_bounds_of_five_percent_tell_claims_that_are_ten_off(share: float, expected: Outcome) -> None:
    """Near its end an interval neither contradicts nor bears out."""
    assert judged(clear(), share * CLEAR_FLOP).answer is expected


def test_a_margin_is_granted() -> None:
    """Thirty of a hundred less is inside a margin of thirty percent and more."""
    assert judged(clear(), 0.8 * CLEAR_FLOP, margin=0.3).answer is Outcome.CONSISTENT
    assert judged(clear(), 0.6 * CLEAR_FLOP, margin=0.3).answer is Outcome.INCONSISTENT


def test_an_accusation_needs_the_confidence_that_was_asked() -> None:
    """The same evidence may do for one confidence and not for another."""
    claim = 0.935 * CLEAR_FLOP

    answers = [judged(clear(), claim, confidence_ratio=ratio).answer for ratio in (0.9, 0.999)]

    assert answers == [Outcome.INCONSISTENT, Outcome.INCONCLUSIVE]


def test_honest_claims_are_called_false_no_more_often_than_promised() -> None:
    """Truth drawn as the bounds say: at most one of twenty, both ways together."""
    rng = np.random.default_rng(0)
    spread = np.log(1.05) / 1.645
    found = made_account([session(told=estimate(1000.0, 1 / 1.05, 1.05))])

    truths = 1000 * np.exp(rng.normal(0, spread, 4000))
    false = np.mean([judged(found, flop).answer is Outcome.INCONSISTENT for flop in truths.tolist()])

    assert 0.035 < false <= 0.055


def test_wide_bounds_contradict_but_never_confirm() -> None:
    """A factor of two would not have shown ten percent."""
    found = made_account([session(told=estimate(1000.0, 0.5, 2.0, 3.0))])

    assert judged(found).answer is Outcome.INCONCLUSIVE
    assert judged(found, 100.0).answer is Outcome.INCONSISTENT


def test_an_open_low_end_never_confirms() -> None:
    """Bounds from zero on would bear out any claim below them."""
    found = made_account([session(told=estimate(1000.0, 0.2, 1.05))])

    verdict = judged(found, 1000.0)

    assert verdict.answer is Outcome.INCONCLUSIVE
    assert "over-declaration" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("findings", "kind", "words"),
    [
        ((ALARM,), None, "alarms"),
        ((Finding("format-not-identified", "open"),), None, "number format"),
        ((), WorkClass.UNKNOWN, "unknown kind of work"),
    ],
)
def test_doubt_keeps_a_true_claim_from_being_borne_out(
    findings: tuple[Finding, ...], kind: WorkClass | None, words: str
) -> None:
    """Each doubt turns consistent into inconclusive and says so."""
    found = made_account([session(20 * k, 20 * k + 10, findings=findings, kind=kind) for k in range(10)])

    verdict = judged(found)

    assert verdict.answer is Outcome.INCONCLUSIVE
    assert any(words in reason for reason in verdict.reasons)


def test_unobserved_time_is_a_doubt_even_where_its_ceiling_is_small() -> None:
    """A share of the scope that nobody saw is one whatever it can have held."""
    small = [replace(watch(uuid, (0, 900)), ceiling_flop_per_second=1e-9) for uuid in ("GPU-a", "GPU-b")]
    found = made_account([session(20 * k, 20 * k + 10) for k in range(10)], small)

    verdict = judged(found)

    assert verdict.answer is Outcome.INCONCLUSIVE
    assert "not observed" in verdict.reasons[0]


def test_an_accusation_stands_without_the_sessions_that_contradict_themselves() -> None:
    """Nine clear sessions of a hundred exceed a claim of 700; the tenth is not needed."""
    found = made_account([session(20 * k, 20 * k + 10, findings=[ALARM] * (k == 0)) for k in range(10)])

    assert judged(found, 700.0).answer is Outcome.INCONSISTENT
    assert judged(found, 900.0).answer is Outcome.INCONCLUSIVE


def test_nobody_is_accused_of_saying_too_much_by_doubtful_evidence() -> None:
    """What is missing in it may be what was claimed."""
    assert judged(clear(findings=(ALARM,)), 2000.0).answer is Outcome.INCONCLUSIVE


def test_a_claim_beyond_what_any_format_allows_is_false_whatever_the_format() -> None:
    """Formats that nobody could tell are inside the bound for cheats; up to it they may hold the rest."""
    open_format = clear(findings=(Finding("format-not-identified", "open"),))

    verdicts = [judged(open_format, flop) for flop in (1150.0, 1300.0)]

    assert [one.answer for one in verdicts] == [Outcome.INCONCLUSIVE, Outcome.INCONSISTENT]
    assert "doubtful evidence could hold the rest" in verdicts[0].reasons[0]


def test_unseen_work_accuses_nobody_and_clears_nobody() -> None:
    """Too low is judged with nothing in it, too high with the ceiling in it."""
    found = made_account(
        [session(20 * k, 20 * k + 10) for k in range(10)], [watch("GPU-a"), watch("GPU-b", (0, 995))]
    )

    assert found.unobserved_flop == 500.0
    assert judged(found, 1350.0).answer is Outcome.INCONCLUSIVE
    assert judged(found, 2000.0).answer is Outcome.INCONSISTENT
    assert judged(found, 1000.0).answer is Outcome.INCONCLUSIVE
    assert judged(found, 800.0).answer is Outcome.INCONSISTENT


def test_recomputation_that_nobody_can_see_is_granted_at_its_widest() -> None:
    """A claim by a convention without it is contradicted only beyond a factor of 10/6."""
    found = clear()
    claimed = [CLEAR_FLOP * share for share in (0.8, 0.56, 0.3)]

    answers = [policy(flop, "eu-cumulative").judge(found).answer for flop in claimed]

    assert answers == [Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE, Outcome.INCONSISTENT]


def test_what_is_declared_decides_only_where_it_is_believed() -> None:
    """Half of the work declared as failed runs: a lower claim holds if that is believed."""
    half = {"failed_ratio": 0.5, "recompute_factor": 1.0, "mask_factor": 1.0}
    claims = (
        policy(500.0, "eu-cumulative", declared=half),
        policy(500.0, "eu-cumulative", declared=half, trusts_declared=True),
    )

    unbelieved, believed = (one.judge(clear()) for one in claims)

    assert (unbelieved.answer, believed.answer) == (Outcome.INCONCLUSIVE, Outcome.CONSISTENT)
    assert any("failed_ratio = 0.5" in reason for reason in believed.reasons)


def test_what_was_not_training_does_not_count_for_sure_in_a_law_that_counts_training() -> None:
    """Inference is no part of a training claim, but of an executed one."""
    serving = made_account([session(20 * k, 20 * k + 10, kind=WorkClass.INFERENCE) for k in range(10)])

    assert policy(500.0).judge(serving).answer is Outcome.INCONSISTENT
    assert policy(500.0, "us-operations").judge(serving).answer is Outcome.INCONCLUSIVE


def test_a_claim_is_weighed_by_its_own_convention_alone() -> None:
    """Two ways to count are never mixed."""
    with pytest.raises(InvalidNounError, match="counted as"):
        ClaimPolicy(Claim("Example", 1.0, "eu-cumulative"), EXECUTED)


@pytest.mark.parametrize("ratio", [0.5, 1.0, -1.0])
def test_a_confidence_that_is_none_is_refused(ratio: float) -> None:
    """A coin is no confidence, certainty is none that evidence gives."""
    with pytest.raises(InvalidNounError, match="confidence"):
        policy(confidence_ratio=ratio)


@given(share=st.floats(0.1, 3), more=st.floats(1, 3))
def test_saying_less_never_helps_against_being_called_too_low(share: float, more: float) -> None:
    """If a claim is contradicted from above, so is every lower one."""
    higher, lower = (judged(clear(), CLEAR_FLOP * one) for one in (share, share / more))

    if higher.answer is Outcome.INCONSISTENT and share < 1:
        assert lower.answer is Outcome.INCONSISTENT


def test_the_bound_for_workloads_that_cheat_is_always_named() -> None:
    """Whoever reads a verdict learns what it does not cover."""
    for share in (0.5, 1.0, 0.945):
        assert any("1200 FLOP" in one for one in judged(clear(), share * CLEAR_FLOP).reasons)
