"""Verdicts and doubts as plain sentences. An answer never stands without what it leaves open."""

from collections.abc import Sequence
from dataclasses import dataclass

from flopwitness.app.report.scope_content import ScopeContent, WeighedClaim, WeighedThreshold
from flopwitness.app.report.scope_wording import claim_text, flop_text, limit_text, powers, probability_text
from flopwitness.app.report.table import Cell, Table, plain_table, row_of
from flopwitness.app.report.wording import NOT_KNOWN
from flopwitness.core.verdict import Outcome, Standing, Threshold, Verdict

MARKS = {
    Outcome.CONSISTENT: "✓",
    Outcome.INCONSISTENT: "✕",
    Outcome.INCONCLUSIVE: "?",
    Standing.BELOW: "▼",
    Standing.ABOVE: "▲",
    Standing.UNDETERMINED: "?",
}
"""A shape an answer, beside the word: nothing rests on colour."""

OF_CLAIM = {
    Outcome.CONSISTENT: "What was measured does not contradict {it}. That does not prove the claim.",
    Outcome.INCONSISTENT: "What was measured contradicts {it}.",
    Outcome.INCONCLUSIVE: "The evidence cannot tell whether {it} holds.",
}
NO_CHANCE = "No probability can be given: there is no evidence to take it from."


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict as the page says it.

    Attributes
    ----------
    mark, answer : str
        A shape and a word.
    question : str
        What was asked, in a few words.
    sentence : str
        The answer in plain words.
    facts : tuple of tuple of str
        Names and texts: convention, probability, what the rule adds.
    chance : str
        The probability alone.
    reasons, would_settle : tuple of str
        As the verdict gives them, with powers of ten as people write them.
    """

    mark: str
    answer: str
    question: str
    sentence: str
    facts: tuple[tuple[str, str], ...]
    chance: str
    reasons: tuple[str, ...]
    would_settle: tuple[str, ...]


def said_of_claim(content: ScopeContent, weighed: WeighedClaim) -> Said:
    """Return what the evidence says of a claim."""
    claim, verdict = weighed.claim, weighed.verdict
    text = claim_text(claim)
    it = f"the claim of {claim.declarant} that {content.account.scope.name} took {text}"
    answer = Outcome(verdict.answer)
    counted = ("Counted by", _convention(content, verdict.convention or claim.convention))
    most = flop_text(claim.flop * (1 + claim.margin_ratio))
    chance = ("Probability", chance_text(verdict, f"the claim allows, {most}"))
    question = f"Claim of {claim.declarant}: {text}"
    return _said(question, OF_CLAIM[answer].format(it=it), (counted, chance), verdict)


def said_of_threshold(content: ScopeContent, weighed: WeighedThreshold) -> Said:
    """Return where the scope stands against a threshold."""
    threshold, verdict = weighed.threshold, weighed.verdict
    answer = Standing(verdict.answer)
    facts = (
        ("Counted by", _convention(content, verdict.convention or threshold.convention)),
        ("Probability", chance_text(verdict, f"the limit, {limit_text(threshold)}")),
        ("Status of the rule", threshold.status),
        ("Text", text_of_rule(threshold)),
    )
    question = f"{threshold.title}: {limit_text(threshold)}"
    sentence = _standing_sentence(content.account.scope.name, threshold, answer)
    return _said(question, sentence, facts, verdict)


def _said(question: str, sentence: str, facts: tuple[tuple[str, str], ...], verdict: Verdict) -> Said:
    return Said(
        MARKS[verdict.answer],
        verdict.answer.value,
        question,
        sentence,
        facts,
        between_text(verdict),
        tuple(plain(one) for one in verdict.reasons),
        tuple(plain(one) for one in verdict.would_settle),
    )


def plain(sentence: str) -> str:
    """Return a sentence with its powers of ten as people write them, a capital and a full stop.

    Examples
    --------
    >>> plain("nothing was seen")
    'Nothing was seen.'
    """
    shown = powers(sentence[:1].upper() + sentence[1:])
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _standing_sentence(name: str, threshold: Threshold, answer: Standing) -> str:
    limit = f"the limit of {threshold.title} ({limit_text(threshold)})"
    if answer is Standing.UNDETERMINED:
        return f"The evidence cannot tell whether {name} is above {limit}."
    return f"{name} is {answer} {limit}."


def chance_text(verdict: Verdict, figure: str) -> str:
    """Return how probable it is that the scope took more than a figure."""
    if verdict.probability_over is None:
        return NO_CHANCE
    between = between_text(verdict)
    return f"That the scope took more than {figure}: {between}, if workloads err as in calibration."


def between_text(verdict: Verdict) -> str:
    """Return the least and the most of a probability; that it is not known where there is none."""
    if verdict.probability_over is None:
        return NOT_KNOWN
    least, most = (probability_text(end) for end in verdict.probability_over)
    return least if least == most else f"from {least} to {most}"


def text_of_rule(threshold: Threshold) -> str:
    """Return the source of a rule, its date and whether it was read."""
    dated = (
        f"text of {threshold.text_date:%d %B %Y}" if threshold.text_date else "date of the text not recorded"
    )
    read = (
        "the text itself was read" if threshold.is_verified else "NOT verified: the text itself was not read"
    )
    return f"{threshold.citation}; {dated}; {read}."


def _convention(content: ScopeContent, name: str) -> str:
    counted = content.counted_by(name)
    if counted is None:
        return name or "nothing was compared"
    return f"{counted.convention.title} ({name})"


def glance_table(said: Sequence[Said]) -> Table:
    """Return every question with its answer."""
    rows = [row_of(one.question, Cell(f"{one.mark} {one.answer}", "best"), one.chance) for one in said]
    columns = ("Question", "Answer", "Probability that the scope took more")
    return plain_table("Every question that was asked, with its answer.", columns, rows, n_text_columns=3)
