"""Kinds of evidence side by side: what each says by itself. None decides alone, and none is averaged away."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, isfinite

from flopwitness.core.account import Account, Amount
from flopwitness.core.finding import Severity
from flopwitness.core.verdict import Claim
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.accounts import is_opened
from flopwitness.verify.claims import Agreement, agreement, allowed
from flopwitness.verify.conventions import Convention, convert
from flopwitness.verify.dependence import ALL_SHARED, Part, summed
from flopwitness.verify.policies.doubts import alarms, flop_ratio
from flopwitness.verify.policies.weighing import UNSEEABLE
from flopwitness.verify.policies.wording import flop_text, sessions_text, share_text

ACTIVITY_METHODS = ("fused", "pipe-cycles-calibrated")
POWER_METHODS = ("linear-power",)
"""Each kind by the methods that rest on it alone; others mix both."""

MOST_FLOP_PER_JOULE = 3.6e12
"""More than any chip of the table does: an H200's ceiling over its power limit.

The best in this project's recordings is 1.76e12, products in FP8 at 590 W; training in bf16 does 2e11 to
8e11.
"""

NEARLY_ALL_RATIO = 0.95
COMPLETE_RATIO = 0.01
"""Up to this share of time, or of FLOP, what was not seen is no gap."""


class LayerAnswer(StrEnum):
    """What a kind of evidence says of a claim, or, without one, of the account."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class EvidenceLayer:
    """One kind of evidence.

    Attributes
    ----------
    name : str
        Such as ``"energy"``.
    answer : LayerAnswer
        What it says by itself.
    summary : str
        A plain sentence.
    details : tuple of str
        Figures behind it.
    """

    name: str
    answer: LayerAnswer
    summary: str
    details: tuple[str, ...] = ()


def layers(
    account: Account, claim: Claim | None = None, convention: Convention | None = None
) -> tuple[EvidenceLayer, ...]:
    """Return what each kind of evidence says: activity, energy, classification, completeness, tampering.

    Parameters
    ----------
    account : Account
        What the scope took.
    claim : Claim or None
        What is claimed; without one, each layer says whether the account hangs together.
    convention : Convention or None
        The claim's.
    """
    return (
        _activity(account, claim, convention),
        _energy(account, claim, convention),
        _classification(account),
        _completeness(account),
        _tampering(account),
    )


def _amount(account: Account, method: str) -> Amount | None:
    """Return the sum by one method; None where it did not answer for every session."""
    parts = [
        Part(one.session_id, estimate, is_opened(one))
        for one in account.sessions
        if (estimate := one.estimates.get(account.target, {}).get(method)) is not None
    ]
    return summed(parts, ALL_SHARED) if parts and len(parts) == len(account.sessions) else None


def _amounts(account: Account, methods: Iterable[str]) -> dict[str, Amount]:
    return {name: one for name in methods if (one := _amount(account, name)) is not None}


def _weighed(amounts: Iterable[Amount], claim: Claim, convention: Convention) -> LayerAnswer:
    """Say whether any of some amounts excludes a claim."""
    found = [agreement(convert(one, convention, widest=UNSEEABLE).envelope, claim) for one in amounts]
    against = (Agreement.CLAIM_TOO_LOW, Agreement.CLAIM_TOO_HIGH)
    if not found:
        return LayerAnswer.SILENT
    return LayerAnswer.CONTRADICTS if any(one in against for one in found) else LayerAnswer.SUPPORTS


def _figures(amounts: Mapping[str, Amount]) -> tuple[str, ...]:
    return tuple(
        f"{name}: {flop_text(one.point_flop)} FLOP, {flop_text(one.low_flop)} to {flop_text(one.high_flop)}"
        for name, one in amounts.items()
    )


def _overlap(first: Amount, second: Amount) -> bool:
    return first.low_flop <= second.high_flop and second.low_flop <= first.high_flop


def _activity(account: Account, claim: Claim | None, convention: Convention | None) -> EvidenceLayer:
    amounts = _amounts(account, ACTIVITY_METHODS)
    if not amounts:
        return EvidenceLayer(
            "activity", LayerAnswer.SILENT, "No method answered for every session by activity."
        )
    figures = _figures(amounts)
    if claim is not None and convention is not None:
        answer = _weighed(amounts.values(), claim, convention)
        verb = "leaves room for" if answer is LayerAnswer.SUPPORTS else "excludes"
        return EvidenceLayer("activity", answer, f"What the arithmetic pipes did {verb} the claim.", figures)
    ends = list(amounts.values())
    agree = all(_overlap(ends[0], one) for one in ends)
    answer = LayerAnswer.SUPPORTS if agree else LayerAnswer.CONTRADICTS
    verb = "agree" if agree else "disagree"
    return EvidenceLayer("activity", answer, f"Methods that read the arithmetic pipes {verb}.", figures)


