"""Where words go: data to standard output, talk and progress to standard error."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from flopwitness.core.finding import Finding, Severity

Item = TypeVar("Item")

STYLES = {Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.ALARM: "bold red"}
FAULTY_INPUT = 2
"""Exit status where an input could be used only in part."""

WIDTH_WITHOUT_TERMINAL = 160
"""Columns of a table that goes to a file or a pipe, where no terminal says how wide it is."""


def talk() -> Console:
    """Return the console for people: standard error."""
    return Console(stderr=True, highlight=False)


def data() -> Console:
    """Return the console for data: standard output."""
    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(highlight=False, width=width)


def print_json(content: object) -> None:
    """Print one JSON value on one line; NaN and infinities are refused."""
    sys.stdout.write(json.dumps(content, allow_nan=False) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the first column holds names, the others figures."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    data().print(table)


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings, one a line, the gravest marked."""
    console = data()
    for finding in findings:
        console.print(
            f"{finding.severity.value}: {finding.message}", style=STYLES[finding.severity], markup=False
        )


def print_faults(faults: Sequence[Exception]) -> int:
    """Say what was wrong with an input that was used all the same; return the exit status."""
    for fault in faults:
        sys.stderr.write(f"flopwitness: {fault}\n")
    return FAULTY_INPUT if faults else 0


def finding_object(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON values."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "message": finding.message,
        "start": None if finding.start_ns is None else utc(finding.start_ns),
        "end": None if finding.stop_ns is None else utc(finding.stop_ns),
    }


def utc(time_ns: int) -> str:
    """Return an instant as ISO 8601, UTC, to the microsecond.

    Examples
    --------
    >>> utc(1_770_091_506_100_000_000)
    '2026-02-03T04:05:06.100000Z'
    """
    whole, rest = divmod(time_ns, 10**9)
    instant = datetime.fromtimestamp(whole, tz=UTC).replace(microsecond=rest // 1000)
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


def percent(ratio: object) -> str:
    """Return a ratio in percent with one decimal, or a dash where there is none.

    Examples
    --------
    >>> percent(0.0123), percent(None)
    ('1.2 %', '-')
    """
    return f"{100 * ratio:.1f} %" if isinstance(ratio, int | float) else "-"


def percent_fine(ratio: object) -> str:
    """Return a ratio in percent with two decimals, or a dash where there is none."""
    return f"{100 * ratio:.2f} %" if isinstance(ratio, int | float) else "-"


def watching(label: str) -> Callable[[Iterable[Item], int], Iterable[Item]]:
    """Return what passes items on while a bar on standard error, with this label, shows how many are done."""
    return partial(_watched, label=label)


@contextmanager
def counting(label: str) -> Iterator[Callable[[int], None]]:
    """Show on standard error how many of something were seen, where nobody knows how many there are."""
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} {task.description}"), TimeElapsedColumn())
    console = talk()
    if not console.is_terminal:  # a bar that is only switched off leaves an empty line there
        yield lambda _: None
        return
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda n: progress.advance(task, n)


def _watched(items: Iterable[Item], total: int, *, label: str) -> Iterable[Item]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=talk(), transient=True) as progress:
        yield from progress.track(items, total=total, description=label)
