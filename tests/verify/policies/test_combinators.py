"""Several policies as one: the gravest answer, or the first that decides; never none of them."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.policy import CLEAR_FLOP, PolicyContract, clear
from flopwitness.core.account import Account
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.ports import Policy
from flopwitness.core.verdict import Claim, Outcome, Standing, Verdict
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.policies.claim import ClaimPolicy
from flopwitness.verify.policies.combinators import AllOf, FirstDecided, gravest, gravity

ANSWERS = st.sampled_from([*Outcome, *Standing])
APPROVING, OPEN, AGAINST = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Fixed:
    """A policy that always answers the same."""

    answer: Outcome | Standing

    def judge(self, account: Account) -> Verdict:
        """Return the answer, whatever the account."""
        return Verdict(self.answer, (f"always {self.answer} of {account.scope.name}",))


def claiming(noticed: float) -> ClaimPolicy:
    """Return a policy that wants to have noticed so much."""
    claim = Claim("Example", CLEAR_FLOP, "executed")
    return ClaimPolicy(claim, CONVENTIONS["executed"], noticed_ratio=noticed)


class TestAllOf(PolicyContract):
    """All of two."""

    def make_policy(self) -> Policy:
        """Ask for ten and for twenty percent."""
        return AllOf((claiming(0.1), claiming(0.2)))


class TestFirstDecided(PolicyContract):
    """The first of two that decides."""

    def make_policy(self) -> Policy:
        """Ask for one percent first, which these bounds cannot show."""
        return FirstDecided((claiming(0.01), claiming(0.1)))


@pytest.mark.parametrize("combinator", [AllOf, FirstDecided])
def test_a_policy_of_no_policies_cannot_be_built(combinator: type) -> None:
    """It would approve anything."""
    with pytest.raises(InvalidNounError, match="no policies"):
        combinator(())


def test_no_verdict_is_not_a_verdict() -> None:
    """The gravest of none would approve."""
    with pytest.raises(InvalidNounError):
        gravest(())


@given(answers=st.lists(ANSWERS, min_size=1, max_size=5))
def test_all_of_answers_the_gravest_and_names_the_others(answers: list[Outcome | Standing]) -> None:
    """Doubt weighs more than approval, contradiction more than doubt."""
    verdict = AllOf(tuple(map(Fixed, answers))).judge(clear())

    told = [gravity(Verdict(one, ("x",))) for one in answers]
    assert gravity(verdict) == max(told)
    assert len(verdict.reasons) == len(answers)


@given(answers=st.lists(ANSWERS, min_size=1, max_size=5))
def test_the_first_that_decides_is_the_answer(answers: list[Outcome | Standing]) -> None:
    """Where none decides the answer stays open."""
    verdict = FirstDecided(tuple(map(Fixed, answers))).judge(clear())

    told = [gravity(Verdict(one, ("x",))) for one in answers]
    decided = [one for one in told if one != OPEN]
    assert gravity(verdict) == (decided[0] if decided else OPEN)


@given(answers=st.lists(ANSWERS, min_size=1, max_size=4), added=ANSWERS)
def test_a_policy_more_never_lowers_the_gravity_of_all(
    answers: list[Outcome | Standing], added: Outcome | Standing
) -> None:
    """Asking more can only cost approval."""
    few = AllOf(tuple(map(Fixed, answers))).judge(clear())
    more = AllOf(tuple(map(Fixed, [*answers, added]))).judge(clear())

    assert gravity(more) >= gravity(few)


def test_what_a_verdict_rests_on_survives_being_combined() -> None:
    """Probabilities, digests and remedies are those of the answer."""
    alone = claiming(0.1).judge(clear())

    combined = AllOf((claiming(0.1), Fixed(Outcome.CONSISTENT))).judge(clear())

    assert replace(combined, reasons=alone.reasons) == alone
