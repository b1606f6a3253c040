"""Jobs and processes: a set of UUIDs and a window given by the scheduler; process lists are hints only.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import pytest

from contracts.format import START_NS, reader_of
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.scheduler_totals import job_uses
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.workload import Target
from flopwitness.telemetry.scheduling.names import gpus_allocated
from flopwitness.telemetry.scheduling.windows import JobWindow
from plain_traces import plain_trace
from scrapes_made import H100, IN_UTC, SCRAPED, metric, scraped

SECOND = 10**9
PMON = (
    "# gpu        pid  type    sm   mem   enc   dec   command\n"
    "# Idx          #   C/G     %     %     %     %   name\n"
)


def test_j1_a_job_that_held_a_gpu_and_did_nothing_is_listed():
    """No process made it invisible: guilbaults/slurm-job-exporter#65. An hour at 80 W."""
    idle = plain_trace(range(3601), chip="H200-SXM", power_watts=80, gpu_util_ratio=0)
    hour = JobWindow("17", ("GPU-a",), START_NS, START_NS + 3600 * SECOND)

    (use,) = job_uses(
        Recording("made", (idle,), Provenance("made")), [hour], shipped_calibration(["H200-SXM"])
    )

    assert use.job_id == "17"
    assert use.energy_joules == pytest.approx(288_000)
    assert use.flop[Target.ALGORITHMIC] == (0.0, 0.0, 0.0)


def test_j2_a_workload_is_found_from_activity_without_any_process():
    """A container sees none: NVIDIA/nvidia-docker#1483, NVIDIA/gpu-monitoring-tools#63."""
    work = [0.0] * 20 + [0.8] * 60 + [0.0] * 20
    recording = scraped(
        *metric("DCGM_FI_PROF_SM_ACTIVE", f'UUID="GPU-a",{H100}', work),
        *metric("DCGM_FI_DEV_POWER_USAGE", f'UUID="GPU-a",{H100}', [80 + 600 * each for each in work]),
    )

    (session,) = detected_sessions(recording)

    assert session.start_ns == pytest.approx(START_NS + 20 * SECOND, abs=2 * SECOND)
    assert session.stop_ns == pytest.approx(START_NS + 80 * SECOND, abs=2 * SECOND)


def test_j3_a_process_that_cannot_exist_is_dropped():
    """R535 changed the struct: XuehaiPan/nvitop#79 and #181. No energy hangs on processes."""
    rows = [f"    0 {pid}     C    90    40     0     0   python\n" for pid in (4294967295, 105873)]
    pmon = PMON + "".join(rows)

    summary = reader_of(pmon.encode(), SCRAPED).summary

    assert [row["pid"] for row in summary.rows] == [105873]
    assert not [name for row in summary.rows for name in row if "joules" in name or "watts" in name]


def test_j4_gpus_are_counted_from_what_was_allocated():
    """What was asked for per node showed as N/A: SckyzO/slurm_exporter#35."""
    assert gpus_allocated("cpu=8,gres/gpu=4") == 4


def test_j4_a_jobs_record_counts_what_was_allocated():
    """In sacct's own table: SckyzO/slurm_exporter#35."""
    table = (
        "JobID|AllocTRES|ReqTRES|Start|End\n"
        "17|cpu=8,gres/gpu=4|cpu=8|2026-02-03T04:05:06|2026-02-03T05:05:06\n"
    )

    (row,) = reader_of(table.encode(), IN_UTC).summary.rows

    assert row["n_gpus"] == 4
