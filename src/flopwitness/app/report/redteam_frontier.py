"""What hiding costs: hidden FLOP against extra GPU time, from the point and from the high bound."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from flopwitness.app.report.canvas import SMALL_POINTS, Plate, blank_figure, literal, style
from flopwitness.app.report.palette import INK, MUTED, PAPER, SERIES
from flopwitness.redteam.cost import BUDGET_RATIO
from flopwitness.redteam.frontier import EFFECTIVE_RATIO, Figure, hidden_ratio, pareto_front
from flopwitness.redteam.scoring import Effect

PANEL_INCHES = 4.2
DOT_POINTS_SQUARED = 26.0
MOST_NAMES = 6
"""Settings that are named, those that hide most."""

TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


def frontier_plate(effects: Sequence[Effect], method: str, *, ident: str) -> Plate | None:
    """Return the frontier of one method; None where no attack on it has a known cost."""
    own = [
        effect
        for effect in effects
        if effect.method == method
        and np.isfinite([effect.cost.gpu_time_ratio, effect.signed_error_ratio]).all()
    ]
    if not own:
        return None
    heading = f"What hiding from {method} costs"
    figure = blank_figure(ident, heading, width_inches=2 * PANEL_INCHES, height_inches=PANEL_INCHES)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, shown in zip(panels, Figure, strict=True):
        _panel(axes, own, shown)
    panels[0].set_ylabel("Hidden FLOP (% of the truth)", color=INK, fontsize=SMALL_POINTS)
    caption = (
        "One mark a setting of an attack, median of its traces; those that hide most are named. Hollow, "
        f"right of the dashed line: more than {BUDGET_RATIO:g} times the benign GPU time at equal executed "
        f"FLOP. The dotted line: {100 * EFFECTIVE_RATIO:.0f} % hidden. The line joins settings that none "
        "beats in both; settings of unknown cost are left out."
    )
    return Plate(ident, heading, caption, figure)


def _panel(axes: Axes, effects: Sequence[Effect], shown: Figure) -> None:
    x_label = "GPU time at equal executed FLOP (times the twin's)"
    style(axes, x_label=x_label, y_label="", title=f"From the {shown}")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(BUDGET_RATIO, color=MUTED, linewidth=0.9, linestyle="--")
    axes.axhline(100 * EFFECTIVE_RATIO, color=MUTED, linewidth=0.9, linestyle=":")
    for is_allowed in (True, False):
        own = [effect for effect in effects if effect.cost.is_in_budget == is_allowed]
        axes.scatter(
            [effect.cost.gpu_time_ratio for effect in own],
            [100 * hidden_ratio(effect, shown) for effect in own],
            s=DOT_POINTS_SQUARED,
            facecolors=SERIES[0] if is_allowed else PAPER,
            edgecolors=SERIES[0],
            linewidths=0.8,
            zorder=3,
        )
    front = pareto_front(effects, shown)
    axes.plot(
        [effect.cost.gpu_time_ratio for effect in front],
        [100 * hidden_ratio(effect, shown) for effect in front],
        color=INK,
        linewidth=0.8,
        drawstyle="steps-post",
        zorder=2,
    )
    hiding = sorted((one for one in effects if hidden_ratio(one, shown) > 0), key=_hides(shown))
    for effect in hiding[-MOST_NAMES:]:
        axes.annotate(
            literal(effect.configuration),
            (effect.cost.gpu_time_ratio, 100 * hidden_ratio(effect, shown)),
            xytext=(5, 4),
            textcoords="offset points",
            color=INK,
            fontsize=SMALL_POINTS - 1,
        )


def _hides(shown: Figure) -> Callable[[Effect], float]:
    return lambda effect: hidden_ratio(effect, shown)
