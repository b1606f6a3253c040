"""What a page on a scope rests on: files with digests, versions and commands, and the texts of the rules."""

from dataclasses import dataclass

from flopwitness.app.report.scope_content import ScopeContent, WeighedThreshold
from flopwitness.app.report.scope_sentences import text_of_rule
from flopwitness.app.report.scope_wording import limit_text, powers
from flopwitness.app.report.table import Cell, Table, plain_table, row_of
from flopwitness.app.report.wording import NOT_KNOWN

LINKED = ("https://", "http://")
"""Only such addresses become links; anything else that a file of rules holds is text."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text behind a threshold.

    Attributes
    ----------
    title, text : str
        The rule, and its citation with date and whether it was read.
    url : str
        Where it stands; empty where not recorded.
    is_link : bool
        Whether the address may be followed.
    facts : tuple of tuple of str
        The limit, what it measures, its conditions, its status.
    """

    title: str
    text: str
    url: str
    is_link: bool
    facts: tuple[tuple[str, str], ...]


def sources(content: ScopeContent) -> tuple[Source, ...]:
    """Return the text behind each threshold, in the order of the verdicts."""
    return tuple(_source(one) for one in content.thresholds)


def _source(weighed: WeighedThreshold) -> Source:
    rule = weighed.threshold
    facts = (
        ("Jurisdiction", rule.jurisdiction or NOT_KNOWN),
        ("Limit", limit_text(rule)),
        ("Measures", rule.measured or NOT_KNOWN),
        ("Conditions", powers("; ".join(rule.conditions)) or "none recorded"),
        ("Status", rule.status or NOT_KNOWN),
        ("Counted by", rule.convention),
    )
    title = f"{rule.title or rule.name} ({rule.name})"
    return Source(title, text_of_rule(rule), rule.url, rule.url.startswith(LINKED), facts)


def evidence_table(content: ScopeContent) -> Table:
    """Return the digests of files, of the sessions' evidence, and of what verdicts weighed."""
    rows = [("file", name, digest) for name, digest in content.evidence.items()]
    rows += [
        (f"session {session.session_id}", session.source or NOT_KNOWN, session.digest)
        for session in content.account.sessions
        if session.digest
    ]
    asked = [("claim", one.verdict) for one in content.claims]
    asked += [(f"threshold {one.threshold.name}", one.verdict) for one in content.thresholds]
    rows += [
        (f"verdict: {what}", "", digest) for what, verdict in asked for digest in verdict.evidence_digests
    ]
    columns = ("What", "From", "SHA-256")
    cells = [row_of(what, source, Cell(digest, "digest")) for what, source, digest in rows]
    return plain_table("Digests of the evidence.", columns, cells, n_text_columns=len(columns))


def made_with_table(content: ScopeContent) -> Table:
    """Return versions, calibration and command."""
    rows = [row_of(name, Cell(text, "digest")) for name, text in content.made_with.items()]
    return plain_table("What made this page.", ("Name", "Value"), rows, n_text_columns=2)
