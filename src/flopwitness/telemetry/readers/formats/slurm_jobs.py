"""Slurm's records of jobs: ``sacct``, ``squeue --Format`` and ``scontrol show job``.

GPUs are counted from what was allocated (``AllocTRES``, ``tres-alloc``), never from what was asked for: a
request such as ``--gpus-per-node`` names no total. Times are local and without zone, unless they are epoch
seconds. Where the AdminComment holds jobstats figures they come along. Steps are parts of their job and are
left out; users, accounts and commands are not kept.

Sources: SchedMD, manuals of sacct, squeue and scontrol; SckyzO/slurm_exporter, issue 35.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.telemetry.readers.clocks import NO_INSTANT, iso_instants, seconds_to_ns
from flopwitness.telemetry.readers.formats.jobstats import PREFIX, rows_of_comment
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary
from flopwitness.telemetry.readers.slurm_text import Record, names_of, records_of
from flopwitness.telemetry.scheduling.names import gpus_allocated

EPOCH = re.compile(r"^\d{9,10}$")
ELAPSED = re.compile(r"^(?:(?:(\d{1,6})-)?(\d{1,4}):)?(\d{1,4}):(\d\d)(?:\.\d{1,6})?$")
STEP = re.compile(r"^[^.]{1,60}\.\w{1,60}$")
NOTHING = frozenset({"", "unknown", "n/a", "none", "(null)", "invalid"})


def claims(head: Head) -> bool:
    """Say whether a head is a table of jobs or scontrol's words of one."""
    if head.first.startswith("JobId="):
        return any("=" in line and ("TRES=" in line or "StartTime=" in line) for line in head.lines)
    names = set(names_of(head))
    return "job_id" in names and bool(names & {"tres", "started", "ended"})


def summarise(context: Context) -> Summary:
    """Return a row a job; then, where its comment holds them, a row a GPU."""
    records = [record for record in records_of(context) if _is_job(context, record)]
    started, ended = (
        _instants(context, [each.get(key, "") for each in records]) for key in ("started", "ended")
    )
    rows: list[dict[str, object]] = []
    for place, record in enumerate(records):
        rows.append(_row(context, record, started_ns=int(started[place]), ended_ns=int(ended[place])))
        rows += _figures(context, record)
    return Summary("jobs, by Slurm", tuple(rows), context.notes.findings())


def _is_job(context: Context, record: Record) -> bool:
    job_id = record.get("job_id", "")
    if STEP.match(job_id):
        context.notes.count("job-steps", "steps are parts of their jobs and were left out")
        return False
    if job_id.lower() in NOTHING:
        context.notes.count("bad-row", "records name no job and were left out")
        return False
    return True


def _row(context: Context, record: Record, *, started_ns: int, ended_ns: int) -> dict[str, object]:
    tres = record.get("tres", "")
    if tres.lower() in NOTHING:
        context.notes.count("missing-values", "jobs do not tell what was allocated")
    return {
        "job_id": record["job_id"],
        "state": record.get("state") or None,
        "n_gpus": None if tres.lower() in NOTHING else gpus_allocated(tres),
        "nodes": None if record.get("nodes", "").lower() in NOTHING else record["nodes"],
        "started_ns": None if started_ns == NO_INSTANT else started_ns,
        "ended_ns": None if ended_ns == NO_INSTANT else ended_ns,
        "duration_seconds": elapsed_seconds(record.get("elapsed", "")),
    }


def _figures(context: Context, record: Record) -> list[dict[str, object]]:
    comment = record.get("comment", "")
    if not comment.startswith(PREFIX):
        return []
    try:
        return [{"job_id": record["job_id"], **row} for row in rows_of_comment(context, comment)]
    except BadInputError as error:
        context.notes.say(Finding("bad-cell", f"the AdminComment of a job was set aside: {error.got}"))
        return []


def elapsed_seconds(text: str) -> float | None:
    """Return Slurm's ``[days-]hours:minutes:seconds`` in seconds; None where it is none.

    Examples
    --------
    >>> elapsed_seconds("1-02:00:05"), elapsed_seconds("03:10"), elapsed_seconds("INVALID")
    (93605.0, 190.0, None)
    """
    match = ELAPSED.match(text.strip())
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds


def _instants(context: Context, cells: Sequence[str]) -> NDArray[np.int64]:
    """Return instants; ``NO_INSTANT`` where a job has not come so far."""
    is_epoch = np.array([bool(EPOCH.match(cell)) for cell in cells], dtype=np.bool_)
    seconds = np.array([float(cell) if EPOCH.match(cell) else np.nan for cell in cells], dtype=np.float64)
    written = ["" if epoch else cell for cell, epoch in zip(cells, is_epoch.tolist(), strict=True)]
    stamps, lacks_zone = iso_instants(pa.array(written, pa.string()), context.asked.zone)
    if lacks_zone:
        expected = "a time zone, which Slurm does not print: give --tz"
        raise context.refused("the times of jobs", expected=expected, got="none")
    return np.where(is_epoch, seconds_to_ns(seconds), stamps)


FORMAT = Format(name="slurm-jobs", title="Slurm job records", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
