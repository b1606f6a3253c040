"""How ``flopwitness evaluate --protocol detection`` is said: as tables, and as JSON values."""

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.cli.output import data, percent_fine, print_table
from flopwitness.app.detecting import Replayed
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.evaluate.detection import N_TOLERATED_POLLS, Detection
from flopwitness.evaluate.totals import Total

SHOWN_METHODS = ("fused", "pipe-cycles-calibrated")
"""The table of totals shows these; ``--json`` holds all."""

FAILURES = ("split", "merged", "missed", "partly")

FOUND_COLUMNS = (
    "dataset, detector",
    "workloads",
    "as one",
    "split",
    "merged",
    "missed",
    "partly",
    "spurious",
    "stalled",
    "start error (s): median",
    "worst",
    "in time",
    "end error (s): median",
    "worst",
    "in time",
)
TOTAL_COLUMNS = (
    "dataset, detector",
    "target, method",
    "FLOP true",
    "witnessed",
    "ratio",
    "bounds",
    "outside log",
    "a workload: median",
    "worst",
)


def print_detection(answers: Sequence[Replayed]) -> None:
    """Print what was found, what it adds up to, and a line for each workload that was not found as one."""
    print_table("Workloads found by the daemon", FOUND_COLUMNS, map(_found_row, answers))
    print_table("FLOP in all, end to end", TOTAL_COLUMNS, _total_rows(answers))
    console = data()
    for answer in answers:
        for line in failure_lines(answer):
            console.print(line, markup=False, soft_wrap=True)


def detection_object(answer: Replayed) -> dict[str, object]:
    """Return one replay as JSON values; what is unbounded or not known is null."""
    found = answer.detection
    counts = {
        name: int(getattr(found, name).sum()) for name in ("as_one", *FAILURES, "too_close", "spurious")
    }
    return {
        "dataset": answer.name,
        "detector": answer.cadence,
        "poll_seconds": found.poll_seconds,
        "parting_seconds": found.parting_seconds,
        "tolerance_seconds": _tolerance(found),
        "n_workloads": len(found.true),
        "n_found": len(found.found),
        **{f"n_{name}": number for name, number in counts.items()},
        "n_stalled": _n_stalled(found),
        "start_error_seconds": _spread(found.error_seconds[:, 0]),
        "stop_error_seconds": _spread(found.error_seconds[:, 1]),
        "n_starts_within": int(found.within_tolerance[:, 0].sum()),
        "n_stops_within": int(found.within_tolerance[:, 1].sum()),
        "failures": failure_lines(answer),
        "totals": [_total_object(total) for total in answer.totals],
    }


def failure_lines(answer: Replayed) -> list[str]:
    """Return a sentence for each workload that was not found as one, and one for those too close to part."""
    found = answer.detection
    rows = np.flatnonzero(~found.as_one & ~found.too_close).tolist()
    lines = [f"{_label(answer)}: {_failure(found, row)}" for row in rows]
    if number := int(found.too_close.sum()):
        lines.append(
            f"{_label(answer)}: {number} merged workloads lie closer to a neighbour than the "
            f"{found.parting_seconds:g} s after which the rule ends one"
        )
    return lines


def _failure(found: Detection, row: int) -> str:
    """Say what was logged of one workload and what was found, in seconds after the first logged start."""
    true, origin_ns = found.true[row], found.true[0].start_ns
    words = ", ".join(name for name in FAILURES if getattr(found, name)[row])
    stretches = [
        f"{_stretch(one.start_ns, one.stop_ns, origin_ns)} on {one.n_devices} of {true.n_devices} GPUs"
        for one, shares in zip(found.found, found.shared[row], strict=True)
        if shares
    ]
    logged = _stretch(true.start_ns, true.stop_ns, origin_ns)
    return f"{true.name} {words}; logged {logged}, found {', '.join(stretches) or 'nowhere'}"


def _label(answer: Replayed) -> str:
    return f"{answer.name}, {answer.cadence}"


def _stretch(start_ns: int, stop_ns: int, origin_ns: int) -> str:
    """Return a stretch in seconds after the first logged start."""
    start, stop = ((instant - origin_ns) / NANOSECONDS_PER_SECOND for instant in (start_ns, stop_ns))
    return f"{start:.2f} to {stop:.2f} s"


def _found_row(answer: Replayed) -> tuple[str, ...]:
    found = answer.detection
    close = f" ({number} too close)" if (number := int(found.too_close.sum())) else ""
    return (
        _label(answer),
        str(len(found.true)),
        *(str(int(getattr(found, name).sum())) for name in ("as_one", "split")),
        f"{int(found.merged.sum())}{close}",
        *(str(int(getattr(found, name).sum())) for name in ("missed", "partly", "spurious")),
        str(_n_stalled(found)),
        *(cell for end in range(2) for cell in _end_cells(found, end)),
    )


def _end_cells(found: Detection, end: int) -> tuple[str, str, str]:
    spread, near = _spread(found.error_seconds[:, end]), int(found.within_tolerance[:, end].sum())
    return _signed(spread["median"]), _signed(spread["worst"]), f"{near} in {_tolerance(found):g} s"


def _tolerance(found: Detection) -> float:
    return N_TOLERATED_POLLS * found.poll_seconds


def _total_rows(answers: Iterable[Replayed]) -> list[tuple[str, ...]]:
    return [
        (_label(answer), *_total_row(total))
        for answer in answers
        for total in answer.totals
        if total.method in SHOWN_METHODS
    ]


def _total_row(total: Total) -> tuple[str, ...]:
    bounds, errors = total.bounds_ratio, _spread(total.error_ratio)
    return (
        f"{total.target.value}, {total.method}",
        f"{total.truth_flop:.4g}{_gap(total)}",
        f"{total.point_flop:.4g}",
        "-" if total.ratio is None else f"{total.ratio:.4f}",
        "-" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}",
        f"{total.outside_flop:.2g}",
        percent_fine(errors["median"]),
        percent_fine(errors["worst"]),
    )


def _gap(total: Total) -> str:
    """Say what the truth lacks, where it lacks something."""
    if not total.is_complete:
        return " (log in part)"
    return f" ({total.n_unknown} of {total.n_runs} unknown)" if total.n_unknown else ""


def _total_object(total: Total) -> dict[str, object]:
    return {
        "target": total.target.value,
        "method": total.method,
        "n_runs": total.n_runs,
        "n_unknown": total.n_unknown,
        "is_complete": total.is_complete,
        "truth_flop": total.truth_flop,
        "point_flop": total.point_flop,
        "low_flop": total.low_flop,
        "high_flop": total.high_flop if isfinite(total.high_flop) else None,
        "outside_flop": total.outside_flop,
        "n_unanswered": total.n_unanswered,
        "ratio": total.ratio,
        "workload_error_ratio": _spread(total.error_ratio),
    }


def _spread(errors: NDArray[np.float64]) -> dict[str, float | None]:
    """Return the middle and the one furthest from 0, signed; None where there is none."""
    if not len(errors):
        return {"median": None, "worst": None}
    return {"median": float(np.median(errors)), "worst": float(errors[np.abs(errors).argmax()])}


def _signed(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:+.2f}"


def _n_stalled(found: Detection) -> int:
    return sum(one.is_stalled for one in found.found)
