"""The total of a scope against thresholds and claims, by convention, on a logarithmic axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from flopwitness.app.report.canvas import (
    FONT_POINTS,
    SMALL_POINTS,
    Plate,
    blank_figure,
    logarithmic_ticks,
    shortened,
    style,
    style_legend,
)
from flopwitness.app.report.palette import INK, MUTED, PAPER, SERIES
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_flags import (
    FLAG_ROWS,
    GONE,
    PROPOSED,
    Flag,
    draw_lines,
    draw_texts,
    flags_of,
)
from flopwitness.app.report.scope_looks import UNSEEN_HATCH
from flopwitness.app.report.scope_wording import amount_text, drawn, flop_number, flop_text
from flopwitness.core.account import Amount

WIDTH_INCHES = 8.6
ROW_INCHES = 0.46
BAR_ROWS = 0.36
NAME_CHARACTERS = 34
LINES_TOP = -0.8
"""Where the lowest flag is, in rows above the first."""

ROOM_FACTOR = 2.5
"""Room at either end of the axis."""

CLOSE_FACTOR = 1.25
CLOSE_SHARE_RATIO = 0.3
"""A close-up is drawn where what it shows takes less than this share of the axis."""


@dataclass(frozen=True, slots=True)
class BarRow:
    """One bar: the convention, what was observed, and that with what nobody saw."""

    name: str
    title: str
    observed: Amount
    total: Amount


def rows_of(content: ScopeContent) -> tuple[BarRow, ...]:
    """Return a row for each convention; the account as it was measured where nothing was converted."""
    if not content.counted:
        account = content.account
        return (BarRow(account.target.value, f"{account.target} FLOP", account.observed, account.total),)
    return tuple(
        BarRow(one.convention.name, one.convention.title, one.seen, one.whole) for one in content.counted
    )


def amounts_plate(content: ScopeContent, *, ident: str) -> Plate | None:
    """Return the figure of totals; None where nothing has a place on a logarithmic axis.

    Parameters
    ----------
    content : ScopeContent
        What to draw.
    ident : str
        What links name.
    """
    rows, flags = rows_of(content), flags_of(content)
    limits = axis_limits(rows, flags)
    if limits is None:
        return None
    close = close_limits(rows, flags, limits)
    heading = f"What {content.account.scope.name} took, against claims and thresholds"
    n_flags = FLAG_ROWS * len(flags) + 0.5
    heights = [len(rows) + n_flags, *([len(rows) + 0.4] if close else [])]
    inches = 1.5 + ROW_INCHES * sum(heights) + (0.6 if close else 0)
    alternative = f"{heading}. {description(rows, flags)}"
    figure = blank_figure(ident, alternative, width_inches=WIDTH_INCHES, height_inches=inches)
    panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    _panel(panels[0], rows, flags, limits, top=LINES_TOP)
    panels[0].set_ylim(len(rows) - 0.5, -0.5 - n_flags)
    draw_texts(panels[0], flags, top=LINES_TOP)
    if close:
        _panel(panels[1], rows, flags, close, top=-0.5)
        panels[1].set_ylim(len(rows) - 0.5, -0.6)
        panels[1].set_title("Close-up of what was measured", color=INK, fontsize=FONT_POINTS, loc="left")
    style_legend(figure.legend(handles=_handles(), loc="outside lower left", ncols=3, fontsize=SMALL_POINTS))
    return Plate(ident, heading, _caption(bool(close), has_claim=bool(content.claims)), figure)


def description(rows: Sequence[BarRow], flags: Sequence[Flag]) -> str:
    """Return the figure in words: every row, then every line."""
    said = [
        f"{row.title}: {amount_text(row.observed)} observed, with what nobody saw "
        f"up to {flop_text(row.total.high_flop)}, if hostile up to {flop_text(row.total.most_flop)}."
        for row in rows
    ]
    return " ".join([*said, *(f"Line: {flag.text}." for flag in flags)])


def _caption(has_close: bool, *, has_claim: bool) -> str:
    close = " The lower panel is the same, closer." if has_close else ""
    widest = (
        " A claim is weighed with the widest recomputation that is known to happen, so lower at the low end."
        if has_claim
        else ""
    )
    return (
        "One row a convention, below its name point and bounds in FLOP. Diamond: point; bar: low to high; "
        "hatched: what nobody observed can add; dotted: the most if workloads were made to be under-counted, "
        "with an arrow where there is no bound. Upright lines: claims and limits, thick in the row by which "
        "the claim or rule counts. Shaded: the margin of a claim. Work that may not count is left out at the "
        f"low end. A bar that starts at the left edge has no lower bound.{widest}{close}"
    )


def axis_limits(rows: Sequence[BarRow], flags: Sequence[Flag]) -> tuple[float, float] | None:
    """Return the ends of the axis: everything positive and finite, with room; None where nothing is."""
    counts = [count for row in rows for count in _counts(row)] + [end for flag in flags for end in flag.ends]
    shown = [count for count in counts if count > 0 and isfinite(count)]
    return (min(shown) / ROOM_FACTOR, max(shown) * ROOM_FACTOR) if shown else None


def close_limits(
    rows: Sequence[BarRow], flags: Sequence[Flag], limits: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the ends of a close-up on bars and claims; None where they fill the figure or are nothing."""
    counts = [count for row in rows for count in (row.observed.low_flop, row.observed.high_flop)]
    counts += [end for flag in flags if flag.margin_ratio for end in flag.ends]
    shown = [count for count in counts if count > 0 and isfinite(count)]
    if not shown:
        return None
    close = min(shown) / CLOSE_FACTOR, max(shown) * CLOSE_FACTOR
    return close if _decades(close) < CLOSE_SHARE_RATIO * _decades(limits) else None


