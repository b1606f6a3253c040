"""Tables of how good the estimators are."""

import numpy as np

from flopwitness.app.report.glance import median_interval_text
from flopwitness.app.report.published import OURS, PUBLISHED
from flopwitness.app.report.scores import Score, Scored, chosen
from flopwitness.app.report.table import NOTHING, Cell, Group, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import (
    PROTOCOLS,
    TARGETS,
    counted_text,
    percent_text,
    scale_of,
)
from flopwitness.core.workload import Target
from flopwitness.evaluate.metrics import ErrorSummary
from flopwitness.evaluate.protocols import Protocol

HEAT_STEPS = (0.05, 0.10, 0.20, 0.40)
"""Median errors at which a cell of the family table gets a stronger ground; 10 and 20 % are the wedges."""


def summary_table(results: tuple[Scored, ...], target: Target) -> Table:
    """Return every estimator under every protocol for one target."""
    own = [result for result in results if result.target is target]
    return Table(
        caption=f"Relative error against the truth, by protocol: {TARGETS[target]}. "
        "The smallest median of a protocol is set in bold; a dash stands where no bounds were made.",
        columns=(
            "Estimator",
            "Median error",
            "95 % interval of the median",
            "Mean error",
            "90th percentile",
            "Worst under",
            "Worst over",
            "Truth inside bounds",
            "Bounds meant for",
            "Median width of bounds",
        ),
        groups=tuple(
            Group(f"{result.protocol.capitalize()}.", protocol_text(result), _summary_rows(result))
            for result in own
        ),
    )


def protocol_text(result: Scored) -> str:
    """Say how the splits of an evaluation were made, and on how much."""
    evaluation = result.evaluation
    held_out = evaluation.examples.take(np.unique(evaluation.held_out))
    fewest = min(score.n_train_workloads for score in evaluation.scores)
    unit = "workload" if result.protocol.scores_workloads else "trace"
    return (
        f"{PROTOCOLS[result.protocol]}. {counted_text(len(evaluation.scores), 'split')}; "
        f"held out {counted_text(held_out.n_workloads, 'workload')}, {counted_text(len(held_out), 'trace')} "
        f"of {', '.join(np.unique(held_out.datasets).tolist())}; calibrated on at least "
        f"{counted_text(fewest, 'workload')}; one score a {unit}."
    )


def published_table(results: tuple[Scored, ...]) -> Table:
    """Return the published medians beside ours, counted alike; a missing figure is a dash."""
    random = chosen(results, Target.ALGORITHMIC, (Protocol.RANDOM,))
    folds = chosen(results, Target.ALGORITHMIC, (Protocol.FOLDS,))
    rows = [
        row_of(
            name,
            _maybe(PUBLISHED[name].random_ratio if name in PUBLISHED else None),
            _median(random, name),
            _maybe(PUBLISHED[name].folds_ratio if name in PUBLISHED else None),
            _median(folds, name),
        )
        for name in (*PUBLISHED, *OURS)
    ]
    caption = (
        "Median absolute error, published and here, algorithmic FLOP. Other boards, other programs, "
        "other data: the columns show whether the pattern repeats, not who is better."
    )
    columns = (
        "Estimator",
        "Published, 200 random splits",
        "Here, random splits",
        "Published, 5 × 5 folds",
        "Here, folds",
    )
    return plain_table(caption, columns, rows)


def family_table(result: Scored) -> Table:
    """Return the median error of each estimator on each family, the ground stronger where it is larger."""
    by_estimator = {name: result.evaluation.errors(name).by_family() for name in result.scores}
    families = list(next(iter(by_estimator.values())))
    rows = [
        row_of(name, *(_heat_cell(errors[family]) for family in families))
        for name, errors in by_estimator.items()
    ]
    columns = (
        "Estimator",
        *(f"{family} ({next(iter(by_estimator.values()))[family].n:,})" for family in families),
    )
    caption = (
        f"Median absolute error by family of the held-out workload, {result.target} FLOP, protocol "
        f"{result.protocol}; number of scores in brackets. The ground gets stronger at 5, 10, 20 and 40 %."
    )
    return plain_table(caption, columns, rows)


def workload_table(result: Scored) -> Table:
    """Return each held-out workload with the error of its median estimate: the rows that dots link to."""
    evaluation = result.evaluation
    medians = {name: evaluation.workload_medians(name) for name in result.scores}
    dots = next(iter(medians.values()))
    scale = scale_of(dots.truth_flop.tolist())
    rows = []
    for number, workload in enumerate(dots.workloads.tolist()):
        truth = float(dots.truth_flop[number])
        errors = [
            percent_text(float(one.point_flop[number]) / truth - 1, is_signed=True)
            for one in medians.values()
        ]
        family, n_scores = str(dots.families[number]), f"{int(dots.n_scores[number]):,}"
        ident = workload_ident(result, number)
        rows.append(row_of(workload, family, scale.text(truth), n_scores, *errors, ident=ident))
    caption = (
        f"Signed error of the median estimate of each workload over everything that held it out, "
        f"{result.target} FLOP, protocol {result.protocol}."
    )
    columns = ("Workload", "Family", f"Truth ({scale.unit})", "Scores", *result.scores)
    return plain_table(caption, columns, rows, n_text_columns=2)


def workload_ident(result: Scored, number: int) -> str:
    """Return what a dot links to: the row of a workload, by its place in the order of names."""
    return f"workload-{result.target}-{result.protocol}-{number}"


def _summary_rows(result: Scored) -> tuple[Row, ...]:
    best = result.best
    return tuple(_summary_row(name, score, name == best) for name, score in result.scores.items())


def _summary_row(name: str, score: Score, is_best: bool) -> Row:
    errors = score.errors
    css = "best" if is_best else ""
    return row_of(
        Cell(name, css),
        Cell(percent_text(errors.median_abs_error_ratio), css),
        median_interval_text(score),
        percent_text(errors.mean_abs_error_ratio),
        percent_text(errors.p90_abs_error_ratio),
        _worst(errors.worst_under_ratio),
        _worst(errors.worst_over_ratio),
        *_bounds_texts(score),
    )


def _worst(ratio: float) -> str:
    return percent_text(ratio, is_signed=True) if ratio else "none"


def _bounds_texts(score: Score) -> tuple[str, str, str]:
    """Return how often bounds held the truth, what they were made for, and their width."""
    if score.nominal_coverage_ratio is None:
        return NOTHING, NOTHING, NOTHING
    coverage = score.coverage
    ratios = (coverage.coverage_ratio, score.nominal_coverage_ratio, coverage.median_width_ratio)
    held, meant, width = (percent_text(ratio) for ratio in ratios)
    return held, meant, width


def _heat_cell(errors: ErrorSummary) -> Cell:
    median = errors.median_abs_error_ratio
    step = sum(median >= limit for limit in HEAT_STEPS)
    return Cell(percent_text(median), f"heat{step}")


def _maybe(ratio: float | None) -> str:
    return NOTHING if ratio is None else percent_text(ratio)


def _median(result: Scored | None, name: str) -> str:
    if result is None or name not in result.scores:
        return NOTHING
    return percent_text(result.scores[name].errors.median_abs_error_ratio)
