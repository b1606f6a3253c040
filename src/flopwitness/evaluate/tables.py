"""An evaluation as plain rows and as one JSON object. Every number is finite or None: None is unbounded.

A median error is None where more than half of the scores failed, ``high_flop`` is None where nothing bounds
the estimate from above, a width is None where an interval has no finite end.
"""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from flopwitness.evaluate.bootstrap import (
    BootstrapInterval,
    cluster_draws,
    mean_statistic,
    median_statistic,
    p90_statistic,
)
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.metrics import Coverage, ErrorSummary
from flopwitness.evaluate.protocols import Protocol

Cell = str | int | float | None
"""What a table holds: text, a count, a finite number, or None where a number has no bound."""

Row = dict[str, Cell]
"""One line of a table by column name."""

RESAMPLED = {
    "median_abs_error_ratio": median_statistic,
    "mean_abs_error_ratio": mean_statistic,
    "p90_abs_error_ratio": p90_statistic,
}
"""Figures that come with a bootstrap interval; a worst case has none that resampling could give."""


def estimator_rows(evaluation: Evaluation) -> tuple[Row, ...]:
    """Return one row an estimator: errors, their worst cases by name, coverage."""
    return tuple(
        {"estimator": name, **_error_cells(evaluation, name), **_coverage_cells(evaluation.coverage(name))}
        for name in evaluation.estimators
    )


def family_rows(evaluation: Evaluation) -> tuple[Row, ...]:
    """Return one row an estimator and family: errors and coverage."""
    return tuple(
        {"estimator": name, "family": family, **cells}
        for name in evaluation.estimators
        for family, cells in _family_cells(evaluation, name).items()
    )


def workload_rows(evaluation: Evaluation) -> tuple[Row, ...]:
    """Return one row an estimator and workload: truth and median estimate, as the figure of dots shows."""
    rows: list[Row] = []
    for name in evaluation.estimators:
        dots = evaluation.workload_medians(name)
        columns = (dots.workloads, dots.families, dots.truth_flop, dots.point_flop, dots.n_scores)
        for workload, family, truth, point, n_scores in zip(*(c.tolist() for c in columns), strict=True):
            cells: Row = {"estimator": name, "workload": workload, "family": family}
            rows.append(cells | {"truth_flop": truth, "point_flop": finite(point), "n_scores": n_scores})
    return tuple(rows)


def workload_objects(evaluation: Evaluation) -> list[dict[str, object]]:
    """Return one object a held-out workload: name, family, truth and each estimator's median estimate.

    Of a workload that several splits held out, the median over all of them; None where it is not finite.
    """
    dots = {name: evaluation.workload_medians(name) for name in evaluation.estimators}
    if not dots:
        return []
    first = next(iter(dots.values()))
    return [
        {
            "name": workload,
            "family": str(first.families[number]),
            "truth_flop": float(first.truth_flop[number]),
            "point_flop": {name: finite(found.point_flop[number]) for name, found in dots.items()},
        }
        for number, workload in enumerate(first.workloads.tolist())
    ]


def run_objects(evaluation: Evaluation) -> list[dict[str, object]]:
    """Return one object a held-out score: name, family, truth and what each estimator said.

    Order is that of the splits and, within one, of the examples. A point is None where it was not a finite
    number, ``high_flop`` where nothing bounds it.
    """
    rows = evaluation.held_out
    examples = evaluation.examples
    estimates = {name: _estimate_cells(evaluation, name) for name in evaluation.estimators}
    return [
        {
            "name": str(examples.workloads[row]),
            "family": str(examples.families[row]),
            "dataset": str(examples.datasets[row]),
            "truth_flop": float(examples.truth_flop[row]),
            "estimates": {name: cells[number] for name, cells in estimates.items()},
        }
        for number, row in enumerate(rows.tolist())
    ]


