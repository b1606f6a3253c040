"""Where a scope stands against a threshold: above, below, or not to be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.core.account import Account
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Standing, Threshold, Verdict
from flopwitness.verify.conventions import Convention
from flopwitness.verify.policies.claim import digests
from flopwitness.verify.policies.doubts import Doubt, alarm_doubts
from flopwitness.verify.policies.settling import causes, remedies, widest
from flopwitness.verify.policies.weighing import Reading, Weighed, weighed
from flopwitness.verify.policies.wording import flop_text


@dataclass(frozen=True, slots=True)
class ThresholdPolicy:
    """Weigh an account against a threshold.

    Above only where the low end exceeds it. Below only where the high end, and the bound for workloads that
    were made to be under-counted, lie under it, unobserved time at the chips' ceiling in both, and no
    evidence contradicts itself. A scope without a session is below by that ceiling alone: a bound of physics,
    which needs no evidence of what ran, only that the devices are the chips that they are said to be.

    Attributes
    ----------
    threshold : Threshold
        The limit.
    convention : Convention
        The one that the rule counts by.
    declared : mapping of str to float
        What was declared.
    trusts_declared : bool
        Whether that is believed; where not, an answer must hold with and without it.
    is_good_faith : bool
        Whether the bound for honest workloads decides alone. For an operator who asks about himself.

    Raises
    ------
    InvalidNounError
        When the convention is not the threshold's.
    """

    threshold: Threshold
    convention: Convention
    declared: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    trusts_declared: bool = False
    is_good_faith: bool = False

    def __post_init__(self) -> None:
        """Refuse to count by another convention than the rule's."""
        if self.threshold.convention != self.convention.name:
            raise InvalidNounError(
                f"threshold {self.threshold.name!r} counts as {self.threshold.convention!r}, not as "
                f"{self.convention.name!r}"
            )

    def judge(self, account: Account) -> Verdict:
        """Say where the account stands."""
        found = weighed(account, Reading(self.convention, self.declared, self.trusts_declared))
        if self._is_over(found.total.low_flop):
            return self._verdict(Standing.ABOVE, found, (self._above(found),))
        obstacles, held = self._obstacles(found), alarm_doubts(found.account)
        if obstacles or held:
            return self._verdict(Standing.UNDETERMINED, found, obstacles, held)
        return self._verdict(Standing.BELOW, found, (self._below(found),))

    def _is_over(self, flop: float) -> bool:
        limit = self.threshold.flop
        return flop > limit if self.threshold.is_strict else flop >= limit

    def _obstacles(self, found: Weighed) -> tuple[str, ...]:
        """Say what keeps the scope from being below."""
        total, limit = found.total, flop_text(self.threshold.flop)
        if self._is_over(total.high_flop):
            sentence = (
                f"{limit} FLOP lies between the low end {flop_text(total.low_flop)} and the high end "
                f"{flop_text(total.high_flop)}"
            )
            return (sentence,)
        if self._is_over(total.most_flop) and not self.is_good_faith:
            sentence = (
                f"the high end {flop_text(total.high_flop)} is under {limit} FLOP, but workloads made to be "
                f"under-counted may have taken {flop_text(total.most_flop)}"
            )
            return (sentence,)
        return ()

    def _above(self, found: Weighed) -> str:
        return (
            f"Even the low end, {flop_text(found.total.low_flop)} FLOP with nothing in unobserved time and "
            f"every convention at its lowest, is {'above' if self.threshold.is_strict else 'not under'} "
            f"{flop_text(self.threshold.flop)}"
        )

    def _below(self, found: Weighed) -> str:
        total, limit = found.total, flop_text(self.threshold.flop)
        if not found.has_estimate:
            return (
                "No session was estimated; by the chips' ceiling and what was seen outside sessions alone "
                f"the scope cannot have taken more than {flop_text(total.most_flop)} FLOP, which is under "
                f"{limit}"
            )
        if self.is_good_faith:
            return (
                f"The high end {flop_text(total.high_flop)} is under {limit} FLOP, unobserved time at the "
                "chips' ceiling; in good faith: the bound for workloads made to be under-counted, "
                f"{flop_text(total.most_flop)}, was not asked"
            )
        return (
            f"The high end {flop_text(total.high_flop)}, and the bound for workloads made to be "
            f"under-counted {flop_text(total.most_flop)}, are under {limit} FLOP, unobserved time at the "
            "chips' ceiling"
        )

    def _verdict(
        self, answer: Standing, found: Weighed, why: tuple[str, ...], held: tuple[Doubt, ...] = ()
    ) -> Verdict:
        is_open = answer is Standing.UNDETERMINED and why  # where doubts alone stand, width decides nothing
        open_causes = causes(found, is_hostile=not self.is_good_faith) if is_open else ()
        why = (*why, *(one.sentence for one in held))
        return Verdict(
            answer,
            (
                *why[:1],
                found.sentence(),
                *why[1:],
                *found.notes,
                *found.reading.sentences(),
                *widest(open_causes),
                *self._source(),
            ),
            self.convention.name,
            found.probability_over(self.threshold.flop) if found.has_estimate else None,
            remedies(open_causes, held),
            digests(found.account),
        )

    def _source(self) -> tuple[str, ...]:
        """Say what the rule rests on, and what else it asks."""
        rule = self.threshold
        text_date = (
            f"text of {rule.text_date.isoformat()}" if rule.text_date else "date of the text not recorded"
        )
        checked = "the text was read" if rule.is_verified else "not checked against the text itself"
        others = tuple(f"Beside the figure, which telemetry cannot tell: {one}" for one in rule.conditions)
        return (f"Rule: {rule.title}, {rule.citation} ({rule.status}; {text_date}; {checked})", *others)
