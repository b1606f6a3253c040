"""``flopwitness jobs``: what each job of a scheduler took, whether it did anything or not."""

from math import isfinite, isnan
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, CountedAs, RecordingPath
from flopwitness.app.cli.output import percent, print_faults, print_findings, print_json, print_table, utc
from flopwitness.app.faults import input_faults
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, open_recording, shipped_calibration
from flopwitness.app.scheduler_jobs import SchedulerJobs
from flopwitness.app.scheduler_totals import JobUse, job_uses
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target

JobsFolder = Annotated[
    Path,
    typer.Option(
        "--jobs",
        help="Folder in which a scheduler's prolog and epilog said which job held which GPU.",
        show_default=False,
    ),
]

COLUMNS = (
    "job",
    "start (UTC)",
    "duration (s)",
    "GPUs",
    "energy (J)",
    "point",
    "low",
    "high",
    "workloads",
    "unseen",
)


def run(
    recording: RecordingPath,
    jobs: JobsFolder,
    calibration: CalibrationPath = None,
    target: CountedAs = Target.ALGORITHMIC,
    chip: Chip = DEFAULT_CHIP,
    json: AsJson = False,
) -> int:
    """List the jobs of a scheduler with the energy and the FLOP of the GPUs that they held."""
    found = open_recording(recording, chip=chip)
    devices = tuple(trace.device for trace in found.traces)
    book = SchedulerJobs(jobs, devices)
    fitted = (
        open_calibration(calibration) if calibration else shipped_calibration(one.chip for one in devices)
    )
    fitted.for_target(target)
    uses = job_uses(found, book.windows(), fitted)
    if json:
        for use in uses:
            print_json(_object(use))
    else:
        print_table(f"{found.name}: jobs, {target} FLOP", COLUMNS, [_row(use, target) for use in uses])
        print_findings(book.findings())
    return print_faults(input_faults(recording, found))


def _row(use: JobUse, target: Target) -> tuple[str, ...]:
    flop = use.flop.get(target)
    return (
        use.job_id,
        utc(use.start_ns)[:-8],
        f"{(use.stop_ns - use.start_ns) / NANOSECONDS_PER_SECOND:.1f}",
        str(len(use.uuids)),
        _text(use.energy_joules, "{:.6g}"),
        *(_text(end, "{:.4g}") for end in flop or (float("nan"),) * 3),
        str(use.n_sessions) if flop else "-",
        percent(use.unobserved_ratio),
    )


def _text(value: float, form: str) -> str:
    """Return a figure; a dash where it is not known, ``none`` for a bound that is none."""
    if isnan(value):
        return "-"
    return form.format(value) if isfinite(value) else "none"


def _object(use: JobUse) -> dict[str, object]:
    """Return a job as JSON values; what is not known, and a bound that is none, is null."""
    return {
        "job_id": use.job_id,
        "devices": list(use.uuids),
        "start": utc(use.start_ns),
        "end": utc(use.stop_ns),
        "energy_joules": _finite(use.energy_joules),
        "unobserved_ratio": use.unobserved_ratio,
        "n_sessions": use.n_sessions if use.flop else None,
        "flop": {
            target.value: {f"{end}_flop": _finite(value) for end, value in one._asdict().items()}
            for target, one in use.flop.items()
        },
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
