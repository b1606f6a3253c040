"""The figures of docs/results.md, drawn from the answers alone; light and dark, in the report's palette."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from results_cases import COMPARED

from flopwitness.app.report.bars import mark_published
from flopwitness.app.report.canvas import (
    SMALL_POINTS,
    blank_figure,
    literal,
    logarithmic_ticks,
    style,
    style_legend,
)
from flopwitness.app.report.palette import BAND, DARK, INK, LIGHT, LINES, MARKERS, MUTED, PAPER, SERIES
from flopwitness.app.report.published import OURS, PUBLISHED
from flopwitness.app.report.scatter import WEDGES, series_look
from flopwitness.app.svg import inline_svg

PETA, TERA = 1e15, 1e12
PANEL_INCHES = 3.6
MARGIN = 1.12
PIXELS_PER_INCH = 110
"""How large a figure is on a page."""

Rows = Sequence[Mapping[str, Any]]


def standalone(figure: Figure) -> str:
    """Return a figure as an SVG file that follows the reader's light or dark page."""
    drawn = inline_svg(figure)
    light, dark = (
        ";".join(f"--{name}:{colour}" for name, colour in theme.items()) for theme in (LIGHT, DARK)
    )
    sheet = (
        f"<style>svg{{{light};background:var(--paper);font-family:sans-serif}}"
        f"@media (prefers-color-scheme:dark){{svg{{{dark}}}}}</style>"
    )
    width, height = (round(inches * PIXELS_PER_INCH) for inches in figure.get_size_inches())
    opening, rest = drawn.split(">", 1)
    opening += f' width="{width}" height="{height}"'
    if "xmlns=" not in opening:
        opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{opening}>{sheet}{rest}\n"


def dots(ident: str, answer: Mapping[str, Any], estimators: Sequence[str]) -> Figure:
    """Draw the median estimate of each held-out workload against its truth, a panel an estimator."""
    figure = _wide(ident, f"Estimates against truth: {', '.join(estimators)}", len(estimators))
    truth = np.array([row["truth_flop"] for row in answer["workloads"]]) / PETA
    window = float(truth.min()) / MARGIN**2, float(truth.max()) * MARGIN**2
    families = sorted({row["family"] for row in answer["workloads"]})
    panels = figure.subplots(1, len(estimators), squeeze=False)[0]
    for axes, name in zip(panels, estimators, strict=True):
        error = 100 * answer["estimators"][name]["median_abs_error_ratio"]
        title = f"{name}: median error {error:.1f} %"
        style(
            axes,
            x_label=f"True FLOP ({answer['target']}), 10¹⁵",
            y_label="Estimated FLOP, 10¹⁵",
            title=title,
        )
        axes.set(xscale="log", yscale="log", xlim=window, ylim=window)
        axes.set_aspect("equal")
        _plain_log(axes, window, window)
        _wedges(axes, window)
        for number, family in enumerate(families):
            _family(axes, [row for row in answer["workloads"] if row["family"] == family], name, number)
    _legend(figure, panels[0])
    return figure


def bars(ident: str, answer: Mapping[str, Any]) -> Figure:
    """Draw the median error of every estimator on equal folds beside the published ones."""
    figure = blank_figure(
        ident, "Median error of the estimators on equal folds", width_inches=6.6, height_inches=3.4
    )
    axes = figure.add_subplot()
    style(axes, x_label=f"Median absolute error, {answer['target']} FLOP (%)", y_label="")
    axes.grid(visible=False, axis="y")
    names = list(answer["estimators"])
    axes.set_yticks(range(len(names)), [f"{name} (ours)" if name in OURS else name for name in names])
    axes.invert_yaxis()
    for place, name in enumerate(names):
        _bar(axes, place, answer["estimators"][name], is_ours=name in OURS)
    _diamonds(axes, names)
    style_legend(figure.legend(loc="outside lower right", fontsize=SMALL_POINTS))
    return figure


def _bar(axes: Axes, place: int, found: Mapping[str, Any], *, is_ours: bool) -> None:
    median = 100 * found["median_abs_error_ratio"]
    spread = found["median_abs_error_ratio_interval"]
    ends = [100 * spread["low_ratio"], 100 * spread["high_ratio"]]
    look = {"color": SERIES[0]} if is_ours else {"color": MUTED, "alpha": 0.55}
    axes.barh(place, median, height=0.6, **look)
    axes.plot(ends, [place, place], color=INK, linewidth=1.1, marker="|", markersize=6)
    at = max(*ends, median), place
    words = axes.annotate(f"{median:.1f} %", at, xytext=(5, 0), textcoords="offset points", va="center")
    words.set(color=INK, fontsize=SMALL_POINTS)


def _diamonds(axes: Axes, names: Sequence[str]) -> None:
    told = [(place, PUBLISHED[name].folds_ratio) for place, name in enumerate(names) if name in PUBLISHED]
    places = [(place, 100 * ratio) for place, ratio in told if ratio is not None]
    mark_published(axes, places, label="published: 2 × V100, their data")