def evaluation_object(
    evaluation: Evaluation, *, rng: np.random.Generator, n_draws: int = 2000
) -> dict[str, object]:
    """Return what ``flopwitness evaluate --json`` prints; ``json.dumps(..., allow_nan=False)`` takes it.

    Parameters
    ----------
    evaluation : Evaluation
        All splits of one protocol.
    rng : numpy.random.Generator
        For the bootstrap; all estimators are resampled with the same draws.
    n_draws : int
        How often workloads are resampled.

    Returns
    -------
    dict
        ``protocol``, ``target``, ``splits`` (how many), ``n_workloads`` and ``n_traces`` (of the examples
        under evaluation: all, or the tested ones when frozen), ``n_held_out_workloads`` (held out at least
        once; what the bootstrap resamples), ``n_calibration_workloads`` (the fewest of any split),
        ``score_unit``, ``estimators``, ``workloads`` (the dots of a figure) and, when frozen, ``runs``.
    """
    examples = evaluation.examples
    held_out = examples.take(np.unique(evaluation.held_out))
    is_frozen = evaluation.protocol is Protocol.FROZEN
    subject = held_out if is_frozen else examples
    draws = cluster_draws(held_out.n_workloads, n_draws=n_draws, rng=rng)
    found: dict[str, object] = {
        "protocol": evaluation.protocol.value,
        "target": examples.target.value,
        "splits": len(evaluation.scores),
        "n_workloads": subject.n_workloads,
        "n_traces": len(subject),
        "n_held_out_workloads": held_out.n_workloads,
        "n_calibration_workloads": min(score.n_train_workloads for score in evaluation.scores),
        "score_unit": "workload" if evaluation.protocol.scores_workloads else "trace",
        "estimators": {name: _estimator_object(evaluation, name, draws) for name in evaluation.estimators},
        "workloads": workload_objects(evaluation),
    }
    return found | {"runs": run_objects(evaluation)} if is_frozen else found


def finite(value: float) -> float | None:
    """Return a number that JSON can say, or None.

    Examples
    --------
    >>> finite(0.5), finite(float("inf"))
    (0.5, None)
    """
    return float(value) if isfinite(value) else None


def _estimator_object(evaluation: Evaluation, name: str, draws: NDArray[np.int64]) -> dict[str, object]:
    nominal: Row = {"nominal_ratio": evaluation.nominal_coverage_ratio(name)}
    intervals = {
        f"{figure}_interval": _interval_object(evaluation.interval(name, statistic=statistic, draws=draws))
        for figure, statistic in RESAMPLED.items()
    }
    return {
        **_error_cells(evaluation, name),
        **intervals,
        "coverage": nominal | _coverage_cells(evaluation.coverage(name)),
        "families": _family_cells(evaluation, name),
    }


def _error_cells(evaluation: Evaluation, name: str) -> Row:
    errors = evaluation.errors(name)
    under, over = errors.worst_workloads()
    worst: Row = {"worst_under_workload": under, "worst_over_workload": over}
    return _summary_cells(errors.summary()) | worst


def _summary_cells(summary: ErrorSummary) -> Row:
    return _finite_cells(asdict(summary), n="n_scores")


def _coverage_cells(coverage: Coverage) -> Row:
    return _finite_cells(
        asdict(coverage),
        low_ratio="coverage_low_ratio",
        high_ratio="coverage_high_ratio",
        n="n_intervals",
        n_workloads="n_workloads",
    )


def _family_cells(evaluation: Evaluation, name: str) -> dict[str, Row]:
    coverage = evaluation.coverage_by_family(name)
    return {
        family: _summary_cells(summary) | _coverage_cells(coverage[family])
        for family, summary in evaluation.errors(name).by_family().items()
    }


def _interval_object(interval: BootstrapInterval) -> Row:
    return _finite_cells(asdict(interval), low="low_ratio", high="high_ratio")


def _finite_cells(values: Mapping[str, float], **renamed: str) -> Row:
    """Return cells under their column names; counts stay whole numbers."""
    return {
        renamed.get(name, name): value if isinstance(value, int) else finite(value)
        for name, value in values.items()
    }


def _estimate_cells(evaluation: Evaluation, name: str) -> list[Row]:
    points = evaluation.point_flop(name).tolist()
    return [
        {"point_flop": finite(point), "low_flop": finite(low), "high_flop": finite(high)}
        for point, (low, high) in zip(points, evaluation.bounds_flop(name).tolist(), strict=True)
    ]
