"""What speaks against relying on evidence: doubts that keep a policy from approving."""

from collections.abc import Collection
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from flopwitness.core.account import Account, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Severity
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.accounts import STALLED
from flopwitness.verify.policies.wording import sessions_text, share_text

OPEN_FORMAT = "format-not-identified"
SHOWN = 3
"""How many sessions a doubt names."""


class Doubt(NamedTuple):
    """A reason not to rely on evidence, and what would take it away."""

    sentence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DoubtRule:
    """From where on doubts count.

    Attributes
    ----------
    unobserved_ratio : float
        Share of the scope's device time that may be unobserved, in [0, 1]; its ceiling is in the bounds too.
    doubtful_ratio : float
        Share of the estimated FLOP that sessions of open number format, or of an unknown kind of work, may
        hold, in [0, 1].

    Raises
    ------
    InvalidNounError
        When a share is out of range.
    """

    unobserved_ratio: float = 0.05
    doubtful_ratio: float = 0.05

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        if not (0 <= self.unobserved_ratio <= 1 and 0 <= self.doubtful_ratio <= 1):
            raise InvalidNounError(f"shares of doubt must be in [0, 1]: {self}")


DEFAULT_DOUBTS = DoubtRule()


def alarms(session: SessionEvidence) -> tuple[str, ...]:
    """Return codes of findings by which a session's evidence contradicts itself or lacks a part, sorted.

    A stall is an alarm for an operator, but no doubt: it says that nothing was computed.
    """
    found = {one.code for one in session.findings if one.severity is Severity.ALARM}
    return tuple(sorted(found - {STALLED}))


def alarm_doubts(account: Account) -> tuple[Doubt, ...]:
    """Return the doubt of sessions that carry alarms."""
    held = [one for one in account.sessions if alarms(one)]
    if not held:
        return ()
    codes = sorted({code for one in held for code in alarms(one)})
    named = ", ".join(one.session_id for one in held[:SHOWN]) + ", ..." * (len(held) > SHOWN)
    sentence = (
        f"{len(held)} of {len(account.sessions)} sessions carry alarms ({', '.join(codes)}; sessions "
        f"{named}): evidence that contradicts itself approves nothing"
    )
    return (Doubt(sentence, f"samples of these sessions from another source: {named}"),)


def doubts(account: Account, rule: DoubtRule = DEFAULT_DOUBTS) -> tuple[Doubt, ...]:
    """Return each reason not to rely on the evidence; none where there is none."""
    return (*alarm_doubts(account), *_unobserved(account, rule), *_vague(account, rule))


def flop_ratio(account: Account, session_ids: Collection[str]) -> float:
    """Return the share of the estimated FLOP that some sessions hold; 0 where nothing was estimated."""
    by_session = {
        one.session_id: estimate.point_flop
        for one in account.sessions
        if (estimate := one.estimates.get(account.target, {}).get(account.method)) is not None
    }
    whole = fsum(by_session.values())
    held = fsum(flop for session_id, flop in by_session.items() if session_id in session_ids)
    return held / whole if whole > 0 else 0.0


def _unobserved(account: Account, rule: DoubtRule) -> tuple[Doubt, ...]:
    share = account.unobserved_device_seconds / account.scope.device_seconds
    if share <= rule.unobserved_ratio:
        return ()
    sentence = (
        f"{share_text(round(share, 3))} of the scope's device time was not observed; more than "
        f"{share_text(rule.unobserved_ratio)} of "
        "it is a doubt whatever its bounds"
    )
    return (Doubt(sentence, "samples of that time from another source"),)


def _vague(account: Account, rule: DoubtRule) -> tuple[Doubt, ...]:
    """Say how much rests on formats or kinds of work that nobody could tell."""
    kinds = (
        (
            "whose number format is not identified",
            "the number format of the work, or a calibration that has seen it",
            {one.session_id for one in account.sessions if _has_open_format(one)},
        ),
        (
            "of an unknown kind of work, unlike all that was seen",
            "logs or code that say what kind of work it was",
            {one.session_id for one in account.sessions if _is_unknown(one)},
        ),
    )
    return tuple(
        Doubt(
            f"{share_text(round(share, 2))} of the estimated FLOP are in {sessions_text(len(held))} {words}",
            remedy,
        )
        for words, remedy, held in kinds
        if (share := flop_ratio(account, held)) > rule.doubtful_ratio
    )


def _is_unknown(session: SessionEvidence) -> bool:
    return session.opinion is not None and session.opinion.answer is WorkClass.UNKNOWN


def _has_open_format(session: SessionEvidence) -> bool:
    return any(finding.code == OPEN_FORMAT for finding in session.findings)
