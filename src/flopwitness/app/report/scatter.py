"""Estimates against the truth: one dot a workload, with wedges of 10 and 20 %."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from flopwitness.app.report.canvas import (
    SMALL_POINTS,
    Plate,
    blank_figure,
    literal,
    logarithmic_ticks,
    style,
    style_legend,
)
from flopwitness.app.report.evaluation_tables import workload_ident
from flopwitness.app.report.palette import BAND, INK, MARKERS, PAPER, SERIES
from flopwitness.app.report.scores import Scored
from flopwitness.app.report.wording import (
    Scale,
    counted_text,
    number_text,
    percent_text,
    power_text,
    scale_of,
)
from flopwitness.evaluate.evaluation import WorkloadMedians

WEDGES = ((0.0, 0.10, 0.42), (0.10, 0.20, 0.18))
"""Error at which each wedge begins and ends, and how opaque it is; the experiment drew these two."""

FURTHEST = 4.0
"""Dots further than this factor from the truth do not stretch the axes."""

MARGIN = 1.15

WIDE = 1000.0
"""Axes that span more than this factor count in FLOP and are labelled by powers of ten."""

PANEL_INCHES = 4.1
DOT_POINTS_SQUARED = 26.0


@dataclass(frozen=True, slots=True)
class Window:
    """Ends of both axes, which are the same, and the unit of their ticks."""

    low: float
    high: float
    scale: Scale


def scatter_plate(result: Scored, estimators: Sequence[str], *, ident: str, heading: str) -> Plate | None:
    """Return a figure with a panel for each estimator that was evaluated; None where none was.

    Parameters
    ----------
    result : Scored
        Whose median estimates a workload are drawn.
    estimators : sequence of str
        Names, in order of the panels.
    ident, heading : str
        What links name, and what it is.
    """
    names = [name for name in estimators if name in result.scores]
    if not names:
        return None
    medians = [result.evaluation.workload_medians(name) for name in names]
    caption = _caption(result, medians)
    figure = blank_figure(
        ident,
        heading,
        width_inches=PANEL_INCHES * len(names) + 1.4,
        height_inches=PANEL_INCHES,
    )
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    window = _window(medians)
    idents = [workload_ident(result, number) for number in range(len(medians[0].workloads))]
    for axes, name, dots in zip(panels, names, medians, strict=True):
        error = percent_text(result.scores[name].errors.median_abs_error_ratio)
        _frame(axes, window, title=f"{name}: median error {error}", target=result.target.value)
        _wedges(axes, window)
        _dots(axes, window, dots, idents)
    _legend(figure, panels[0])
    return Plate(ident, heading, caption, figure)


def _caption(result: Scored, medians: Sequence[WorkloadMedians]) -> str:
    n_pinned = sum(int(_is_far(dots).sum()) for dots in medians)
    pinned = (
        f" Without filling: {counted_text(n_pinned, 'estimate')} off by more than a factor of "
        f"{FURTHEST:.0f}, or absent; what lies beyond the frame stands at its edge."
        if n_pinned
        else ""
    )
    return (
        f"Median estimate of each held-out workload against its true {result.target} FLOP, protocol "
        f"{result.protocol}, {len(medians[0].workloads)} workloads; a dot leads to its row in the "
        f"table.{pinned}"
    )


def _is_far(dots: WorkloadMedians) -> NDArray[np.bool_]:
    ratio = dots.point_flop / dots.truth_flop
    return ~(np.isfinite(ratio) & (ratio >= 1 / FURTHEST) & (ratio <= FURTHEST))


def _window(medians: Sequence[WorkloadMedians]) -> Window:
    shown = np.concatenate([dots.truth_flop for dots in medians])
    near = [dots.point_flop[~_is_far(dots)] for dots in medians]
    values = np.concatenate([shown, *near])
    low, high = float(values.min()) / MARGIN, float(values.max()) * MARGIN
    return Window(low, high, Scale(0) if high > WIDE * low else scale_of([high]))


def _frame(axes: Axes, window: Window, *, title: str, target: str) -> None:
    unit = f", {window.scale.unit}" if window.scale.exponent else ""
    style(
        axes,
        x_label=f"True FLOP ({target}){unit}",
        y_label=f"Estimated FLOP{unit}",
        title=literal(title),
    )
    axes.set(xscale="log", yscale="log", xlim=(window.low, window.high), ylim=(window.low, window.high))
    axes.set_aspect("equal")
    ticks = logarithmic_ticks(window.low, window.high)
    labels = [_tick_text(tick, window.scale) for tick in ticks]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, labels)
        axis.set_ticks([], minor=True)


def _tick_text(tick: float, scale: Scale) -> str:
    exponent = log10(tick)
    if scale.exponent:
        return f"{tick / 10.0**scale.exponent:g}"
    return power_text(round(exponent)) if isclose(exponent, round(exponent)) else number_text(tick)


def _wedges(axes: Axes, window: Window) -> None:
    ends = np.array([window.low, window.high])
    for inner, outer, opacity in WEDGES:
        for sign in (-1, 1):
            edges = ends * (1 + sign * inner), ends * (1 + sign * outer)
            drawn = axes.fill_between(ends, *edges, color=BAND, alpha=opacity, linewidth=0)
        drawn.set_label(f"within ±{100 * outer:.0f} %")
    axes.plot(ends, ends, color=INK, linewidth=0.8, label="exact")


def _dots(axes: Axes, window: Window, dots: WorkloadMedians, idents: Sequence[str]) -> None:
    far = _is_far(dots)
    heights = np.clip(dots.point_flop, window.low, window.high)
    for number, family in enumerate(np.unique(dots.families).tolist()):
        colour, marker = series_look(number)
        for pinned, face, edge in ((False, colour, PAPER), (True, "none", colour)):
            rows = np.flatnonzero((dots.families == family) & (far == pinned))
            drawn = axes.scatter(
                dots.truth_flop[rows],
                heights[rows],
                s=DOT_POINTS_SQUARED,
                marker=marker,
                facecolors=face,
                edgecolors=edge,
                linewidths=1.2 if pinned else 0.5,
                clip_on=False,
                zorder=3,
                label=None if pinned else literal(family),
            )
            drawn.set_urls([f"#{idents[row]}" for row in rows.tolist()])


def series_look(number: int) -> tuple[str, str]:
    """Return colour and marker of a series; from the ninth on, known colours meet other markers."""
    turn, place = divmod(number, len(SERIES))
    return SERIES[place], MARKERS[(place + turn) % len(MARKERS)]


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    style_legend(figure.legend(handles, labels, loc="outside right upper", fontsize=SMALL_POINTS))
