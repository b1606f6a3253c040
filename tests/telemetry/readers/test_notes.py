"""What reading lost, counted over a file."""

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.notes import Notes


def test_cases_add_up_and_the_first_line_is_kept():
    """However many blocks a file has, one sentence says it."""
    notes = Notes()
    for line in (7, 3):
        notes.count("bad-row", "rows were left out", n=2, line=line)

    (found,) = notes.findings()

    assert found == Finding("bad-row", "4 rows were left out, the first in line 7", Severity.WARNING)


def test_nothing_is_said_of_no_case():
    """Zero cases leave no note."""
    notes = Notes()
    notes.count("bad-row", "rows were left out", n=0)

    assert notes.findings() == ()


def test_a_sentence_is_said_once():
    """The same finding twice is one."""
    notes, one = Notes(), Finding("uuid-inferred", "no UUID", Severity.NOTE)
    notes.say(one)
    notes.say(one)

    assert notes.findings() == (one,)
