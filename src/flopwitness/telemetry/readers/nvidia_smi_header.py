"""The columns of a ``nvidia-smi --query-gpu`` log: from its header, or from its cells where it has none."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.nvidia_smi_fields import (
    FIELDS,
    SET_ASIDE,
    field_of,
    name_of,
)
from flopwitness.telemetry.readers.reading import Context, Head

STAMP = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(\.\d+)?$")
"""How nvidia-smi writes a time; no other logger is known to."""

BY_CELL = (
    (STAMP, "timestamp"),
    (re.compile(r"^GPU-[0-9a-f-]+$", re.IGNORECASE), "uuid"),
    (re.compile(r"^[0-9a-f]{8}:[0-9a-f]{2}:[0-9a-f]{2}\.\d$", re.IGNORECASE), "pci.bus_id"),
    (re.compile(r"^0x[0-9a-f]{16}$", re.IGNORECASE), "clocks_event_reasons.active"),
    (re.compile(r"^[\d.]+ W$"), "power.draw"),
    (re.compile(r"^\d+ %$"), "utilization.gpu"),
    (re.compile(r"^\d+ MiB$"), "memory.used"),
    (re.compile(r"^(NVIDIA|Tesla|GeForce|Quadro) \S"), "name"),
)
"""What a cell can only be. Clocks are left out: SM and memory clock look alike."""

PRINTED_UNITS = {"power.draw": "W", "utilization.gpu": "%", "memory.used": "MiB"}


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a log are.

    Attributes
    ----------
    names : tuple of str
        In the order of the file; empty for a column that is set aside.
    fields : mapping of str to Field
        Those that are channels.
    header_lines : int
        Lines before the first row.
    """

    names: tuple[str, ...]
    fields: Mapping[str, Field]
    header_lines: int


def is_header(line: str) -> bool:
    """Say whether a line is a header of fields that nvidia-smi knows."""
    cells = [name_of(cell) for cell in line.split(",")]
    names = [cell[0] for cell in cells if cell]
    return len(names) == len(cells) and any(name in FIELDS for name in names)


def is_row(line: str) -> bool:
    """Say whether a line is a row of a log without a header."""
    first, comma, rest = line.partition(",")
    return bool(comma and rest.strip() and STAMP.match(first.strip()))


def columns_of(context: Context) -> Columns:
    """Return the columns of a log.

    Raises
    ------
    BadInputError
        When there is no header and the cells do not tell, or no column is a time or a signal.
    """
    head = Head.of(context.input.head())
    if is_header(head.first):
        return _headed(context, head.first, header_lines=_lines_before_rows(head))
    return _headless(context, head)


def _lines_before_rows(head: Head) -> int:
    lines = head.data.split(b"\n")
    return next(number for number, line in enumerate(lines, start=1) if line.strip())


def _headed(context: Context, line: str, *, header_lines: int) -> Columns:
    cells = [found for cell in line.split(",") if (found := name_of(cell))]
    names: list[str] = []
    fields: dict[str, Field] = {}
    seen: set[str] = set()
    for name, unit in cells:
        if name in seen:
            _note(context, "repeated-column", f"column {name!r} is there twice; the first was taken", name)
            names.append("")
            continue
        names.append(name)
        seen.add(name)
        if name not in FIELDS:
            if not SET_ASIDE.match(name):
                _note(context, "unknown-column", f"column {shown(name)} is not known and was set aside", name)
        elif (field := field_of(name, unit)) is not None:
            fields[name] = field
        else:
            message = f"column {name!r} is in {shown(unit)}, a unit that is not known; it was set aside"
            context.notes.say(Finding("unknown-unit", message, subject=FIELDS[name].channel))
    if "timestamp" not in names:
        expected = "a column 'timestamp': add it to --query-gpu"
        raise context.refused("line 1", expected=expected, got=shown(line))
    return Columns(tuple(names), fields, header_lines)


def _headless(context: Context, head: Head) -> Columns:
    """Tell columns by cells that can be one thing only, in rows that agree."""
    rows = [[_by_cell(cell) for cell in line.split(",")] for line in head.lines[:20]]
    width = len(rows[0])
    guesses = [_agreed([row[place] for row in rows if len(row) == width]) for place in range(width)]
    n_of = Counter(guesses)
    names = tuple(name if n_of[name] == 1 else "" for name in guesses)
    fields = {
        name: found
        for name in names
        if name in FIELDS and (found := field_of(name, PRINTED_UNITS.get(name, "")))
    }
    if "timestamp" not in names or not fields:
        expected = "a header line, or cells whose units tell columns apart: drop noheader or nounits"
        raise context.refused("line 1", expected=expected, got=shown(head.first))
    told = ", ".join(f"{place + 1} is {name!r}" for place, name in enumerate(names) if name)
    message = f"the log has no header; columns were told by their cells: {told}; the others were set aside"
    context.notes.say(Finding("header-inferred", message))
    return Columns(names, fields, 0)


def _by_cell(cell: str) -> str:
    text = cell.strip()
    return next((name for pattern, name in BY_CELL if pattern.match(text)), "")


def _agreed(guesses: Sequence[str]) -> str:
    """Return what the cells of a column are; blanks among them do not count."""
    named = {guess for guess in guesses if guess}
    return named.pop() if len(named) == 1 else ""


def _note(context: Context, code: str, message: str, name: str) -> None:
    context.notes.say(Finding(code, message, Severity.NOTE, subject=name))
