"""Slurm's ways to print a record: ``Key=Value`` words, delimited columns, and columns of fixed width."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from flopwitness.telemetry.readers.reading import Context, Head

Record = Mapping[str, str]
"""A job by our names; texts as printed."""

NAMES = {
    "jobid": "job_id",
    "jobidraw": "job_id",
    "arrayjobid": "job_id",
    "alloctres": "tres",
    "tresalloc": "tres",
    "tres": "tres",
    "start": "started",
    "starttime": "started",
    "end": "ended",
    "endtime": "ended",
    "elapsed": "elapsed",
    "runtime": "elapsed",
    "timeused": "elapsed",
    "time": "elapsed",
    "state": "state",
    "jobstate": "state",
    "nodelist": "nodes",
    "admincomment": "comment",
}
"""What columns and keys are called, without ``_``, ``-`` and case."""

WORD = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z0-9_/:-]{0,40})=(\S*)")
RULE = re.compile(r"^-+( +-+)*$")


def names_of(head: Head) -> tuple[str, ...]:
    """Return our names of a table's columns; empty texts for those that are not kept."""
    separator = separator_of(head.first)
    cells = head.first.split(separator) if separator else head.first.split()
    return tuple(NAMES.get(_plain(cell), "") for cell in cells)


def separator_of(line: str) -> str:
    """Return what stands between the columns of a header; empty where they have fixed widths."""
    return next((mark for mark in ("|", ",", "\t") if mark in line), "")


def records_of(context: Context) -> Sequence[Record]:
    """Return the records of a file; a line without an end is given up, a short one costs itself."""
    whole = context.input.whole()
    lines = whole.text.splitlines()
    if whole.is_cut and lines:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        lines = lines[:-1]
    lines = [line for line in lines if line.strip()]
    if not lines:
        return ()
    return _worded(lines) if lines[0].lstrip().startswith("JobId=") else _tabled(context, lines)


def _worded(lines: Sequence[str]) -> Sequence[Record]:
    """Read ``scontrol``: a record begins with ``JobId=``; the first word of a name counts."""
    found: list[dict[str, str]] = []
    for line in lines:
        for key, value in WORD.findall(line):
            if key == "JobId":
                found.append({})
            name = NAMES.get(_plain(key))
            if name and found:
                # AllocTRES is what counts; TRES stands for it in releases before 23.02.
                is_better = _plain(key) == "alloctres"
                found[-1].update({name: value} if is_better or name not in found[-1] else {})
    return found


def _tabled(context: Context, lines: Sequence[str]) -> Sequence[Record]:
    names, separator = names_of(Head(b"", (lines[0].strip(),))), separator_of(lines[0])
    has_rule = len(lines) > 1 and bool(RULE.match(lines[1].strip()))
    spans = _spans(lines[1]) if has_rule and not separator else []
    found: list[dict[str, str]] = []
    for line in lines[2 if has_rule else 1 :]:
        cells = _cells(line, separator, spans)
        if len(cells) < len(names):
            context.notes.count("bad-row", f"rows do not have {len(names)} cells and were left out")
            continue
        record: dict[str, str] = {}
        for name, cell in zip(names, cells, strict=False):
            if name:
                record.setdefault(name, cell.strip().strip('"'))
        found.append(record)
    return found


def _cells(line: str, separator: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    if separator:
        return line.split(separator)
    if spans:
        return [line[start:stop] for start, stop in spans]
    return line.split()


def _spans(rule: str) -> list[tuple[int, int]]:
    """Return where columns of fixed width begin and end, from the line of dashes under their names."""
    starts = [match.start() for match in re.finditer(r"-+", rule)]
    return list(pairwise([*starts, len(rule) + 1]))


def _plain(name: str) -> str:
    return re.sub(r"[_\-\s\"]", "", name).lower()