def _decades(limits: tuple[float, float]) -> float:
    return log10(limits[1] / limits[0])


def _counts(row: BarRow) -> tuple[float, ...]:
    seen, total = row.observed, row.total
    return seen.low_flop, seen.point_flop, seen.high_flop, total.high_flop, total.most_flop


def _panel(
    axes: Axes, rows: Sequence[BarRow], flags: Sequence[Flag], limits: tuple[float, float], *, top: float
) -> None:
    style(axes, x_label="FLOP (a count, logarithmic)", y_label="")
    axes.grid(visible=False, axis="y")
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.xaxis.set_major_locator(FixedLocator(logarithmic_ticks(*limits)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: drawn(flop_number(value))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(rows)), [_row_name(row) for row in rows])
    inside = [flag for flag in flags if limits[0] <= flag.flop <= limits[1]]
    draw_lines(axes, inside, [row.name for row in rows], top=top)
    for place, row in enumerate(rows):
        _bar(axes, place, row, limits)


def _row_name(row: BarRow) -> str:
    seen = row.observed
    values = f"{flop_number(seen.point_flop)} ({flop_number(seen.low_flop)} to {flop_number(seen.high_flop)})"
    return f"{drawn(shortened(row.title, NAME_CHARACTERS))}\n{drawn(values)}"


def _bar(axes: Axes, place: int, row: BarRow, limits: tuple[float, float]) -> None:
    """Draw what was seen, above it what nobody saw, then the most that a hostile workload can have hidden."""
    least, largest = limits
    low, point, high, unseen, most = (min(max(count, least), largest) for count in _counts(row))
    axes.barh(
        place,
        unseen - high,
        left=high,
        height=BAR_ROWS,
        facecolor="none",
        edgecolor=MUTED,
        hatch=UNSEEN_HATCH,
        linewidth=0.8,
        zorder=2,
    )
    axes.barh(
        place,
        high - low,
        left=low,
        height=BAR_ROWS,
        facecolor=SERIES[0],
        edgecolor=INK,
        linewidth=0.8,
        zorder=3,
    )
    axes.plot([unseen, most], [place, place], color=INK, linewidth=1.2, linestyle=":", zorder=3)
    is_open = row.total.most_flop > largest
    axes.plot(
        [most], [place], marker=">" if is_open else "|", color=INK, markersize=6, zorder=4, clip_on=False
    )
    if least <= row.observed.point_flop <= largest:
        axes.plot(
            [point],
            [place],
            marker="D",
            markersize=5,
            color=INK,
            markerfacecolor=PAPER,
            markeredgecolor=INK,
            zorder=5,
        )


def _handles() -> list[Patch | Line2D]:
    """Return the legend's samples."""
    return [
        Patch(facecolor=SERIES[0], edgecolor=INK, label="observed, low to high"),
        Patch(facecolor="none", edgecolor=MUTED, hatch=UNSEEN_HATCH, label="unobserved, at most"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="at most, if hostile"),
        Line2D([], [], color=INK, linewidth=2.0, label="claim"),
        Line2D([], [], color=SERIES[1], linewidth=1.3, label="rule in force"),
        Line2D(
            [],
            [],
            color=SERIES[1],
            linewidth=PROPOSED[0],
            linestyle=PROPOSED[1],
            label="proposal, enacted or indicative",
        ),
        Line2D(
            [], [], color=SERIES[1], linewidth=GONE[0], linestyle=GONE[1], label="never or no longer in force"
        ),
    ]
