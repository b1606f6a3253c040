"""Several policies as one; none of none, for that would approve anything."""

from collections.abc import Iterable
from dataclasses import dataclass

from flopwitness.core.account import Account
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.ports import Policy
from flopwitness.core.verdict import Outcome, Standing, Verdict

AGAINST = frozenset({Outcome.INCONSISTENT, Standing.ABOVE})
OPEN = frozenset({Outcome.INCONCLUSIVE, Standing.UNDETERMINED})


def gravity(verdict: Verdict) -> int:
    """Return how grave an answer is: 0 borne out or below, 1 open, 2 contradicted or above."""
    return 2 if verdict.answer in AGAINST else int(verdict.answer in OPEN)


def gravest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the gravest of at least one verdict, the first of several.

    Raises
    ------
    InvalidNounError
        When there is none.
    """
    every = tuple(verdicts)
    if not every:
        raise InvalidNounError("no verdict is none that approves")
    return max(every, key=gravity)


@dataclass(frozen=True, slots=True)
class Several:
    """Policies that answer as one.

    Attributes
    ----------
    policies : tuple of Policy
        At least one.

    Raises
    ------
    InvalidNounError
        When there is none.
    """

    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        """Refuse to approve because nobody was asked."""
        _require_some(self.policies)


@dataclass(frozen=True, slots=True)
class AllOf(Several):
    """Approve only where every policy approves; the gravest answer is the answer."""

    def judge(self, account: Account) -> Verdict:
        """Return the gravest verdict, with the first reason of every other."""
        verdicts = [policy.judge(account) for policy in self.policies]
        worst = gravest(verdicts)
        return _with_others(worst, [one for one in verdicts if one is not worst])


@dataclass(frozen=True, slots=True)
class FirstDecided(Several):
    """Ask one policy after the other; the first that decides is the answer, else the first is.

    The order is the user's: a strict policy before a lenient one leaves the lenient one what the strict one
    could not tell.
    """

    def judge(self, account: Account) -> Verdict:
        """Return the first verdict that decides, with the first reason of those that did not."""
        asked: list[Verdict] = []
        for policy in self.policies:
            verdict = policy.judge(account)
            if verdict.answer not in OPEN:
                return _with_others(verdict, asked)
            asked.append(verdict)
        return _with_others(asked[0], asked[1:])


def _require_some(policies: tuple[Policy, ...]) -> None:
    if not policies:
        raise InvalidNounError("a policy of no policies would approve anything")


def _with_others(verdict: Verdict, others: Iterable[Verdict]) -> Verdict:
    reasons = tuple(f"another policy says {one.answer}: {one.reasons[0]}" for one in others)
    return Verdict(
        verdict.answer,
        (*verdict.reasons, *reasons),
        verdict.convention,
        verdict.probability_over,
        verdict.would_settle,
        verdict.evidence_digests,
    )
