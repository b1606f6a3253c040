"""Each answer is a plain sentence with a word and a shape, and says what it leaves open."""

from dataclasses import replace

import pytest

from app.report.scope_made import scope_content_of, threshold_of, verdict_of
from flopwitness.app.report.scope_content import WeighedClaim, WeighedThreshold
from flopwitness.app.report.scope_sentences import (
    MARKS,
    NO_CHANCE,
    between_text,
    chance_text,
    glance_table,
    said_of_claim,
    said_of_threshold,
    text_of_rule,
)
from flopwitness.core.verdict import Claim, Outcome, Standing, Verdict

CLAIM = Claim("ACME", 1e18, "eu-cumulative", 0.3)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Outcome.CONSISTENT, "does not contradict the claim of ACME"),
        (Outcome.INCONSISTENT, "What was measured contradicts the claim of ACME"),
        (Outcome.INCONCLUSIVE, "cannot tell whether the claim of ACME"),
    ],
)
def test_a_claim_gets_a_sentence(answer: Outcome, words: str):
    """It names who claims what, and never says that a claim is proved."""
    said = said_of_claim(scope_content_of(), WeighedClaim(CLAIM, verdict_of(answer)))

    assert words in said.sentence
    assert said.answer == answer.value
    assert ("does not prove" in said.sentence) == (answer is Outcome.CONSISTENT)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Standing.BELOW, "project-x is below the limit of EU AI Act"),
        (Standing.ABOVE, "project-x is above the limit of EU AI Act"),
        (Standing.UNDETERMINED, "cannot tell whether project-x is above the limit of EU AI Act"),
    ],
)
def test_a_threshold_gets_a_sentence(answer: Standing, words: str):
    """It names the scope and the limit."""
    said = said_of_threshold(scope_content_of(), WeighedThreshold(threshold_of(), verdict_of(answer)))

    assert words in said.sentence
    assert dict(said.facts)["Counted by"] == "EU, cumulative compute (eu-cumulative)"


def test_answers_to_one_question_differ_without_colour():
    """By shape; both kinds of ignorance look the same."""
    assert len({MARKS[one] for one in Outcome}) == len(Outcome)
    assert len({MARKS[one] for one in Standing}) == len(Standing)


def test_a_claim_is_weighed_with_its_margin():
    """The probability is that of more than the margin allows."""
    said = said_of_claim(scope_content_of(), WeighedClaim(CLAIM, verdict_of(Outcome.INCONCLUSIVE)))

    assert (
        "more than the claim allows, 1.3\u00a0×\u00a010¹⁸\u00a0FLOP: from 20"
        in dict(said.facts)["Probability"]
    )


def test_no_evidence_has_no_probability():
    """It is said, not shown as a half."""
    verdict = Verdict(Outcome.INCONCLUSIVE, ("there is no session",))

    assert chance_text(verdict, "the limit") == NO_CHANCE
    assert between_text(verdict) == "not known"


def test_a_rule_that_nobody_read_says_so():
    """With the date of the text, or that it is not recorded."""
    read, unread = text_of_rule(threshold_of()), text_of_rule(threshold_of(is_verified=False))

    assert "text of 13 June 2024; the text itself was read" in read
    assert "date of the text not recorded; NOT verified" in unread


def test_a_convention_that_nobody_converted_keeps_its_name():
    """The page does not guess a title."""
    content = replace(scope_content_of(), counted=())

    said = said_of_threshold(content, WeighedThreshold(threshold_of(), verdict_of(Standing.BELOW)))

    assert dict(said.facts)["Counted by"] == "eu-cumulative"


def test_every_question_is_in_the_table_at_the_head():
    """With shape, word and probability."""
    content = scope_content_of()
    said = [said_of_claim(content, one) for one in content.claims]

    (row,) = glance_table(said).groups[0].rows

    assert [cell.text for cell in row.cells][1:] == [
        "✕ inconsistent",
        "from 96\u00a0% to more than 99.9\u00a0%",
    ]
