"""The table of jobs: sessions that continue one run, and FLOP summed over them."""

from collections.abc import Sequence

from flopwitness.app.jobtotals import JobTotal, job_totals
from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.published import OURS
from flopwitness.app.report.table import Row, Table, plain_table, row_of
from flopwitness.app.report.wording import Scale, range_text, scale_of, stretch_texts
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Placed

COLUMNS = ("Job", "Sessions", "Method", "Why they are one", "Start (UTC)", "Stop (UTC)")


def job_table(recording: Recording, results: Sequence[SessionResult], target: Target) -> Table | None:
    """Return a row for each job of several sessions; None where there is none.

    Points are sums. Ends are sums too: sessions share a calibration, so their errors do not average out.
    """
    members = [(result.job, result) for result in results if result.job is not None]
    totals = job_totals([placed for placed, _ in members], [result.estimates for _, result in members])
    shown = {job_id: _strongest(total, target) for job_id, total in totals.items() if total.n_sessions > 1}
    if not shown:
        return None
    scale = scale_of([flop[0] for _, flop in shown.values() if flop])
    rows = [
        _row([one for one in members if one[0].job_id == job_id], *named, scale)
        for job_id, named in shown.items()
    ]
    figures = (f"Estimate ({scale.unit})", f"Bounds ({scale.unit})")
    caption = (
        f"Jobs of several sessions of {recording.name}, {target} FLOP summed over these, as are the ends."
    )
    return plain_table(caption, (*COLUMNS, *figures), rows, n_text_columns=4)


def _row(
    members: Sequence[tuple[Placed, SessionResult]],
    method: str,
    flop: tuple[float, float, float] | None,
    scale: Scale,
) -> Row:
    links = [placed.link for placed, _ in members if placed.link]
    weakest = min(links, key=lambda link: link.probability)
    why = f"weakest link {weakest.odds}: {weakest.reason}"
    sessions = [result.session for _, result in members]
    ends = min(one.start_ns for one in sessions), max(one.stop_ns for one in sessions)
    figures = (
        (scale.text(flop[0]), range_text(scale.text(flop[1]), scale.text(flop[2])))
        if flop
        else ("no answer", "no answer")
    )
    texts = (str(members[0][0].number), str(len(members)), method, why, *stretch_texts(*ends), *figures)
    return row_of(*texts)


def _strongest(total: JobTotal, target: Target) -> tuple[str, tuple[float, float, float] | None]:
    """Return the strongest method that answered for every session, with its sums."""
    by_name = total.flop.get(target, {})
    names = (*reversed(OURS), *by_name)
    name = next((name for name in names if name in by_name), None)
    return (name, by_name[name]) if name else ("none answered", None)
