"""``nvidia-smi pmon``: which process used how much of which GPU; figures about processes, no samples of GPUs.

Columns are held apart by blanks; the command comes last and may hold blanks itself. A GPU without a process
has dashes throughout. In a container the process ids may be the host's.

Sources: NVIDIA, nvidia-smi documentation, "Process Monitoring";
github.com/Breakend/experiment-impact-tracker/issues/36.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary

HEADER = re.compile(r"^#\s*(?:(?:Date|Time)\s+)*gpu\s+pid\s+type\s", re.IGNORECASE)
SHARES = {"sm": "gpu_util_ratio", "mem": "mem_util_ratio"}
LARGEST_PID = 2**22
"""Linux gives no larger one (``PID_MAX_LIMIT`` in linux/threads.h).

With R535 the struct changed, and tools of another version print garbage
(github.com/XuehaiPan/nvitop/pull/79 and issues/181).
"""

MOST_PROCESSES = 100_000
LONGEST_COMMAND = 200


@dataclass(slots=True)
class _Process:
    """What was said of one process on one GPU."""

    kind: str
    n_samples: int
    sums: dict[str, float]
    counts: dict[str, int]


Key = tuple[int, int, str]


def claims(head: Head) -> bool:
    """Say whether a header of pmon is among the first lines."""
    return any(HEADER.match(line) for line in head.lines[:10])


def summarise(context: Context) -> Summary:
    """Return one row for each process on each GPU, with the mean of its utilisations."""
    found: dict[Key, _Process] = {}
    for cells in _rows(context):
        if int(cells["pid"]) > LARGEST_PID:
            context.notes.count("quarantined", "process ids cannot exist; the processes were left out")
            continue
        key = int(cells["gpu"]), int(cells["pid"]), cells.get("command", cells.get("name", ""))
        if key not in found and len(found) >= MOST_PROCESSES:
            raise context.refused("", expected=f"at most {MOST_PROCESSES:,} processes", got="more")
        process = found.setdefault(key, _Process(cells.get("type", ""), 0, {}, {}))
        process.n_samples += 1
        for column in SHARES:
            if (value := number_of(cells.get(column))) is not None and 0 <= value <= 100:
                process.sums[column] = process.sums.get(column, 0.0) + value / 100.0
                process.counts[column] = process.counts.get(column, 0) + 1
    rows = tuple(_row(key, process) for key, process in found.items())
    return Summary("processes on GPUs", rows, context.notes.findings())


def _row(key: Key, process: _Process) -> Mapping[str, object]:
    index, pid, command = key
    means = {
        name: process.sums[column] / process.counts[column] if column in process.counts else None
        for column, name in SHARES.items()
    }
    return {
        "gpu_index": index,
        "pid": pid,
        "type": process.kind,
        "command": command,
        "n_samples": process.n_samples,
        **means,
    }


def _rows(context: Context) -> Iterator[Mapping[str, str]]:
    """Yield the cells of each row of a process by name; a row of another width is counted."""
    names: tuple[str, ...] = ()
    for block in context.input.blocks():
        lines = block.text.removesuffix("\n").split("\n")
        if block.is_cut and lines:
            context.notes.count("truncated", "line without an end was given up: the file was cut")
            lines.pop()
        for number, line in enumerate(lines, start=block.first_line):
            if HEADER.match(line.strip()):
                names = tuple(line.strip().lstrip("#").lower().split())
            elif line.strip() and names and not line.lstrip().startswith(("#", ">", "nvidia-smi")):
                cells = dict(zip(names, line.split(maxsplit=len(names) - 1), strict=False))
                if len(cells) == len(names) and _is_index(cells["gpu"]) and _is_index(cells["pid"]):
                    yield {**cells, names[-1]: cells[names[-1]].strip()[:LONGEST_COMMAND]}
                elif not (len(cells) > 1 and list(cells.values())[1] == "-"):
                    context.notes.count("bad-row", "rows are no process and were left out", line=number)


def _is_index(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal() and len(cell) <= 10


FORMAT = Format(
    name="nvidia-smi-pmon", title="nvidia-smi pmon process list", claims=claims, summarise=summarise
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