def _energy(account: Account, claim: Claim | None, convention: Convention | None) -> EvidenceLayer:
    joules = fsum(one.energy_joules for one in account.sessions)
    amounts = _amounts(account, POWER_METHODS)
    if not amounts and not (isfinite(joules) and joules > 0):
        return EvidenceLayer("energy", LayerAnswer.SILENT, "Nobody saw the energy of every session.")
    details = [*_figures(amounts)]
    if isfinite(joules) and joules > 0:
        rate = account.observed.point_flop / joules
        details.append(f"{joules:.4g} J in sessions: {rate:.3g} FLOP a joule by {account.method}")
        asked = allowed(claim)[0] if claim is not None else account.observed.low_flop
        if asked > MOST_FLOP_PER_JOULE * joules and account.unobserved_flop == 0:
            sentence = f"The energy is too little for {flop_text(asked)} FLOP on any chip that is known."
            return EvidenceLayer("energy", LayerAnswer.CONTRADICTS, sentence, tuple(details))
    if claim is not None and convention is not None:
        answer = _weighed(amounts.values(), claim, convention)
        verbs = {LayerAnswer.SUPPORTS: "leaves room for", LayerAnswer.CONTRADICTS: "excludes"}
        verb = verbs.get(answer, "says nothing of")
        return EvidenceLayer("energy", answer, f"Power alone {verb} the claim.", tuple(details))
    agree = all(_overlap(account.observed, one) for one in amounts.values())
    answer = LayerAnswer.SUPPORTS if agree else LayerAnswer.CONTRADICTS
    verb = "agrees" if agree else "disagrees"
    return EvidenceLayer("energy", answer, f"Power alone {verb} with {account.method}.", tuple(details))


def _classification(account: Account) -> EvidenceLayer:
    by_class = {
        kind: [
            one.session_id
            for one in account.sessions
            if one.opinion is not None and one.opinion.answer is kind
        ]
        for kind in WorkClass
    }
    if not any(by_class.values()):
        return EvidenceLayer("classification", LayerAnswer.SILENT, "Nobody said what kind of work it was.")
    shares = {kind: flop_ratio(account, held) for kind, held in by_class.items()}
    details = tuple(
        f"{kind.value}: {share_text(shares[kind])} of the FLOP in {sessions_text(len(held))}"
        for kind, held in by_class.items()
        if held
    )
    other = shares[WorkClass.INFERENCE] + shares[WorkClass.OTHER]
    if shares[WorkClass.TRAINING] >= NEARLY_ALL_RATIO:
        return EvidenceLayer(
            "classification", LayerAnswer.SUPPORTS, "Nearly all of it looks like training.", details
        )
    if other > 0.5:
        sentence = "Most of it looks like inference or other work, not training."
        return EvidenceLayer("classification", LayerAnswer.CONTRADICTS, sentence, details)
    sentence = "Some of it does not look like training, or like nothing known."
    return EvidenceLayer("classification", LayerAnswer.SILENT, sentence, details)


def _completeness(account: Account) -> EvidenceLayer:
    unobserved = account.unobserved_device_seconds / account.scope.device_seconds
    seen = account.observed.point_flop
    outside = account.outside_flop / seen if seen > 0 else float(account.outside_flop > 0)
    ceiling = f"up to {flop_text(account.unobserved_flop)} FLOP"
    details = (
        f"unobserved: {share_text(unobserved)} of {account.scope.device_seconds:.6g} device-seconds, "
        + ceiling,
        f"outside sessions: up to {flop_text(account.outside_flop)} FLOP",
        f"sessions without an estimate: {len(account.not_estimated)} of {len(account.sessions)}",
    )
    if unobserved <= COMPLETE_RATIO and outside <= COMPLETE_RATIO and not account.not_estimated:
        return EvidenceLayer(
            "completeness", LayerAnswer.SUPPORTS, "Nearly all of the scope was watched.", details
        )
    sentence = "Parts of the scope were not watched, or hold work without an estimate: they may hide work."
    return EvidenceLayer("completeness", LayerAnswer.SILENT, sentence, details)


def _tampering(account: Account) -> EvidenceLayer:
    alarmed = {one.session_id: alarms(one) for one in account.sessions if alarms(one)}
    warned = sum(
        any(finding.severity is Severity.WARNING for finding in one.findings)
        for one in account.sessions
        if one.session_id not in alarmed
    )
    details = (
        *(f"session {name}: {', '.join(codes)}" for name, codes in alarmed.items()),
        f"{warned} sessions carry warnings",
    )
    if alarmed:
        sentence = f"Signals of {sessions_text(len(alarmed))} contradict each other, or a device was lost."
        return EvidenceLayer("tampering", LayerAnswer.CONTRADICTS, sentence, details)
    if not account.sessions:
        return EvidenceLayer("tampering", LayerAnswer.SILENT, "There is no session to look at.", details)
    return EvidenceLayer(
        "tampering", LayerAnswer.SUPPORTS, "No signal contradicts another beyond a warning.", details
    )
