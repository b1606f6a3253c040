"""Median errors of the estimators side by side, with how far they would move with other workloads."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from flopwitness.app.report.canvas import (
    SMALL_POINTS,
    Plate,
    blank_figure,
    literal,
    style,
    style_legend,
)
from flopwitness.app.report.palette import INK, MUTED, PAPER, SERIES
from flopwitness.app.report.published import OURS, PUBLISHED
from flopwitness.app.report.scores import Score, Scored
from flopwitness.app.report.wording import percent_text
from flopwitness.core.workload import Target

WIDTH_INCHES = 7.8
ROW_INCHES = 0.36
ROOM_RATIO = 1.18
"""How much longer the axis is than the longest whisker, so that the figure beside it fits."""


def bars_plate(result: Scored, *, ident: str) -> Plate:
    """Return one bar an estimator in their order, ours in another colour and named so."""
    heading = "Median error of the estimators"
    names = tuple(result.scores)
    caption = (
        f"Median absolute relative error, {result.target} FLOP, protocol {result.protocol}; whiskers: "
        f"95 % of the medians when workloads are resampled. {_published_text(result)}"
    ).rstrip()
    figure = blank_figure(
        ident,
        heading,
        width_inches=WIDTH_INCHES,
        height_inches=1.1 + ROW_INCHES * len(names),
    )
    axes = figure.add_subplot()
    style(axes, x_label="Median absolute error (%)", y_label="")
    axes.grid(visible=False, axis="y")
    axes.set_yticks(range(len(names)), [literal(_named(name)) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, _longest(result) * ROOM_RATIO)
    for place, (name, score) in enumerate(result.scores.items()):
        _bar(axes, place, name, score)
    _diamonds(axes, result)
    return Plate(ident, heading, caption, figure)


def _named(name: str) -> str:
    return f"{name} (ours)" if name in OURS else name


def _published_text(result: Scored) -> str:
    if not _published_places(result):
        return ""
    return "Diamonds: published medians on 5 × 5 folds, of another data set on other boards."


def _published_places(result: Scored) -> list[tuple[int, float]]:
    """Return place and published error in per cent; only the published target and unit are comparable."""
    if result.target is not Target.ALGORITHMIC or not result.protocol.scores_workloads:
        return []
    known = [(place, PUBLISHED.get(name)) for place, name in enumerate(result.scores)]
    return [
        (place, 100 * one.folds_ratio)
        for place, one in known
        if one is not None and one.folds_ratio is not None
    ]


def _longest(result: Scored) -> float:
    ends = [100 * score.errors.median_abs_error_ratio for score in result.scores.values()]
    ends += [100 * score.median_interval.high for score in result.scores.values()]
    ends += [percent for _, percent in _published_places(result)]
    return max([end for end in ends if np.isfinite(end)], default=1.0) or 1.0


def _bar(axes: Axes, place: int, name: str, score: Score) -> None:
    median = 100 * score.errors.median_abs_error_ratio
    words = percent_text(score.errors.median_abs_error_ratio)
    if not np.isfinite(median):
        axes.text(
            0, place, " no finite answer for half of the runs", va="center", color=INK, fontsize=SMALL_POINTS
        )
        return
    is_ours = name in OURS
    axes.barh(
        place, median, height=0.62, color=SERIES[0] if is_ours else MUTED, alpha=1.0 if is_ours else 0.55
    )
    low, high = 100 * score.median_interval.low, 100 * score.median_interval.high
    end = median
    if np.isfinite([low, high]).all():
        end = max(high, median)
        axes.plot([low, high], [place, place], color=INK, linewidth=1.1, marker="|", markersize=7)
    axes.annotate(
        words,
        (end, place),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        color=INK,
        fontsize=SMALL_POINTS,
        fontweight="bold" if is_ours else "normal",
    )


def mark_published(axes: Axes, places: Sequence[tuple[int, float]], *, label: str) -> None:
    """Mark published errors with diamonds, each at a row and its error in percent."""
    axes.scatter(
        [percent for _, percent in places],
        [place for place, _ in places],
        marker="D",
        s=30,
        facecolors=PAPER,
        edgecolors=SERIES[1],
        linewidths=1.3,
        zorder=4,
        label=label,
    )


def _diamonds(axes: Axes, result: Scored) -> None:
    places = _published_places(result)
    if not places:
        return
    mark_published(axes, places, label="published, another data set")
    style_legend(axes.figure.legend(loc="outside lower right", fontsize=SMALL_POINTS))
