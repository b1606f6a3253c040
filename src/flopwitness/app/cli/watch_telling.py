"""How ``flopwitness watch`` tells of a finished workload: an entry for the journal, a line for people."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from flopwitness.app.cli.estimate import SHOWN_METHODS, class_text, session_object
from flopwitness.app.cli.joblines import job_line, job_object
from flopwitness.app.cli.output import print_json, utc
from flopwitness.app.cli.record import say
from flopwitness.app.daemon import Finished
from flopwitness.app.ticking import HostClock
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.session import Session
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True)
class Told:
    """What is told beside what the daemon found.

    Attributes
    ----------
    target : Target
        Which FLOP a line shows.
    findings : callable
        Gives all that is to be known of a finished workload.
    job_ids : callable or None
        Gives what a scheduler calls the jobs of a session; None where nobody asked it.
    """

    target: Target
    findings: Callable[[Finished], tuple[Finding, ...]]
    job_ids: Callable[[Session], tuple[str, ...]] | None = None


def entry_of(finished: Finished, told: Told) -> dict[str, object]:
    """Return a finished workload as JSON values: those of ``estimate --json``, and exact instants.

    The FLOP of its job are those so far: an entry that was kept does not change. ``scheduler_job_ids`` is
    null where no scheduler was asked, and empty where it knows of no job.
    """
    witnessed = finished.witnessed
    session = witnessed.session
    answer = replace(witnessed, findings=told.findings(finished))
    job = {"job": job_object(finished.job)} if finished.job else {}
    more = {
        "start_ns": session.start_ns,
        "stop_ns": session.stop_ns,
        "n_samples": finished.n_samples,
        "scheduler_job_ids": list(told.job_ids(session)) if told.job_ids else None,
    }
    return session_object(answer, told.target) | more | job


def line_of(finished: Finished, entry: Mapping[str, Any], target: Target) -> str:
    """Return a finished workload as one line for people, with what is to be known of it in brackets.

    Where it continues a job, the line goes on with why, and with what the job has spent.
    """
    session, estimates = finished.witnessed.session, finished.witnessed.estimates.get(target, {})
    one = next((estimates[name] for name in SHOWN_METHODS if name in estimates), None)
    flop = _flop_text(one) if one else "-"
    name = session.name or "workload"
    where = f"{session.duration_seconds:.1f} s on {len(session.traces)} GPUs"
    ids = "".join(f", scheduler's job {job_id}" for job_id in entry.get("scheduler_job_ids") or ())
    kind = class_text(finished.witnessed.opinion)
    codes = ", ".join(dict.fromkeys(finding["code"] for finding in entry["findings"]))
    told = f"{utc(session.start_ns)[:-8]} {name} {session.session_id}: {where}{ids}, work: {kind}, {flop}"
    told = f"{told} ({codes})" if codes else told
    continued = job_line(finished.job, target, SHOWN_METHODS) if finished.job else ""
    return f"{told}; {continued}" if continued else told


def teller(
    latest: Callable[[], Mapping[str, Any]], console: Console, *, as_json: bool, target: Target
) -> Callable[[Finished], None]:
    """Return what prints a finished workload, at once; ``latest`` gives its entry."""

    def tell(finished: Finished) -> None:
        if as_json:
            print_json(latest())
        else:
            console.print(line_of(finished, latest(), target), markup=False, soft_wrap=True)
        sys.stdout.flush()

    return tell


def outliving_readers(
    tell: Callable[[Finished], None], clock: HostClock, *, is_kept: bool
) -> Callable[[Finished], None]:
    """Go on where nobody reads standard output any more, if a journal keeps what is found; else stop."""

    def told(finished: Finished) -> None:
        try:
            tell(finished)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if is_kept:
                say("nobody reads standard output any more: workloads go to the journal alone")
            else:
                clock.stop()

    return told


def _flop_text(estimate: Estimate) -> str:
    """Return a point with its ends, and what it can be at most where that has an end."""
    ends = f"[{estimate.low_flop:.4g}, {estimate.high_flop:.4g}]"
    most = f", at most {estimate.most_flop:.4g} if hostile" if estimate.most_flop < float("inf") else ""
    return f"{estimate.point_flop:.4g} FLOP {ends} {estimate.method}{most}"
