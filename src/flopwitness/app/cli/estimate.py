"""``flopwitness estimate``: workloads found, FLOP estimated."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from flopwitness.app.cli.asking import ForeignChip, Period, Start, Zone, asked_of
from flopwitness.app.cli.joblines import COLUMNS as JOB_COLUMNS
from flopwitness.app.cli.joblines import job_object, job_rows, jobs_so_far
from flopwitness.app.cli.options import AsJson, CalibrationPath, CountedAs, RecordingPath
from flopwitness.app.cli.output import (
    finding_object,
    percent,
    print_faults,
    print_findings,
    print_json,
    print_table,
    utc,
)
from flopwitness.app.faults import input_faults, require_gpus
from flopwitness.app.fewer_signals import PREFERRED, is_bound, shown_method
from flopwitness.app.jobs import placed_jobs
from flopwitness.app.opening import calibration_at_hand, open_calibration, open_recording, open_runs
from flopwitness.app.witnessing import Witnessed, detected_sessions, logged_sessions, witnessed
from flopwitness.core.estimate import Estimate
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target
from flopwitness.estimate.sparse.answering import Assumptions
from flopwitness.estimate.sparse.priors import EVERY_FORMAT, NumberFormat

Windows = Annotated[
    Path | None,
    typer.Option("--windows", help="runs.json whose stretches to estimate, instead of finding workloads."),
]
Gpus = Annotated[
    int,
    typer.Option("--gpus", help="GPUs behind the meter, where the power of a whole node was read.", min=1),
]
Formats = Annotated[
    list[NumberFormat] | None,
    typer.Option(
        "--number-format",
        help="Number format that the matrix work is known to be in, repeatable: narrows what rests on power. "
        "All of the chip's where not given.",
    ),
]


def run(
    recording: RecordingPath,
    windows: Windows = None,
    calibration: CalibrationPath = None,
    target: CountedAs = Target.ALGORITHMIC,
    gpus: Gpus = 1,
    number_format: Formats = None,
    tz: Zone = None,
    start: Start = None,
    period: Period = None,
    chip: ForeignChip = None,
    json: AsJson = False,
) -> int:
    """Find the workloads of a recording and estimate the FLOP of each, with bounds.

    Where no calibration is shipped for the chip, or signals are missing, the answer is wider and says what it
    assumes, and which signal would narrow it most.
    """
    found = open_recording(recording, asked=asked_of(tz, start, period, chip))
    chips = [trace.device.chip for trace in found.traces]
    fitted = open_calibration(calibration) if calibration else calibration_at_hand(chips)
    if fitted is not None:
        fitted.require_chips(chips)
        fitted.for_target(target)
    assumed = Assumptions(gpus, frozenset(number_format or EVERY_FORMAT))
    if windows:
        runs = open_runs(windows)
        require_gpus(recording, found, runs)
        sessions = logged_sessions(found, runs)
    else:
        sessions = detected_sessions(found, assumed)
    answers = witnessed(found, sessions, fitted, assumed)
    placed = placed_jobs(sessions, found.traces)
    if json:
        for answer, job in zip(answers, jobs_so_far(placed, answers), strict=True):
            print_json(session_object(answer, target) | {"job": job_object(job)})
    else:
        print_table(f"{found.name}: {target} FLOP", COLUMNS, [_row(answer, target) for answer in answers])
        if jobs := job_rows(placed, answers, target, methods=SHOWN_METHODS):
            print_table(f"Jobs of several sessions of {found.name}: FLOP over these", JOB_COLUMNS, jobs)
        print_findings(dict.fromkeys(finding for answer in answers for finding in answer.findings))
    return print_faults(input_faults(recording, found))


COLUMNS = (
    "session",
    "start (UTC)",
    "duration (s)",
    "GPUs",
    "point",
    "low",
    "high",
    "at most, if hostile",
    "method",
    "work",
)
SHOWN_METHODS = PREFERRED
"""The table shows the first of these that gave an estimate; ``--json`` shows all."""


NONE: Mapping[str, Estimate] = MappingProxyType({})


def session_object(answer: Witnessed, target: Target) -> dict[str, object]:
    """Return one session as JSON values; an infinite bound is null.

    ``most_flop`` is what a run that was made to be under-counted may have spent, ``high_flop`` the end for
    runs that mean no harm. A bound alone has no point: null.
    """
    session = answer.session
    methods = dict.fromkeys(name for by_name in answer.estimates.values() for name in by_name)
    return {
        "session_id": session.session_id,
        "name": session.name,
        "start": utc(session.start_ns),
        "end": utc(session.stop_ns),
        "devices": [trace.device.uuid for trace in session.traces],
        "n_samples": session.n_samples,
        "target": target.value,
        "estimates": {
            name: _estimate_object(answer.estimates.get(target, NONE).get(name))
            | {
                "targets": {
                    other.value: _estimate_object(by_name.get(name))
                    for other, by_name in answer.estimates.items()
                }
            }
            for name in methods
        },
        "findings": [finding_object(finding) for finding in answer.findings],
        "work_class": opinion_object(answer.opinion),
    }


def opinion_object(opinion: ClassOpinion | None) -> dict[str, object] | None:
    """Return what kind of work a session was as JSON values; null where nobody asked."""
    if opinion is None:
        return None
    return {
        "answer": opinion.answer.value,
        "probabilities": {name.value: round(value, 4) for name, value in opinion.probabilities.items()},
        "n_windows": opinion.n_windows,
        "unfamiliar_ratio": opinion.unfamiliar_ratio,
        "reasons": list(opinion.reasons),
    }


def class_text(opinion: ClassOpinion | None) -> str:
    """Return the kind of work and how sure it is, for a table."""
    if opinion is None:
        return "-"
    if opinion.answer is WorkClass.UNKNOWN:
        return opinion.answer.value
    return f"{opinion.answer.value} {percent(opinion.probabilities[opinion.answer])}"


def finite_text(flop: float) -> str:
    """Return a bound in four digits; ``none`` where there is none."""
    return f"{flop:.4g}" if flop < float("inf") else "none"


def _estimate_object(estimate: Estimate | None) -> dict[str, object]:
    names = ("point_flop", "low_flop", "high_flop", "most_flop", "coverage_ratio")
    if estimate is None:
        return dict.fromkeys(names)
    values = {name: getattr(estimate, name) for name in names}
    if is_bound(estimate.method):
        values |= {"point_flop": float("inf")}
    return {name: value if value < float("inf") else None for name, value in values.items()}


def _row(answer: Witnessed, target: Target) -> tuple[str, ...]:
    session, estimates = answer.session, answer.estimates.get(target, NONE)
    shown = shown_method(estimates)
    one = estimates.get(shown)
    point = float("inf") if is_bound(shown) else one.point_flop if one else 0.0
    flop = (point, one.low_flop, one.high_flop, one.most_flop) if one else ()
    return (
        session.name or session.session_id,
        utc(session.start_ns)[:-8],
        f"{session.duration_seconds:.2f}",
        str(len(session.traces)),
        *(map(finite_text, flop) if flop else ("-",) * 4),
        shown or "none",
        class_text(answer.opinion),
    )
