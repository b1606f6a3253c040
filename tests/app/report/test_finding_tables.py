"""All findings in one table, the gravest first, each with what it speaks of."""

from app.report.made import START_NS, recording_of, result_of
from flopwitness.app.report.content import ReportContent
from flopwitness.app.report.finding_tables import finding_table, severities
from flopwitness.core.finding import Finding, Severity

NOTE = Finding("uuid-inferred", "no UUID", Severity.NOTE)
WARNING = Finding("missing-values", "18 are missing", Severity.WARNING, "dram_active_ratio")
ALARM = Finding("stalled", "busy without work", Severity.ALARM, "GPU-a", START_NS, START_NS + 10**9)


def content() -> ReportContent:
    """Return a content with a finding at every level."""
    recording = recording_of("node-a", findings=(WARNING,))
    return ReportContent(
        "x",
        recordings=(recording,),
        sessions={"node-a": (result_of(recording, findings=(ALARM,)),)},
        findings=(NOTE,),
    )


def test_findings_of_report_recording_and_session_stand_together():
    """Alarms first; where, when and what."""
    rows = [[cell.text for cell in row.cells] for row in finding_table(content()).groups[0].rows]

    when = "2026-11-30 00:37:12.000 to 00:37:13.000"
    assert rows == [
        ["alarm", "stalled", "node-a, session 1 first: GPU-a", when, "busy without work"],
        ["warning", "missing-values", "node-a: dram_active_ratio", "throughout", "18 are missing"],
        ["note", "uuid-inferred", "the report", "throughout", "no UUID"],
    ]


def test_severities_are_counted():
    """The gravest first; one that does not occur is absent."""
    assert list(severities(content()).items()) == [
        (Severity.ALARM, 1),
        (Severity.WARNING, 1),
        (Severity.NOTE, 1),
    ]
    assert severities(ReportContent("x")) == {}


def test_a_finding_with_one_end_names_it():
    """A stretch that is still open has a start alone."""
    open_end = Finding("gap", "nobody looked", start_ns=START_NS)

    (row,) = finding_table(ReportContent("x", findings=(open_end,))).groups[0].rows

    assert row.cells[3].text == "2026-11-30 00:37:12.000"
