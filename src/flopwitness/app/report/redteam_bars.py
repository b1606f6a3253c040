"""How far attacks move estimators: benign twin to the strongest setting (the experiment's figure 7)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from flopwitness.app.report.canvas import SMALL_POINTS, Plate, blank_figure, literal, style, style_legend
from flopwitness.app.report.palette import INK, MUTED, SERIES
from flopwitness.app.report.published import OURS
from flopwitness.app.report.redteam_content import SHOWN_METHODS
from flopwitness.app.report.wording import MINUS, counted_text
from flopwitness.redteam.scoring import Effect

WIDTH_INCHES = 8.6
BAR_INCHES = 0.15
GROUP_RATIO = 0.82
"""Share of a group's room that its bars take."""

ROOM_RATIO = 0.12
"""Room at either end for figures, as a share of what bars reach."""
LOOKS = ((MUTED, 0.3), (MUTED, 0.55), (MUTED, 0.85), (SERIES[1], 1.0), (SERIES[0], 1.0))
"""Colour and opacity of each method; without colour, the order in a group is that of the legend."""


def farthest(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return for each attack and method the setting that moves it farthest."""
    found: dict[tuple[str, str], Effect] = {}
    for effect in effects:
        if not np.isfinite(effect.movement_ratio):
            continue
        best = found.get((effect.attack, effect.method))
        if best is None or abs(effect.movement_ratio) > abs(best.movement_ratio):
            found[effect.attack, effect.method] = effect
    return tuple(found.values())


def movement_plate(effects: Sequence[Effect], *, ident: str, heading: str) -> Plate | None:
    """Return grouped bars, a group an attack; None where no attack has a twin to move away from.

    Parameters
    ----------
    effects : sequence of Effect
        Of any settings and methods; the farthest movement of each method is drawn.
    ident, heading : str
        What links name, and what it is.
    """
    drawn = farthest(effects)
    attacks = list(dict.fromkeys(effect.attack for effect in drawn))
    methods = [name for name in SHOWN_METHODS if any(effect.method == name for effect in drawn)]
    if not attacks or not methods:
        return None
    height_inches = 1.2 + BAR_INCHES * len(attacks) * (len(methods) + 1)
    figure = blank_figure(ident, heading, width_inches=WIDTH_INCHES, height_inches=height_inches)
    axes = figure.add_subplot()
    style(axes, x_label="Change in signed error, benign twin to the farthest setting (points)", y_label="")
    axes.grid(visible=False, axis="y")
    for method in methods:
        _method_bars(axes, methods, method, drawn, attacks=attacks)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(attacks)), [literal(name) for name in attacks])
    axes.set_ylim(len(attacks) - 0.5, -0.5)
    axes.set_xlim(*_reach([100 * one.movement_ratio for one in drawn if one.method in methods]))
    style_legend(figure.legend(loc="outside lower center", ncols=len(methods), fontsize=SMALL_POINTS))
    caption = (
        "Median signed error under the setting that moves an estimator farthest, less that of the benign "
        "twin; minus hides FLOP. Estimators were frozen before. "
        f"{counted_text(len(attacks), 'attack')}; one without a twin is left out."
    )
    return Plate(ident, heading, caption, figure)


def _reach(points: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: every bar from 0, with room for the figure at its end."""
    low, high = min(0.0, *points), max(0.0, *points)
    room = ROOM_RATIO * (high - low) or 1.0
    return low - room, high + room


def _method_bars(
    axes: Axes, methods: Sequence[str], method: str, drawn: Sequence[Effect], *, attacks: Sequence[str]
) -> None:
    """Draw one method's bar in each group, with its figure at the end."""
    height = GROUP_RATIO / len(methods)
    offset = (methods.index(method) - (len(methods) - 1) / 2) * height
    own = [effect for effect in drawn if effect.method == method]
    rows = [attacks.index(effect.attack) + offset for effect in own]
    points = [100 * effect.movement_ratio for effect in own]
    colour, opacity = LOOKS[SHOWN_METHODS.index(method)]
    axes.barh(
        rows,
        points,
        height=height,
        color=colour,
        alpha=opacity,
        edgecolor=INK,
        linewidth=0.4,
        label=literal(f"{method} (ours)" if method in OURS else method),
    )
    for row, moved in zip(rows, points, strict=True):
        axes.annotate(
            f"{moved:+.1f}".replace("-", MINUS),
            (moved, row),
            xytext=(4 if moved >= 0 else -4, 0),
            textcoords="offset points",
            va="center",
            ha="left" if moved >= 0 else "right",
            color=INK,
            fontsize=SMALL_POINTS - 1.5,
        )