def at_the_cap(ident: str, workloads: Rows, answer: Mapping[str, Any]) -> Figure:
    """Draw what boards at their cap still tell: work done against power, and the error of power alone."""
    figure = _wide(ident, "Work, power and the error of power alone", 2)
    left, right = figure.subplots(1, 2)
    points = {
        row["name"]: row["point_flop"]["linear-power"] / row["truth_flop"] for row in answer["workloads"]
    }
    style(left, x_label="Mean board power (W)", y_label="True executed FLOP per second and GPU, 10¹²")
    style(right, x_label="True executed FLOP per second and GPU, 10¹²", y_label="Error of linear-power (%)")
    right.axhline(0, color=INK, linewidth=0.8)
    kinds = (("at the cap ≥ 90 % of the time", 0.9, 2.0), ("less", -1.0, 0.9))
    for number, (label, low, high) in enumerate(kinds):
        rows = [row for row in workloads if low <= row["capped_ratio"] < high]
        colour, marker = series_look(number)
        look = {
            "color": colour,
            "marker": marker,
            "s": 18,
            "edgecolors": PAPER,
            "linewidths": 0.4,
            "label": label,
        }
        rate = [row["flop_per_second"] / TERA for row in rows]
        left.scatter([row["board_watts"] for row in rows], rate, **look)
        known = [row for row in rows if row["name"] in points]
        errors = [100 * (points[row["name"]] - 1) for row in known]
        right.scatter([row["flop_per_second"] / TERA for row in known], errors, **look)
    left.set_xlim(0, 760)
    left.set_ylim(bottom=0)
    _legend(figure, left)
    return figure


def curves(ident: str, panels: Mapping[str, Mapping[str, Rows]], *, x: str, x_label: str) -> Figure:
    """Draw median errors against a setting, a panel a title, a line an estimator, a band where there is one.

    Parameters
    ----------
    ident : str
        Name of the figure.
    panels : mapping of str to mapping of str to rows
        By title and estimator: rows with ``median_abs_error_ratio``, the setting and, for a band,
        ``low_ratio`` and ``high_ratio``.
    x, x_label : str
        Key of the setting, and how the axis is called.
    """
    figure = _wide(ident, f"Median error against {x_label}", len(panels))
    drawn = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, lines) in zip(drawn, panels.items(), strict=True):
        style(axes, x_label=x_label, y_label="Median absolute error (%)", title=title)
        axes.set(xscale="log", yscale="log")
        for name, rows in lines.items():
            _line(axes, name, rows, x)
        settings = sorted({row[x] for rows in lines.values() for row in rows})
        axes.set_xticks(settings, [f"{setting:g}" for setting in settings])
        axes.xaxis.set_minor_formatter(NullFormatter())
        ticks = logarithmic_ticks(*axes.get_ylim())
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.yaxis.set_minor_formatter(NullFormatter())
    _legend(figure, drawn[0])
    return figure


def _line(axes: Axes, name: str, rows: Rows, x: str) -> None:
    number = COMPARED.index(name)
    places = [row[x] for row in rows]
    axes.plot(
        places,
        [100 * row["median_abs_error_ratio"] for row in rows],
        color=SERIES[number],
        linestyle=LINES[number % len(LINES)],
        marker=MARKERS[number],
        markersize=4,
        linewidth=1.2,
        label=name,
    )
    if "low_ratio" in rows[0]:
        ends = [[100 * row[end] for row in rows] for end in ("low_ratio", "high_ratio")]
        axes.fill_between(places, *ends, color=SERIES[number], alpha=0.15, linewidth=0)


def _wide(ident: str, label: str, n_panels: int) -> Figure:
    return blank_figure(ident, label, width_inches=PANEL_INCHES * n_panels + 2.0, height_inches=PANEL_INCHES)


def _plain_log(axes: Axes, x_window: tuple[float, float], y_window: tuple[float, float]) -> None:
    for axis, window in ((axes.xaxis, x_window), (axes.yaxis, y_window)):
        ticks = logarithmic_ticks(*window)
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks([], minor=True)


def _wedges(axes: Axes, window: tuple[float, float]) -> None:
    ends = np.array(window)
    for inner, outer, opacity in WEDGES:
        for sign in (-1, 1):
            edges = ends * (1 + sign * inner), ends * (1 + sign * outer)
            drawn = axes.fill_between(ends, *edges, color=BAND, alpha=opacity, linewidth=0)
        drawn.set_label(f"within ±{100 * outer:.0f} %")
    axes.plot(ends, ends, color=INK, linewidth=0.8, label="exact")


def _family(axes: Axes, rows: Rows, estimator: str, number: int) -> None:
    colour, marker = series_look(number)
    truth = np.array([row["truth_flop"] for row in rows]) / PETA
    given = [row["point_flop"][estimator] for row in rows]
    point = np.array([np.inf if flop is None else flop for flop in given]) / PETA
    heights = np.clip(point, *axes.get_ylim())
    axes.scatter(
        truth,
        heights,
        s=20,
        marker=marker,
        facecolors=colour,
        edgecolors=PAPER,
        linewidths=0.5,
        clip_on=False,
        zorder=3,
        label=literal(rows[0]["family"]),
    )


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    style_legend(figure.legend(handles, labels, loc="outside right upper", fontsize=SMALL_POINTS))
