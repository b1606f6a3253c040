"""Whether evidence contradicts what somebody claims, bears it out, or cannot tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.core.account import Account
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Claim, Outcome, Verdict
from flopwitness.verify.claims import allowed
from flopwitness.verify.conventions import Convention
from flopwitness.verify.policies.doubts import DEFAULT_DOUBTS, Doubt, DoubtRule, alarms, doubts, flop_ratio
from flopwitness.verify.policies.settling import causes, remedies, widest
from flopwitness.verify.policies.weighing import UNSEEABLE, Reading, Weighed, weighed
from flopwitness.verify.policies.wording import chance_text, flop_text, share_text

CONFIDENCE_RATIO = 0.95
"""At most one honest claim of twenty is to be called false, too low and too high together."""

NOTICED_RATIO = 0.1
"""An under-declaration by a tenth is to be noticed before a claim is called consistent."""

NOTICED_OVER_RATIO = 0.3
"""So is an over-declaration by three tenths, before conventions: less would hide nothing of size."""


@dataclass(frozen=True, slots=True)
class ClaimPolicy:
    """Weigh a claim.

    Inconsistent where the truth lies above, or below, what the claim and its margin allow, with the
    confidence asked for: against an under-declaration nothing counts that nobody saw, against an
    over-declaration all of it. Consistent where the claim lies inside the bounds, the bounds would have shown
    an under-declaration of ``noticed_ratio`` and an over-declaration of ``noticed_over_ratio``, and no doubt
    stands. Else inconclusive.

    Attributes
    ----------
    claim : Claim
        What is claimed.
    convention : Convention
        The one that the claim is counted by.
    declared : mapping of str to float
        What was declared beside the claim.
    trusts_declared : bool
        Whether that is believed; where not, an answer must hold with and without it.
    confidence_ratio : float
        One minus the share of honest claims that may be called false, both ways together, in (0.5, 1).
    noticed_ratio : float
        Smallest under-declaration that must have shown, in (0, 1).
    noticed_over_ratio : float
        Smallest over-declaration that must have shown but for what conventions leave open, > 0.
    rule : DoubtRule
        From where on doubts count.

    Raises
    ------
    InvalidNounError
        When the convention is not the claim's, or a ratio is out of range.
    """

    claim: Claim
    convention: Convention
    declared: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    trusts_declared: bool = False
    confidence_ratio: float = CONFIDENCE_RATIO
    noticed_ratio: float = NOTICED_RATIO
    noticed_over_ratio: float = NOTICED_OVER_RATIO
    rule: DoubtRule = DEFAULT_DOUBTS

    def __post_init__(self) -> None:
        """Refuse to weigh a claim by another convention than its own."""
        if self.claim.convention != self.convention.name:
            raise InvalidNounError(
                f"the claim is counted as {self.claim.convention!r}, not as {self.convention.name!r}"
            )
        if not (
            0.5 < self.confidence_ratio < 1 and 0 < self.noticed_ratio < 1 and self.noticed_over_ratio > 0
        ):
            raise InvalidNounError(
                f"confidence {self.confidence_ratio} must be in (0.5, 1), what is to be noticed "
                f"{self.noticed_ratio} in (0, 1) and {self.noticed_over_ratio} above 0"
            )

    @property
    def allowed_flop(self) -> tuple[float, float]:
        """Least and most that the truth may be if the claim holds with its margin."""
        return allowed(self.claim)

    @property
    def side_ratio(self) -> float:
        """Confidence asked for on either side, so that both together keep ``confidence_ratio``."""
        return (1 + self.confidence_ratio) / 2

    def judge(self, account: Account) -> Verdict:
        """Weigh the claim against an account; no evidence is inconclusive."""
        found = weighed(account, Reading(self.convention, self.declared, self.trusts_declared, UNSEEABLE))
        if not found.has_estimate:
            reason = "no session of the scope was estimated: nothing speaks for or against the claim"
            return self._verdict(Outcome.INCONCLUSIVE, found, (reason,))
        held = self._doubts(found)
        if contradiction := self._contradiction(found, is_doubtful=bool(held)):
            return self._verdict(Outcome.INCONSISTENT, found, (contradiction,), held)
        obstacles = self._obstacles(found)
        if obstacles or held:
            return self._verdict(Outcome.INCONCLUSIVE, found, obstacles, held)
        return self._verdict(Outcome.CONSISTENT, found, (self._bears_out(found),))

    def _doubts(self, found: Weighed) -> tuple[Doubt, ...]:
        """Return what keeps the evidence from bearing the claim out."""
        held = doubts(found.account, self.rule)
        share = flop_ratio(found.account, found.left_out)
        if share <= self.rule.doubtful_ratio:
            return held
        sentence = f"{share_text(round(share, 2))} of the estimated FLOP may not count at all"
        return (*held, Doubt(sentence, "logs or code that say what these sessions were"))

    def _contradiction(self, found: Weighed, *, is_doubtful: bool) -> str:
        """Say how the evidence contradicts the claim; empty where it does not."""
        low, high = self.allowed_flop
        above = found.probability_over(high)[0]
        if above >= self.side_ratio:
            return (
                f"The truth exceeds {flop_text(high)}, the most that the claim allows, with a probability of "
                f"{chance_text(above)} even if nothing happened that nobody saw; "
                f"{share_text(self.side_ratio)} was asked for"
            )
        below = 1 - found.probability_over(low)[1]
        if below >= self.side_ratio and not self._may_hide(found, low, is_doubtful=is_doubtful):
            return (
                f"The truth is less than {flop_text(low)}, the least that the claim allows, with a "
                f"probability of {chance_text(below)} even if all that nobody saw ran at the chips' ceiling; "
                f"{share_text(self.side_ratio)} was asked for"
            )
        return ""

    def _may_hide(self, found: Weighed, low_flop: float, *, is_doubtful: bool) -> bool:
        """Say whether what is doubtful in the evidence could hold what was claimed.

        Signals that contradict each other could hide anything. Other doubts are inside the bound for
        workloads made to be under-counted: it covers every format and kind of work.
        """
        has_alarm = any(alarms(one) for one in found.account.sessions)
        return has_alarm or (is_doubtful and low_flop <= found.total.most_flop)

    def _obstacles(self, found: Weighed) -> tuple[str, ...]:
        """Say what keeps the bounds from bearing the claim out; none where nothing does."""
        (low, high), total = self.allowed_flop, found.total
        if not (total.low_flop <= high and total.high_flop >= low):
            asked = share_text(self.side_ratio)
            is_sure = 1 - found.probability_over(low)[1] >= self.side_ratio
            why = "doubtful evidence could hold the rest" if is_sure else f"calling it false needs {asked}"
            return (f"the claim lies outside the bounds, but {why}",)
        if not total.high_flop <= self._noticed_flop:
            sentence = (
                f"the bounds are too wide: an under-declaration by {share_text(self.noticed_ratio)} would be "
                f"{flop_text(self._noticed_flop)} FLOP, which is not above {flop_text(total.high_flop)}"
            )
            return (sentence,)
        if not found.seen.low_flop * (1 + self.noticed_over_ratio) >= low:
            sentence = (
                f"the bounds are too wide: an over-declaration by {share_text(self.noticed_over_ratio)} "
                f"would not show, for the truth may be as little as {flop_text(found.seen.low_flop)} FLOP "
                "before conventions"
            )
            return (sentence,)
        return ()

    @property
    def _noticed_flop(self) -> float:
        """The truth behind a claim that is under-declared by ``noticed_ratio``."""
        return self.allowed_flop[1] / (1 - self.noticed_ratio)

    def _bears_out(self, found: Weighed) -> str:
        return (
            f"The claim lies inside the bounds, and an under-declaration by {share_text(self.noticed_ratio)} "
            f"would have shown: the truth would be {flop_text(self._noticed_flop)} FLOP, above "
            f"{flop_text(found.total.high_flop)}"
        )

    def _verdict(
        self, answer: Outcome, found: Weighed, why: tuple[str, ...], held: tuple[Doubt, ...] = ()
    ) -> Verdict:
        is_open = answer is Outcome.INCONCLUSIVE
        open_causes = (
            causes(found) if is_open and why else ()
        )  # where doubts alone stand, width decides nothing
        why = (*why, *(one.sentence for one in held))
        claim, low_high = self.claim, self.allowed_flop
        margin = f", with its margin {flop_text(low_high[0])} to {flop_text(low_high[1])}"
        whose = f"Claimed by {claim.declarant}: {flop_text(claim.flop)} FLOP"
        said = f"{whose}{margin if claim.margin_ratio else ''}"
        hostile = (
            "Bounds are for workloads that meant no harm; made to be under-counted, they may have taken "
            f"{flop_text(found.total.most_flop)} FLOP"
        )
        return Verdict(
            answer,
            (
                *why[:1],
                said,
                found.sentence(),
                *why[1:],
                *found.notes,
                *found.reading.sentences(),
                *widest(open_causes),
                hostile,
            ),
            self.convention.name,
            found.probability_over(low_high[1]) if found.has_estimate else None,
            remedies(open_causes, held) if is_open else (),
            digests(found.account),
        )


def digests(account: Account) -> tuple[str, ...]:
    """Return the digests of what an account was made from, sorted."""
    return tuple(sorted({one.digest for one in account.sessions if one.digest}))
