"""Tables of a recording: its devices, the sessions in it, and what was estimated of each."""

from collections.abc import Sequence

from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.published import OURS
from flopwitness.app.report.table import Row, Table, plain_table, row_of
from flopwitness.app.report.wording import (
    NOT_KNOWN,
    Scale,
    counted_text,
    device_key,
    percent_text,
    range_text,
    scale_of,
    stretch_text,
    stretch_texts,
)
from flopwitness.core.estimate import Estimate
from flopwitness.core.recording import Recording
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target


def device_table(recording: Recording) -> Table:
    """Return the devices of a recording with the short names that the page gives them."""
    rows = [
        row_of(
            device_key(number),
            trace.device.uuid,
            trace.device.chip,
            trace.device.host or NOT_KNOWN,
            stretch_text(int(trace.time_ns[0]), int(trace.time_ns[-1])) if len(trace) else "no sample",
            f"{len(trace):,}",
        )
        for number, trace in enumerate(recording.traces)
    ]
    columns = ("Device", "UUID", "Chip", "Host", "Recorded (UTC)", "Samples")
    return plain_table(f"Devices of {recording.name}.", columns, rows, n_text_columns=5)


def session_table(recording: Recording, results: Sequence[SessionResult], target: Target) -> Table:
    """Return the sessions in their order, each with the strongest estimate that was made of it."""
    scale = _scale(results, target)
    keys = {trace.device.uuid: device_key(number) for number, trace in enumerate(recording.traces)}
    rows = [
        _session_row(number, result, target, scale, keys) for number, result in enumerate(results, start=1)
    ]
    columns = (
        "Session",
        "Devices",
        "Work",
        "Method",
        "Start (UTC)",
        "Stop (UTC)",
        "Seconds",
        f"Estimate ({scale.unit})",
        f"Bounds ({scale.unit})",
        f"At most, if hostile ({scale.unit})",
        f"Truth ({scale.unit})",
        "Error",
        "Findings",
    )
    caption = f"Sessions of {recording.name}, {target} FLOP by the strongest method that answered."
    return plain_table(caption, columns, rows, n_text_columns=4)


def method_table(recording: Recording, results: Sequence[SessionResult], target: Target) -> Table:
    """Return what every method said of every session."""
    scale = _scale(results, target)
    methods = tuple(dict.fromkeys(name for result in results for name in result.estimates.get(target, {})))
    rows = []
    for number, result in enumerate(results, start=1):
        estimates = result.estimates.get(target, {})
        points = [
            scale.text(estimates[name].point_flop) if name in estimates else "no answer" for name in methods
        ]
        rows.append(row_of(session_text(number, result), *points))
    caption = f"What every method said of the sessions of {recording.name}: {target}, in {scale.unit}."
    return plain_table(caption, ("Session", *methods), rows)


def session_targets(results: Sequence[SessionResult]) -> tuple[Target, ...]:
    """Return the targets to show: those with an estimate or a truth; algorithmic alone where nothing has."""
    named = tuple(
        target
        for target in Target
        if any(target in result.estimates or result.truth(target) is not None for result in results)
    )
    return named or ((Target.ALGORITHMIC,) if results else ())


def session_text(number: int, result: SessionResult) -> str:
    """Return the name of a session on the page: its place, and what the lab called it."""
    return f"{number} {result.session.name}".rstrip()


def strongest(result: SessionResult, target: Target) -> Estimate | None:
    """Return the estimate to show first: fused, then the pipes, then any; None where none answered."""
    estimates = result.estimates.get(target, {})
    for name in reversed(OURS):
        if name in estimates:
            return estimates[name]
    return next(iter(estimates.values()), None)


def work_text(opinion: ClassOpinion | None) -> str:
    """Return what kind of work it was and how sure that is."""
    if opinion is None:
        return NOT_KNOWN
    if opinion.answer is WorkClass.UNKNOWN:
        return "unknown"
    return f"{opinion.answer} ({percent_text(opinion.probabilities[opinion.answer])})"


def _session_row(
    number: int, result: SessionResult, target: Target, scale: Scale, keys: dict[str, str]
) -> Row:
    session = result.session
    devices = " ".join(keys.get(trace.device.uuid, trace.device.uuid) for trace in session.traces)
    return row_of(
        session_text(number, result),
        devices,
        work_text(result.opinion),
        *_estimate_texts(result, target, scale)[:1],
        *stretch_texts(session.start_ns, session.stop_ns),
        f"{session.duration_seconds:,.1f}",
        *_estimate_texts(result, target, scale)[1:],
        counted_text(len(result.findings), "finding") if result.findings else "none",
    )


def _estimate_texts(result: SessionResult, target: Target, scale: Scale) -> tuple[str, ...]:
    """Return method, point, bounds, the most of a hostile run, truth and error."""
    estimate, truth = strongest(result, target), result.truth(target)
    if estimate is None:
        return "none answered", *("no answer",) * 3, scale.text(truth), NOT_KNOWN
    error = NOT_KNOWN if truth is None else percent_text(estimate.point_flop / truth - 1, is_signed=True)
    bounds = range_text(scale.text(estimate.low_flop), scale.text(estimate.high_flop))
    figures = scale.text(estimate.point_flop), bounds, scale.text(estimate.most_flop)
    return estimate.method, *figures, scale.text(truth), error


def _scale(results: Sequence[SessionResult], target: Target) -> Scale:
    points = [
        estimate.point_flop for result in results for estimate in result.estimates.get(target, {}).values()
    ]
    return scale_of(points + [truth for result in results if (truth := result.truth(target)) is not None])
