"""Signed error against what an attack varies, on the benign band (the experiment's figure 9)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from flopwitness.app.report.canvas import SMALL_POINTS, Plate, blank_figure, literal, style
from flopwitness.app.report.palette import BAND, INK, SERIES
from flopwitness.app.report.redteam_content import SHOWN_METHODS
from flopwitness.app.report.redteam_tables import varied_texts
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.scoring import Effect

PANEL_INCHES = (1.75, 1.45)
"""Width and height of a panel."""

Bands = Mapping[str, tuple[float, float]]


def responses_plate(
    attacks: Sequence[Attack], effects: Sequence[Effect], bands: Bands, *, ident: str, heading: str
) -> Plate | None:
    """Return a row of panels an attack, one a method; None where no attack was run.

    Parameters
    ----------
    attacks : sequence of Attack
        What was varied, weakest first.
    effects : sequence of Effect
        What came of it.
    bands : mapping of str to tuple of float
        Low and high end of each method's benign signed errors.
    ident, heading : str
        What links name, and what it is.
    """
    shown = [one for one in attacks if any(effect.attack == one.name for effect in effects)]
    methods = [name for name in SHOWN_METHODS if any(effect.method == name for effect in effects)]
    if not shown or not methods:
        return None
    width, height = PANEL_INCHES
    figure = blank_figure(
        ident,
        heading,
        width_inches=0.8 + width * len(methods),
        height_inches=0.5 + height * len(shown),
    )
    grid = figure.subplots(len(shown), len(methods), squeeze=False, sharey="row")
    for row, attack in zip(grid, shown, strict=True):
        for axes, method in zip(row, methods, strict=True):
            own = [one for one in effects if one.attack == attack.name and one.method == method]
            _panel(axes, attack, own, bands.get(method))
        row[0].set_ylabel(f"{literal(attack.name)}\nerror (%)", color=INK, fontsize=SMALL_POINTS)
    for axes, method in zip(grid[0], methods, strict=True):
        axes.set_title(literal(method), color=INK, fontsize=SMALL_POINTS, loc="left")
    caption = (
        "Median signed error of each setting; the hollow mark is the benign twin, and minus hides FLOP. "
        "Grey: the 5th to the 95th percentile of benign signed errors of that estimator."
    )
    return Plate(ident, heading, caption, figure)


def _panel(axes: Axes, attack: Attack, effects: Sequence[Effect], band: tuple[float, float] | None) -> None:
    style(axes, x_label="", y_label="")
    if band is not None and np.isfinite(band).all():
        axes.axhspan(100 * band[0], 100 * band[1], color=BAND, alpha=0.28, linewidth=0)
    axes.axhline(0, color=INK, linewidth=0.6)
    texts = varied_texts(attack)
    labels = [texts.twin, *(texts.strengths.get(one.strength, one.strength) for one in effects)]
    errors = [
        100 * one.signed_error_ratio if np.isfinite(one.signed_error_ratio) else np.nan for one in effects
    ]
    axes.plot(range(1, len(errors) + 1), errors, color=SERIES[0], marker="o", markersize=3.5, linewidth=1)
    twin = effects[0].twin_error_ratio if effects else float("nan")
    axes.plot([0], [100 * twin], color=SERIES[0], marker="o", markersize=4.5, markerfacecolor="none")
    axes.set_xticks(range(len(labels)), [literal(label) for label in labels], rotation=35, ha="right")
    axes.tick_params(axis="x", labelsize=SMALL_POINTS - 1.5)
    axes.set_xlim(-0.4, len(labels) - 0.6)
