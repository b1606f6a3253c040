"""Figures about stretches that a file without samples holds: job records, energy windows, process lists."""

from flopwitness.app.cli.output import finding_object, print_findings, print_table, utc
from flopwitness.telemetry.readers.reading import Summary


def summary_object(found: Summary) -> dict[str, object]:
    """Return a summary as JSON values; instants as ISO 8601 beside their nanoseconds."""
    return {
        "title": found.title,
        "rows": [_row_object(dict(row)) for row in found.rows],
        "findings": [finding_object(finding) for finding in found.findings],
    }


def print_summary(found: Summary) -> None:
    """Print a summary as a table and its findings."""
    names = list(dict.fromkeys(name for row in found.rows for name in row))
    rows = [[_cell(name, row.get(name)) for name in names] for row in found.rows]
    print_table(found.title, [name.removesuffix("_ns") for name in names], rows)
    print_findings(found.findings)


def _row_object(row: dict[str, object]) -> dict[str, object]:
    instants = {
        name.removesuffix("_ns"): utc(value)
        for name, value in row.items()
        if name.endswith("_ns") and isinstance(value, int)
    }
    return row | instants


def _cell(name: str, value: object) -> str:
    if value is None:
        return "-"
    if name.endswith("_ns") and isinstance(value, int):
        return utc(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
