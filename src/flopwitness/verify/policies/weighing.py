"""An account as a convention counts it: what counts for sure, and what it can be at most."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import inf

from flopwitness.core.account import Account, Amount, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.accounts import is_opened
from flopwitness.verify.conventions import Convention, Converted, convert
from flopwitness.verify.dependence import ALL_SHARED, Part, summed
from flopwitness.verify.policies.doubts import alarms
from flopwitness.verify.policies.wording import flop_text, sessions_text, share_text
from flopwitness.verify.probability import probability_over, probability_over_with

COUNT_ALL_WORK = frozenset({"executed", "algorithmic"})
"""Conventions that count what ran, whatever it was; all others count training."""

UNSEEABLE = ("recomputation",)
"""Conversions whose widest known range is taken before a claim is called false: telemetry cannot see them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read an account.

    Attributes
    ----------
    convention : Convention
        How to count.
    declared : mapping of str to float
        What was declared, by the names in ``flopwitness.verify.conversions.DECLARABLE``.
    trusts_declared : bool
        Whether it is believed. Where not, an answer must hold with and without it.
    widest : collection of str
        Conversions that are taken at the widest that is known to happen.
    """

    convention: Convention
    declared: Mapping[str, float]
    trusts_declared: bool = False
    widest: Collection[str] = ()

    def of(self, amount: Amount) -> Amount:
        """Return an amount by this convention, its ends as far apart as the reading leaves them."""
        converted = self.converted(amount)
        return converted.amount if self.trusts_declared else converted.envelope

    def converted(self, amount: Amount) -> Converted:
        """Return the conversions, step by step."""
        return convert(amount, self.convention, declared=self.declared, widest=self.widest)

    def sentences(self) -> tuple[str, ...]:
        """Say what was declared and what became of it; nothing where nothing was."""
        if not self.declared:
            return ()
        names = ", ".join(f"{name} = {value:.4g}" for name, value in self.declared.items())
        how = "believed" if self.trusts_declared else "bounds hold with and without it"
        return (f"Declared, not measured: {names}; {how}",)

    def least(self, amount: Amount) -> Amount:
        """Return an amount with every conversion at its low end."""
        return _each(amount, lambda flop: self.of(Amount(flop, flop, flop, flop)).low_flop)

    def most(self, amount: Amount) -> Amount:
        """Return an amount with every conversion at its high end."""
        return _each(amount, lambda flop: self.of(Amount(flop, flop, flop, flop)).high_flop)


@dataclass(frozen=True, slots=True)
class Weighed:
    """An account by a convention.

    Attributes
    ----------
    account : Account
        Of what.
    reading : Reading
        How it was read.
    sure : Amount
        The least: sessions that may count at all, nothing unobserved, every conversion at its low end.
    seen : Amount
        The most of what was observed: every session, every conversion at its high end.
    unseen_flop : float
        What was seen outside sessions and what nobody saw, at their ceiling, likewise.
    total : Amount
        From the low end of ``sure`` to the high ends of ``seen`` with ``unseen_flop``.
    left_out : tuple of str
        Sessions that count nothing in ``sure``.
    notes : tuple of str
        Sentences about them.
    """

    account: Account
    reading: Reading
    sure: Amount
    seen: Amount
    unseen_flop: float
    total: Amount
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def has_estimate(self) -> bool:
        """Whether any session was estimated."""
        return len(self.account.sessions) > len(self.account.not_estimated)

    def probability_over(self, figure_flop: float) -> tuple[float, float]:
        """Return the least and the most probability that the truth exceeds a figure."""
        coverage = self.account.coverage_ratio
        least = probability_over(self.sure, figure_flop, coverage_ratio=coverage)
        most = probability_over_with(self.seen, self.unseen_flop, figure_flop, coverage_ratio=coverage)
        return least, max(least, most)

    def sentence(self) -> str:
        """Say what the evidence comes to."""
        convention, total = self.reading.convention, self.total
        return (
            f"By the convention {convention.name!r} ({convention.title}), estimated as {self.account.target} "
            f"FLOP by {self.account.method}, the scope took {flop_text(total.low_flop)} to "
            f"{flop_text(total.high_flop)} FLOP, most likely {flop_text(total.point_flop)}; bounds of "
            f"{share_text(self.account.coverage_ratio)}, with what nobody observed at nothing and at its "
            "ceiling"
        )


def weighed(account: Account, reading: Reading) -> Weighed:
    """Read an account by a convention.

    What counts for sure leaves out sessions whose evidence contradicts itself (alarms), and, where a
    convention counts training alone, those that a classifier did not call training. At the high end
    everything counts: classifiers can be evaded, and inference may have made synthetic data.

    Raises
    ------
    InvalidNounError
        When the account is of another target than the convention starts from.
    """
    convention = reading.convention
    if account.target is not convention.target:
        raise InvalidNounError(
            f"convention {convention.name!r} starts from {convention.target} FLOP, the account counts "
            f"{account.target} FLOP"
        )
    counts_all = convention.name in COUNT_ALL_WORK
    alarmed = {one.session_id for one in account.sessions if alarms(one)}
    other = set() if counts_all else {one.session_id for one in account.sessions if _is_other(one)}
    left_out = alarmed | other
    sure = reading.least(_sum_without(account, left_out))
    seen = reading.most(account.observed)
    unseen_flop = _difference(reading.most(account.total).high_flop, seen.high_flop)
    low = min(sure.low_flop, seen.low_flop)
    point = min(max(reading.of(account.observed).point_flop, low), seen.high_flop)
    return Weighed(
        account,
        reading,
        sure,
        seen,
        unseen_flop,
        Amount(low, point, seen.high_flop + unseen_flop, seen.most_flop + unseen_flop),
        tuple(sorted(left_out)),
        (*_notes(alarmed, other), *_unasked(account, counts_all=counts_all)),
    )


def _each(amount: Amount, convert_flop: Callable[[float], float]) -> Amount:
    ends = (amount.low_flop, amount.point_flop, amount.high_flop, amount.most_flop)
    return Amount(*(inf if end == inf else convert_flop(end) for end in ends))


def _difference(whole: float, part: float) -> float:
    return inf if whole == inf else max(whole - part, 0.0)


def _is_other(session: SessionEvidence) -> bool:
    return session.opinion is not None and session.opinion.answer is not WorkClass.TRAINING


def _sum_without(account: Account, left_out: Collection[str]) -> Amount:
    """Return the sum of the sessions that are left; of a part, errors do not average out."""
    if not left_out:
        return account.observed
    return summed(
        (
            Part(one.session_id, estimate, is_opened(one))
            for one in account.sessions
            if one.session_id not in left_out
            if (estimate := one.estimates.get(account.target, {}).get(account.method)) is not None
        ),
        ALL_SHARED,
    )


def _notes(alarmed: Collection[str], other: Collection[str]) -> tuple[str, ...]:
    why = {
        "their signals contradict each other or lack a part": alarmed,
        "they were not recognised as training": other,
    }
    return tuple(
        f"{sessions_text(len(held))} {'counts' if len(held) == 1 else 'count'} nothing at the low end: "
        f"{reason}"
        for reason, held in why.items()
        if held
    )


def _unasked(account: Account, *, counts_all: bool) -> tuple[str, ...]:
    n_unasked = 0 if counts_all else sum(one.opinion is None for one in account.sessions)
    if not n_unasked:
        return ()
    return (f"nobody said what kind of work {n_unasked} sessions were: all of it is taken for training",)
