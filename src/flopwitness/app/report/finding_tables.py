"""The table of what an auditor should know about the evidence."""

from flopwitness.app.report.content import ReportContent
from flopwitness.app.report.session_tables import session_text
from flopwitness.app.report.table import Cell, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import instant_text, stretch_text
from flopwitness.core.finding import Finding, Severity

GRAVEST_FIRST = tuple(reversed(Severity))
"""Order of the rows."""


def finding_table(content: ReportContent) -> Table:
    """Return all findings, the gravest first, each with what it is about; no row where there is none."""
    rows = [(finding.severity, _row(about, finding)) for about, finding in _all_findings(content)]
    rows.sort(key=lambda pair: GRAVEST_FIRST.index(pair[0]))
    columns = ("Severity", "Code", "About", "When (UTC)", "What")
    caption = "Findings, alarms first. A finding changes no number by itself."
    return plain_table(caption, columns, [row for _, row in rows], n_text_columns=len(columns))


def _all_findings(content: ReportContent) -> list[tuple[str, Finding]]:
    found = [("the report", finding) for finding in content.findings]
    for recording in content.recordings:
        found += [(recording.name, finding) for finding in recording.findings]
        for number, result in enumerate(content.sessions.get(recording.name, ()), start=1):
            about = f"{recording.name}, session {session_text(number, result)}"
            found += [(about, finding) for finding in result.findings]
    return found


def _row(about: str, finding: Finding) -> Row:
    subject = f"{about}: {finding.subject}" if finding.subject else about
    severity = Cell(finding.severity.value, f"severity {finding.severity.value}")
    return row_of(severity, finding.code, subject, _when(finding), finding.message)


def _when(finding: Finding) -> str:
    if finding.start_ns is not None and finding.stop_ns is not None:
        return stretch_text(finding.start_ns, finding.stop_ns)
    ends = [end for end in (finding.start_ns, finding.stop_ns) if end is not None]
    return instant_text(ends[0]) if ends else "throughout"


def severities(content: ReportContent) -> dict[Severity, int]:
    """Count findings by severity, the gravest first; a severity that does not occur is absent."""
    found = [finding.severity for _, finding in _all_findings(content)]
    return {severity: found.count(severity) for severity in GRAVEST_FIRST if severity in found}
