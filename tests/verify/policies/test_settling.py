"""The widest cause is named first, and what is small is not named."""

from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.policies.settling import causes, remedies, widest
from flopwitness.verify.policies.weighing import Reading, weighed
from verify.made_accounts import ALARM, estimate, made_account, session, watch

EXECUTED = Reading(CONVENTIONS["executed"], {})


def test_causes_come_widest_first() -> None:
    """Five hundred unseen seconds outweigh ten percent of an estimate."""
    account = made_account([session()], [watch("GPU-a", (0, 500), outside=1.0), watch("GPU-b")])

    found = causes(weighed(account, EXECUTED), is_hostile=True)

    assert [one.flop for one in found] == sorted((one.flop for one in found), reverse=True)
    assert "nobody observed" in found[0].sentence
    assert len(remedies(found)) == 1


def test_sessions_that_may_not_count_are_a_cause() -> None:
    """Logs of what ran would settle whether they do."""
    account = made_account([session(findings=[ALARM])])

    found = causes(weighed(account, EXECUTED))

    assert "whether they count" in found[0].sentence


def test_what_is_exact_has_no_cause_to_be_open() -> None:
    """Nothing widens a range that is none."""
    account = made_account([session(told=estimate(100.0, 1.0, 1.0))])

    assert causes(weighed(account, EXECUTED)) == widest(()) == remedies(()) == ()
