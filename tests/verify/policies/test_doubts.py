"""Doubts count from a share on; alarms always."""

from dataclasses import replace

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.policies.doubts import DoubtRule, alarms, doubts, flop_ratio
from verify.made_accounts import ALARM, estimate, made_account, session, watch

OPEN = Finding("format-not-identified", "open")


def test_a_stall_is_no_doubt() -> None:
    """It says that nothing was computed, however long it lasted."""
    stalled = Finding("stalled", "waits", Severity.ALARM)

    assert alarms(session(findings=[stalled, ALARM])) == ("energy-power",)
    assert doubts(made_account([session(findings=[stalled])])) == ()


@pytest.mark.parametrize(("point", "expected"), [(4.0, 0), (10.0, 1)])
def test_open_formats_count_from_a_share_of_the_flop_on(point: float, expected: int) -> None:
    """A small part of a scope does not decide about it."""
    held = [session(10, 20, told=estimate(point), findings=[OPEN]), session(30, 40)]

    assert len(doubts(made_account(held))) == expected


def test_an_unknown_kind_of_work_is_a_doubt() -> None:
    """It is unlike all that the estimates were calibrated on."""
    (found,) = doubts(made_account([session(kind=WorkClass.UNKNOWN)]))

    assert found.sentence.startswith("100 % of the estimated FLOP")


@pytest.mark.parametrize(("stop", "expected"), [(999, 0), (500, 1)])
def test_unobserved_time_counts_from_a_share_of_the_scope_on(stop: int, expected: int) -> None:
    """A second of a thousand is none, half is."""
    account = made_account([session()], [watch("GPU-a", (0, stop)), watch("GPU-b")])

    assert len(doubts(account)) == expected


def test_shares_of_nothing_are_nothing() -> None:
    """Without an estimate no session holds a share."""
    assert flop_ratio(made_account([replace(session(), estimates={})]), {session().session_id}) == 0


@pytest.mark.parametrize("ratios", [(-0.1, 0.0), (0.0, 1.1)])
def test_shares_that_are_none_are_refused(ratios: tuple[float, float]) -> None:
    """A rule that never or always doubts by mistake is none."""
    with pytest.raises(InvalidNounError):
        DoubtRule(*ratios)
