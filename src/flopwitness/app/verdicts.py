"""From one scope's evidence to accounts, verdicts and layers of evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.app.accounting import Evidence
from flopwitness.core.account import Account
from flopwitness.core.verdict import Claim, Threshold, Verdict
from flopwitness.core.workload import Target
from flopwitness.verify.conventions import Convention, Converted, convention_named, convert
from flopwitness.verify.layers import EvidenceLayer, layers
from flopwitness.verify.policies.claim import CONFIDENCE_RATIO, ClaimPolicy
from flopwitness.verify.policies.combinators import gravity
from flopwitness.verify.policies.threshold import ThresholdPolicy
from flopwitness.verify.policies.weighing import Reading, Weighed, weighed

STATUSES = (0, 3, 1)
"""Exit status by the gravest answer: consistent or below, open, inconsistent or above."""

DEFAULT_CONVENTION = "executed"
"""Of a scope of which nothing was asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a scope.

    Attributes
    ----------
    claim : Claim or None
        What is claimed.
    thresholds : tuple of Threshold
        Rules to weigh the scope against.
    declared : mapping of str to float
        What was declared.
    trusts_declared, is_good_faith : bool
        As in ``ClaimPolicy`` and ``ThresholdPolicy``.
    confidence_ratio : float
        As in ``ClaimPolicy``.
    method : str
        Estimator to ask; empty for the best that answered throughout.
    """

    claim: Claim | None = None
    thresholds: tuple[Threshold, ...] = ()
    declared: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    trusts_declared: bool = False
    is_good_faith: bool = False
    confidence_ratio: float = CONFIDENCE_RATIO
    method: str = ""

    @property
    def conventions(self) -> tuple[Convention, ...]:
        """Every convention that the question needs, the claim's first."""
        names = [self.claim.convention] if self.claim else []
        names += [rule.convention for rule in self.thresholds]
        return tuple(convention_named(name) for name in dict.fromkeys(names or [DEFAULT_CONVENTION]))


@dataclass(frozen=True, slots=True)
class Counting:
    """An account by one convention.

    Attributes
    ----------
    convention : Convention
        How it was counted.
    observed, total : Converted
        What was seen in sessions; with what was seen outside them and what nobody saw.
    weighed : Weighed
        As policies read it.
    """

    convention: Convention
    observed: Converted
    total: Converted
    weighed: Weighed


@dataclass(frozen=True, slots=True)
class Answer:
    """What the evidence says.

    Attributes
    ----------
    accounts : mapping of Target to Account
        For every target that was needed, the first convention's first.
    countings : tuple of Counting
        By each convention.
    claim : Verdict or None
        On the claim.
    thresholds : tuple of tuple of Threshold and Verdict
        In the order asked.
    layers : tuple of EvidenceLayer
        Each kind of evidence by itself.
    """

    accounts: Mapping[Target, Account]
    countings: tuple[Counting, ...]
    claim: Verdict | None
    thresholds: tuple[tuple[Threshold, Verdict], ...]
    layers: tuple[EvidenceLayer, ...]

    @property
    def first(self) -> Account:
        """The account that the first convention starts from."""
        return next(iter(self.accounts.values()))

    @property
    def status(self) -> int:
        """Exit status: 1 where anything is contradicted or above, else 3 where anything is open, else 0."""
        every = [self.claim] if self.claim else []
        every += [verdict for _, verdict in self.thresholds]
        return STATUSES[max((gravity(one) for one in every), default=0)]


def answered(evidence: Evidence, question: Question) -> Answer:
    """Weigh what is asked of a scope.

    Raises
    ------
    InvalidNounError
        When time of a device would count twice, or something is declared that nobody knows.
    """
    conventions = question.conventions
    accounts: dict[Target, Account] = {}
    for convention in conventions:
        if convention.target not in accounts:
            accounts[convention.target] = evidence.account(convention.target, method=question.method)
    claim, first = question.claim, conventions[0]
    return Answer(
        MappingProxyType(accounts),
        tuple(_counting(accounts[one.target], one, question) for one in conventions),
        _claim_verdict(accounts[first.target], claim, question) if claim else None,
        _threshold_verdicts(accounts, question),
        layers(accounts[first.target], claim, first if claim else None),
    )


def _counting(account: Account, convention: Convention, question: Question) -> Counting:
    observed, total = (
        convert(one, convention, declared=question.declared) for one in (account.observed, account.total)
    )
    reading = Reading(convention, question.declared, question.trusts_declared)
    return Counting(convention, observed, total, weighed(account, reading))


def _claim_verdict(account: Account, claim: Claim, question: Question) -> Verdict:
    return ClaimPolicy(
        claim,
        convention_named(claim.convention),
        declared=question.declared,
        trusts_declared=question.trusts_declared,
        confidence_ratio=question.confidence_ratio,
    ).judge(account)


def _threshold_verdicts(
    accounts: Mapping[Target, Account], question: Question
) -> tuple[tuple[Threshold, Verdict], ...]:
    verdicts: list[tuple[Threshold, Verdict]] = []
    for rule in question.thresholds:
        convention = convention_named(rule.convention)
        policy = ThresholdPolicy(
            rule,
            convention,
            declared=question.declared,
            trusts_declared=question.trusts_declared,
            is_good_faith=question.is_good_faith,
        )
        verdicts.append((rule, policy.judge(accounts[convention.target])))
    return tuple(verdicts)
