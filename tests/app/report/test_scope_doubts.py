"""Whatever weakens an answer is said at the head of the page; nothing is hidden, nothing is made up."""

from dataclasses import replace

import pytest

from app.report.scope_made import (
    account_of,
    ledger_of,
    opinion_of,
    proof_of,
    scope_content_of,
    session_of,
    watches,
)
from flopwitness.app.report.scope_content import LedgerContent, ScopeContent
from flopwitness.app.report.scope_doubts import doubts
from flopwitness.core.account import Account
from flopwitness.core.workclass import WorkClass


def with_account(content: ScopeContent, **changes: object) -> ScopeContent:
    """Return a content whose account differs."""
    fields = {name: getattr(content.account, name) for name in content.account.__dataclass_fields__}
    return replace(content, account=Account(**(fields | changes)))


@pytest.mark.parametrize(
    "words",
    [
        "Nobody watched 5.50 h of GPU time, 27.5",
        "1 session could not be estimated",
        "were seen outside sessions",
        "Made to be under-counted, the scope can have taken",
        "The class of 1 session is unknown and the class of 2 sessions was not asked",
        "Declared, not measured: evaluation ratio",
        "1 alarm",
        "The text of 1 rule was not verified",
        "in 90.0",
    ],
)
def test_every_doubt_of_a_content_is_said(words: str):
    """One sentence each."""
    assert any(words in sentence.replace("\u00a0", " ") for sentence in doubts(scope_content_of()))


def test_a_device_without_a_ceiling_may_hold_anything():
    """Unknown is not zero."""
    content = with_account(scope_content_of(), unobserved_flop=float("inf"))

    assert any("any amount of FLOP" in sentence for sentence in doubts(content))


def test_hostile_work_without_a_bound_is_said():
    """Not as an infinite figure."""
    content = with_account(scope_content_of(), unobserved_flop=float("inf"))
    endless = replace(content, account=content.account)

    assert not any("inf" in sentence.split() for sentence in doubts(endless))


@pytest.mark.parametrize(
    ("ledgers", "words"),
    [
        ((), "No ledger proof was given"),
        ((ledger_of(proof_of(is_verified=False)),), "1 ledger proof did NOT hold"),
        ((ledger_of(is_key_held=False),), "1 ledger proof held by the ledger's own word alone"),
        ((ledger_of(is_key_held=False, sizes=[4]),), "1 ledger proof held by the ledger's own word alone"),
        ((ledger_of(n_sessions=4),), "2 sessions came from no ledger"),
    ],
)
def test_a_ledger_that_proves_little_is_said(ledgers: tuple, words: str):
    """No proof, a broken one, one that nobody vouches for, and sessions without are four things."""
    assert any(words in sentence for sentence in doubts(replace(scope_content_of(), ledgers=ledgers)))


@pytest.mark.parametrize("ledger", [ledger_of(), ledger_of(is_key_held=False, sizes=[5])])
def test_a_ledger_that_something_vouches_for_is_no_doubt(ledger: LedgerContent):
    """A key or a checkpoint over the entry, from elsewhere."""
    found = doubts(replace(scope_content_of(), ledgers=(ledger,)))

    assert not any("ledger" in sentence for sentence in found)


def test_a_scope_without_doubt_still_says_what_its_bounds_promise():
    """Coverage is always there, and it is the only sentence."""
    opinion = opinion_of(WorkClass.TRAINING)
    sessions = (session_of("s1", (0, 10), opinion=opinion, most_factor=1.1),)
    whole = tuple(replace(watch, stretches=((0, 2**62),), outside_flop=0.0) for watch in watches())
    made = account_of(sessions, whole)
    content = with_account(
        ScopeContent("Clean", made, whole, ledgers=(ledger_of(n_sessions=1),)), declared={}
    )

    (sentence,) = doubts(content)

    assert sentence.startswith("Bounds hold the truth in 90.0")
