"""Slurm's records: GPUs are counted from what was allocated."""

import base64
import gzip
from datetime import UTC, timedelta, timezone

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.slurm_jobs import FORMAT

IN_UTC = Asked(zone=UTC)
SACCT = b"""JobID|AllocTRES|Start|End|Elapsed|State|NodeList|ReqTRES
17|billing=8,cpu=8,gres/gpu=4,node=1|2026-02-03T04:05:06|2026-02-03T05:05:06|01:00:00|COMPLETED|n1|gres/gpu=1
17.batch|cpu=8,gres/gpu=4,node=1|2026-02-03T04:05:06|2026-02-03T05:05:06|01:00:00|COMPLETED|n1|
18||Unknown|Unknown|00:00:00|PENDING|None assigned|gres/gpu=8
"""
FIXED = (
    b"JobID                AllocTRES               Start\n"
    b"------------ ---------------- -------------------\n"
    b"17           cpu=8,gres/gpu=4 2026-02-03T04:05:06\n"
    b"18                      cpu=8 2026-02-03T04:05:06\n"
)
SCONTROL = b"""JobId=17 JobName=train me
   UserId=alice(1000) GroupId=alice(1000) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=1-00:00:10 TimeLimit=2-00:00:00 TimeMin=N/A
   StartTime=2026-02-03T04:05:06 EndTime=2026-02-05T04:05:06 Deadline=N/A
   NodeList=n[1-2]
   ReqTRES=cpu=8,mem=1G,node=2,billing=8,gres/gpu=1
   AllocTRES=cpu=16,mem=2G,node=2,billing=16,gres/gpu=8,gres/gpu:h200=8
   Command=/scratch/alice/train.sh
"""


class TestSacct(FormatContract):
    """``sacct --parsable2``."""

    form = FORMAT
    sample = SACCT
    asked = IN_UTC
    needs_zone = True


class TestScontrol(FormatContract):
    """``scontrol show job``."""

    form = FORMAT
    sample = SCONTROL
    asked = IN_UTC
    needs_zone = True


class TestFixedWidth(FormatContract):
    """``sacct`` as it prints for people."""

    form = FORMAT
    sample = FIXED
    asked = IN_UTC
    needs_zone = True


def test_gpus_are_counted_from_what_was_allocated():
    """A request may name another number, a step repeats its job, a job that waits holds nothing yet."""
    first, second = reader_of(SACCT, IN_UTC).summary.rows

    assert dict(first) == {
        "job_id": "17",
        "state": "COMPLETED",
        "n_gpus": 4,
        "nodes": "n1",
        "started_ns": START_NS,
        "ended_ns": START_NS + 3600 * 10**9,
        "duration_seconds": 3600.0,
    }
    assert (second["n_gpus"], second["started_ns"], second["ended_ns"]) == (None, None, None)


@pytest.mark.parametrize(
    ("tres", "n_gpus"),
    [(b"cpu=8,gres/gpu=4", 4), (b"cpu=8,gres/gpu:a100=2,gres/gpu:h200=1", 3), (b"cpu=8", 0)],
)
def test_squeue_calls_the_same_tres_alloc(tres: bytes, n_gpus: int):
    """A typed count adds up where there is no plain one; an allocation without GPUs has none."""
    log = b"JOBID|TRES_ALLOC|START_TIME\n17|" + tres + b"|2026-02-03T04:05:06\n"

    (row,) = reader_of(log, IN_UTC).summary.rows

    assert (row["n_gpus"], row["started_ns"]) == (n_gpus, START_NS)


def test_columns_of_fixed_width_are_cut_by_the_line_of_dashes():
    """What ``sacct`` prints for people."""
    assert [row["n_gpus"] for row in reader_of(FIXED, IN_UTC).summary.rows] == [4, 0]


def test_scontrol_tells_one_job_a_paragraph():
    """The plain count is all GPUs, those by type are a part of it; nothing personal is kept."""
    (row,) = reader_of(SCONTROL, IN_UTC).summary.rows

    assert dict(row) == {
        "job_id": "17",
        "state": "RUNNING",
        "n_gpus": 8,
        "nodes": "n[1-2]",
        "started_ns": START_NS,
        "ended_ns": START_NS + 2 * 86_400 * 10**9,
        "duration_seconds": 86_410.0,
    }


def test_times_are_of_the_zone_that_the_user_names():
    """Slurm prints the clock on the wall."""
    (row,) = reader_of(SCONTROL, Asked(zone=timezone(timedelta(hours=1)))).summary.rows

    assert row["started_ns"] == START_NS - 3600 * 10**9


def test_epoch_seconds_need_no_zone():
    """``SLURM_TIME_FORMAT=%s`` prints them."""
    log = SACCT.replace(b"2026-02-03T04:05:06", b"1770091506").replace(b"2026-02-03T05:05:06", b"1770095106")

    row, _ = reader_of(log).summary.rows

    assert (row["started_ns"], row["ended_ns"]) == (START_NS, START_NS + 3600 * 10**9)


def test_figures_of_jobstats_come_along_from_the_comment():
    """A comment that is damaged costs itself alone."""
    figures = b'{"gpus": 1, "total_time": 60, "nodes": {"n1": {"gpu_utilization": {"0": 50}}}}'
    comment = b"JS1:" + base64.b64encode(gzip.compress(figures))
    log = b"JobID|AllocTRES|AdminComment\n17|gres/gpu=1|" + comment + b"\n18|gres/gpu=1|JS1:xx\n"

    summary = reader_of(log).summary

    assert [row["job_id"] for row in summary.rows] == ["17", "17", "18"]
    assert summary.rows[1]["gpu_util_ratio"] == 0.5
    assert "bad-cell" in codes(summary.findings)
