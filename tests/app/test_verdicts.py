"""What is asked of a scope, and the gravest answer as an exit status."""

from dataclasses import replace

import pytest

from flopwitness.app.accounting import Evidence
from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.scope_report import scope_content
from flopwitness.app.verdicts import Answer, Question, answered
from flopwitness.core.verdict import Claim, Outcome, Standing
from flopwitness.core.workload import Target
from verify.made_accounts import SCOPE, WATCHED, session

RULES = open_rulebook().thresholds


def evidence() -> Evidence:
    """Return ten sessions of 100 FLOP each."""
    return Evidence(
        SCOPE, tuple(session(20 * k, 20 * k + 10) for k in range(10)), WATCHED, {"made": "0" * 64}
    )


def asked(claimed: float | None = None, *rules: str, limit: float = 0.0) -> Answer:
    """Ask about executed FLOP and rules, their limits replaced where one is given."""
    thresholds = tuple(replace(RULES[name], flop=limit or RULES[name].flop) for name in rules)
    claim = None if claimed is None else Claim("Example", claimed, "executed")
    return answered(evidence(), Question(claim=claim, thresholds=thresholds))


@pytest.mark.parametrize(
    ("claimed", "limit", "expected"),
    [
        (1000.0, 1e25, 0),
        (1000.0, 1100.0, 3),
        (1000.0, 10.0, 1),
        (500.0, 1e25, 1),
        (945.0, 1e25, 3),
        (945.0, 10.0, 1),
    ],
)
def test_the_gravest_answer_is_the_status(claimed: float, limit: float, expected: int) -> None:
    """Inconsistent or above first, then what is open."""
    assert asked(claimed, "eu-systemic-risk", limit=limit).status == expected


def test_without_a_question_there_is_an_account_and_no_verdict() -> None:
    """Executed FLOP, every kind of evidence, status 0."""
    answer = asked()

    assert (answer.claim, answer.thresholds, answer.status) == (None, (), 0)
    assert answer.first.target is Target.EXECUTED
    assert len(answer.layers) == 5


def test_each_rule_is_weighed_by_its_own_convention() -> None:
    """One account a target, one counting a convention."""
    answer = asked(1000.0, "eu-systemic-risk", "california-sb53")

    assert [one.convention.name for one in answer.countings] == ["executed", "eu-cumulative", "us-operations"]
    assert [verdict.answer for _, verdict in answer.thresholds] == [Standing.BELOW, Standing.BELOW]
    assert answer.claim.answer is Outcome.CONSISTENT


def test_conventions_of_different_targets_have_accounts_of_their_own() -> None:
    """Executed and algorithmic FLOP are estimated apart."""
    claim = Claim("Example", 1000.0, "algorithmic")

    answer = answered(evidence(), Question(claim=claim, thresholds=(RULES["eu-systemic-risk"],)))

    assert list(answer.accounts) == [Target.ALGORITHMIC, Target.EXECUTED]
    assert answer.claim.answer is Outcome.INCONCLUSIVE  # nobody estimated algorithmic FLOP


def test_the_report_shows_what_was_weighed() -> None:
    """The same account, verdicts and layers, in the same order."""
    claim = Claim("Example", 1000.0, "executed")
    answer = asked(1000.0, "eu-systemic-risk")

    content = scope_content(evidence(), answer, claim)

    assert content.account == answer.first
    assert content.claims[0].verdict == answer.claim
    assert [one.convention.name for one in content.counted] == ["executed", "eu-cumulative"]
    assert content.layers == answer.layers
