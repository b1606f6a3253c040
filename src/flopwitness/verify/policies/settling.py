"""What keeps an answer open, widest first, and what evidence would close it."""

from collections.abc import Iterable
from typing import NamedTuple

from flopwitness.verify.policies.doubts import Doubt
from flopwitness.verify.policies.weighing import Weighed
from flopwitness.verify.policies.wording import flop_text, share_text

SHOWN = 3
SHOWN_RATIO = 0.05
"""What would settle a question is named for so many of the widest causes, and no small ones: the rest decides
little."""


class Cause(NamedTuple):
    """One reason for the width of a range: how many FLOP wide, why, and what would close it."""

    flop: float
    sentence: str
    remedy: str


def causes(weighed: Weighed, *, is_hostile: bool = False) -> tuple[Cause, ...]:
    """Return what widens the range of an account, widest first; ``is_hostile`` adds the bound for cheats."""
    found = [
        _unobserved(weighed),
        _outside(weighed),
        _convention(weighed),
        _errors(weighed),
        _left_out(weighed),
    ]
    if is_hostile:
        found.append(_hostile(weighed))
    return tuple(sorted((one for one in found if one.flop > 0), key=lambda one: -one.flop))


def widest(found: tuple[Cause, ...]) -> tuple[str, ...]:
    """Return a sentence that names the cause that widens the range most; none where nothing does."""
    return (f"What widens the range most: {found[0].sentence}",) if found else ()


def remedies(found: tuple[Cause, ...], held: Iterable[Doubt] = ()) -> tuple[str, ...]:
    """Return what would settle the question: what takes doubts away, then the widest causes."""
    wide = [one.remedy for one in found[:SHOWN] if one.flop >= SHOWN_RATIO * found[0].flop]
    return tuple(dict.fromkeys([*(one.remedy for one in held), *wide]))


def _unobserved(weighed: Weighed) -> Cause:
    account = weighed.account
    seconds = account.unobserved_device_seconds
    time = f"{seconds / 3600:.4g} device-hours" if seconds >= 3600 else f"{seconds:.4g} device-seconds"
    of_sessions = f", {len(account.not_estimated)} sessions without an estimate in it" * bool(
        account.not_estimated
    )
    return Cause(
        account.unobserved_flop,
        f"{time} that nobody observed{of_sessions}: up to "
        f"{flop_text(account.unobserved_flop)} FLOP at the chips' ceiling",
        f"samples of the {time} of the scope that nobody observed, from another source",
    )


def _outside(weighed: Weighed) -> Cause:
    flop = weighed.account.outside_flop
    return Cause(
        flop,
        f"activity outside of sessions, up to {flop_text(flop)} FLOP",
        "what ran in the time between the sessions",
    )


def _convention(weighed: Weighed) -> Cause:
    observed, seen = weighed.account.observed, weighed.seen
    step = weighed.reading.converted(observed).widest_step
    if step is None or seen.point_flop <= 0:
        return Cause(0.0, "", "")
    width = seen.point_flop - weighed.reading.least(observed).point_flop
    names = step.conversion.declarations
    asked = f"; what is declared as {' or '.join(names)}, with evidence for it" if names else ""
    return Cause(
        width,
        f"the conventions, by {flop_text(width)} FLOP, of which most: {step.sentence}",
        f"the settings of the program that decide on {step.conversion.name}{asked}",
    )


def _errors(weighed: Weighed) -> Cause:
    observed, coverage = weighed.account.observed, weighed.account.coverage_ratio
    width = observed.high_flop - observed.low_flop
    return Cause(
        width,
        f"the errors of the estimate: {flop_text(observed.low_flop)} to {flop_text(observed.high_flop)} "
        f"FLOP, {share_text(coverage)} bounds",
        "a calibration with workloads like these, or signals that narrow the estimate (profiling counters)",
    )


def _left_out(weighed: Weighed) -> Cause:
    if not weighed.left_out:
        return Cause(0.0, "", "")
    flop = weighed.reading.least(weighed.account.observed).low_flop - weighed.sure.low_flop
    n_left_out = len(weighed.left_out)
    return Cause(
        flop,
        f"{n_left_out} sessions of which nobody can say whether they count: {flop_text(flop)} FLOP",
        f"what ran in {n_left_out} sessions (such as {weighed.left_out[0]}): logs or code of the work, or "
        "samples that do not contradict each other",
    )


def _hostile(weighed: Weighed) -> Cause:
    seen = weighed.seen
    width = seen.most_flop - seen.high_flop if seen.high_flop < float("inf") else 0.0
    return Cause(
        width,
        f"workloads that may have been made to be under-counted: up to {flop_text(seen.most_flop)} FLOP",
        "evidence that workloads were not made to be under-counted: their code, or a second kind of sensor",
    )
