"""What stands between the evidence and an answer: sentences for the head of the page."""

from collections.abc import Callable
from math import isfinite

from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_wording import GRAVEST_FIRST, duration_text, flop_text
from flopwitness.app.report.wording import counted_text, percent_text
from flopwitness.core.finding import Severity
from flopwitness.core.workclass import WorkClass


def doubts(content: ScopeContent) -> tuple[str, ...]:
    """Return what a reader must know before the figures, most of it first; coverage always."""
    return tuple(sentence for make in DOUBTS if (sentence := make(content)))


def _unobserved(content: ScopeContent) -> str:
    account = content.account
    if not account.unobserved_device_seconds:
        return ""
    share = percent_text(account.unobserved_device_seconds / account.scope.device_seconds)
    most = account.unobserved_flop
    held = (
        f"at most {flop_text(most)}"
        if isfinite(most)
        else "any amount of FLOP, for a chip without a known ceiling"
    )
    time = duration_text(account.unobserved_device_seconds)
    return (
        f"Nobody watched {time} of GPU time, {share} of the scope. It can hold {held}; nothing was filled in."
    )


def _outside(content: ScopeContent) -> str:
    most = content.account.outside_flop
    return f"At most {flop_text(most)} were seen outside sessions." if most else ""


def _not_estimated(content: ScopeContent) -> str:
    n = len(content.account.not_estimated)
    if not n:
        return ""
    return (
        f"{counted_text(n, 'session')} could not be estimated; in the bounds stands the ceiling of its chips."
    )


def _classes(content: ScopeContent) -> str:
    opinions = [session.opinion for session in content.account.sessions]
    n_unknown = sum(one is not None and one.answer is WorkClass.UNKNOWN for one in opinions)
    n_unasked = sum(one is None for one in opinions)
    told = [
        f"the class of {counted_text(n, 'session')} {why}"
        for n, why in ((n_unknown, "is unknown"), (n_unasked, "was not asked"))
        if n
    ]
    return f"{' and '.join(told)}: it may have been training.".capitalize() if told else ""


def _findings(content: ScopeContent) -> str:
    grave = [one.severity for _, one in content.all_findings() if one.severity is not Severity.NOTE]
    told = [counted_text(grave.count(one), one.value) for one in GRAVEST_FIRST if one in grave]
    return (
        f"Findings about the evidence: {' and '.join(told)}. None of them changes a number." if told else ""
    )


def _declared(content: ScopeContent) -> str:
    names = ", ".join(name.replace("_", " ") for name in content.account.declared)
    return f"Declared, not measured: {names}. Results are also shown without." if names else ""


def _hostile(content: ScopeContent) -> str:
    total = content.account.total
    if total.most_flop <= total.high_flop:
        return ""
    return (
        "The bounds are for workloads that meant no harm. Made to be under-counted, the scope can have taken "
        f"{flop_text(total.most_flop) if isfinite(total.most_flop) else 'more, without a bound'}."
    )


def _unverified(content: ScopeContent) -> str:
    n = sum(not one.threshold.is_verified for one in content.thresholds)
    return f"The text of {counted_text(n, 'rule')} was not verified." if n else ""


def _ledger(content: ScopeContent) -> str:
    if not content.ledgers:
        return "No ledger proof was given: nothing shows that the record was not altered."
    n = sum(not proof.is_verified for one in content.ledgers for proof in one.proofs)
    return f"{counted_text(n, 'ledger proof')} did NOT hold, or nobody checked it." if n else ""


def _own_word(content: ScopeContent) -> str:
    proofs = [(one, proof) for one in content.ledgers for proof in one.proofs if proof.is_verified]
    n = sum(not one.verifies(proof) for one, proof in proofs)
    return (
        f"{counted_text(n, 'ledger proof')} held by the ledger's own word alone: no key and no checkpoint "
        "that came another way vouches for it."
        if n
        else ""
    )


def _outside_ledgers(content: ScopeContent) -> str:
    n = len(content.account.sessions) - sum(one.n_sessions for one in content.ledgers)
    return (
        f"{counted_text(n, 'session')} came from no ledger: nothing shows that its record was not altered."
        if content.ledgers and n
        else ""
    )


def _coverage(content: ScopeContent) -> str:
    share = percent_text(content.account.coverage_ratio)
    return (
        f"Bounds hold the truth in {share} of cases like those calibrated on; of others nothing is promised."
    )


DOUBTS: tuple[Callable[[ScopeContent], str], ...] = (
    _unobserved,
    _not_estimated,
    _outside,
    _hostile,
    _classes,
    _declared,
    _findings,
    _ledger,
    _own_word,
    _outside_ledgers,
    _unverified,
    _coverage,
)
