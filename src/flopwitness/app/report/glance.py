"""The few figures that a reader takes away."""

from collections.abc import Iterable

from flopwitness.app.report.published import PUBLISHED
from flopwitness.app.report.scores import Score, Scored
from flopwitness.app.report.table import NOTHING, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import percent_text, range_text


def glance_table(results: tuple[Scored, ...]) -> Table:
    """Return one row an evaluation: the best estimator beside the best that the experiment had."""
    columns = (
        "FLOP counted",
        "Protocol",
        "Best estimator",
        "Best of the experiment's",
        "Median error, best",
        "95 % interval",
        "Median error, experiment's",
        "95 % interval",
    )
    caption = "Smallest median error of each evaluation, beside the smallest of the experiment's estimators."
    return plain_table(caption, columns, [_row(result) for result in results], n_text_columns=4)


def median_interval_text(score: Score) -> str:
    """Return the range of a median error over resampled workloads; an error is never below 0."""
    low, high = max(score.median_interval.low, 0.0), score.median_interval.high
    return range_text(percent_text(low), percent_text(high))


def _row(result: Scored) -> Row:
    best, rival = result.best, _best_of(result, PUBLISHED)
    figures = [*_figures(result, best), *(_figures(result, rival) if rival else (NOTHING, NOTHING))]
    return row_of(result.target.value, result.protocol.value, best, rival or NOTHING, *figures)


def _best_of(result: Scored, names: Iterable[str]) -> str | None:
    evaluated = [name for name in names if name in result.scores]
    return min(evaluated, key=lambda name: result.scores[name].errors.median_abs_error_ratio, default=None)


def _figures(result: Scored, name: str) -> tuple[str, str]:
    score = result.scores[name]
    return percent_text(score.errors.median_abs_error_ratio), median_interval_text(score)
