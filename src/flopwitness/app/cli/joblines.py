"""Jobs as people and programs read them: a table, a line, JSON values."""

from collections.abc import Mapping, Sequence

from flopwitness.app.cli.output import utc
from flopwitness.app.jobbook import mark_object
from flopwitness.app.jobtotals import JobSoFar, JobTotal, job_totals
from flopwitness.app.witnessing import Witnessed
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Link, Placed

COLUMNS = ("job", "start (UTC)", "end (UTC)", "sessions", "point", "low", "high", "method", "linked by")

Flop = tuple[float, float, float]


def job_object(job: JobSoFar) -> dict[str, object]:
    """Return a session's job as JSON values: why it belongs there, and the sums so far; unbounded is null."""
    placed = job.placed
    return {
        "job_id": placed.job_id,
        "number": placed.number,
        "n_sessions": placed.n_sessions,
        "link": _link_object(placed.link),
        "mark": mark_object(job.mark) if job.mark else None,
        "flop": {
            target.value: {name: _flop_object(flop) for name, flop in by_name.items()}
            for target, by_name in job.total.flop.items()
        },
    }


def jobs_so_far(placed: Sequence[Placed], answers: Sequence[Witnessed]) -> list[JobSoFar]:
    """Return the whole job of each session, its total over all of its sessions."""
    totals = job_totals(placed, (answer.estimates for answer in answers))
    return [JobSoFar(one, totals[one.job_id]) for one in placed]


def job_line(job: JobSoFar, target: Target, methods: Sequence[str]) -> str:
    """Return why a session continues a job and what that has spent; empty of the first session of a job."""
    link = job.placed.link
    if link is None:
        return ""
    name, flop = shown(job.total, target, methods)
    so_far = f", {flop[0]:.4g} FLOP [{flop[1]:.4g}, {flop[2]:.4g}] {name}" if flop else ""
    return (
        f"continues job {job.placed.number} ({link.odds}): {link.reason}; "
        f"{job.total.n_sessions} sessions so far{so_far}"
    )


def job_rows(
    placed: Sequence[Placed], answers: Sequence[Witnessed], target: Target, *, methods: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return a row for each job of several sessions: its stretch, FLOP over these, and its weakest link."""
    totals = job_totals(placed, (answer.estimates for answer in answers))
    rows = []
    several = {job_id: total for job_id, total in totals.items() if total.n_sessions > 1}
    for job_id, total in several.items():
        members = [
            (one, answer.session) for one, answer in zip(placed, answers, strict=True) if one.job_id == job_id
        ]
        name, flop = shown(total, target, methods)
        links = [one.link for one, _ in members if one.link]
        rows.append(
            (
                str(members[0][0].number),
                utc(min(session.start_ns for _, session in members))[:-8],
                utc(max(session.stop_ns for _, session in members))[:-8],
                str(total.n_sessions),
                *(f"{count:.4g}" for count in flop or ()),
                *(("-",) * 3 if flop is None else ()),
                name or "none",
                _weakest_text(links),
            )
        )
    return rows


def shown(total: JobTotal, target: Target, methods: Sequence[str]) -> tuple[str, Flop | None]:
    """Return the first of some methods that answered for every session, with its sums or None."""
    by_name: Mapping[str, Flop] = total.flop.get(target, {})
    name = next((name for name in methods if name in by_name), "")
    return name, by_name.get(name)


def _weakest_text(links: Sequence[Link]) -> str:
    weakest = min(links, key=lambda link: link.probability)
    return f"{weakest.odds}: {weakest.reason}"


def _link_object(link: Link | None) -> dict[str, object] | None:
    if link is None:
        return None
    evidence = [{"kind": one.kind, "log_ratio": one.log_ratio, "reason": one.reason} for one in link.evidence]
    return {
        "continues": link.session_id,
        "probability": link.probability,
        "reason": link.reason,
        "evidence": evidence,
    }


def _flop_object(flop: Flop) -> dict[str, float | None]:
    point, low, high = flop
    return {"point_flop": point, "low_flop": low, "high_flop": high if high < float("inf") else None}
