"""What a page rests on: digests as they are, texts of rules with their date, and no strange link."""

import pytest

from app.report.scope_made import scope_content_of
from app.report.test_scope_tables import texts_of
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_sources import evidence_table, made_with_table, sources


@pytest.fixture(scope="module")
def content() -> ScopeContent:
    """Return a content with something in every section."""
    return scope_content_of()


def test_digests_of_files_sessions_and_verdicts_are_listed(content: ScopeContent):
    """Each with what it belongs to."""
    rows = texts_of(evidence_table(content))

    assert ["file", "node-a.parquet", "ef" * 32] in rows
    assert ["session s1", "node-a.parquet", "ab" * 32] in rows
    assert ["verdict: threshold eu-systemic-risk", "", "cd" * 32] in rows


def test_versions_and_the_command_are_listed(content: ScopeContent):
    """So that the page can be made again."""
    names = [row[0] for row in texts_of(made_with_table(content))]

    assert names == ["flopwitness", "calibration", "command"]


def test_only_addresses_of_the_web_are_links(content: ScopeContent):
    """A file of rules may hold anything."""
    european, treaty = sources(content)

    assert (european.url, european.is_link) == ("https://example.org/51", True)
    assert (treaty.url, treaty.is_link) == ("javascript:alert(1)", False)


def test_a_rule_shows_limit_conditions_and_status(content: ScopeContent):
    """What else it asks is not left out."""
    facts = dict(sources(content)[0].facts)

    assert facts["Limit"] == ">\u00a010²⁵\u00a0FLOP"
    assert facts["Conditions"] == "high-impact capability is presumed"
    assert facts["Status"] == "in force"
