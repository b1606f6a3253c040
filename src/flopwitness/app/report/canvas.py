"""Blank figures and axes in the house style. Draws in stand-in colours; needs no global setting."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from flopwitness.app.report.palette import GRID, INK

FONT_POINTS = 8.5
SMALL_POINTS = 7.5

NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
COARSE = (1.0, 2.0, 5.0)
MOST_TICKS = 7

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories without a shape: controls, marks of direction, halves of pairs, the unassigned."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure with what stands around it on the page.

    Attributes
    ----------
    ident : str
        What a link to it names; also the root of every name inside its drawing.
    heading : str
        What it is, in a few words.
    caption : str
        What it shows, of which data, counted how.
    figure : Figure
        The drawing, in stand-in colours.
    """

    ident: str
    heading: str
    caption: str
    figure: Figure


def blank_figure(ident: str, label: str, *, width_inches: float, height_inches: float) -> Figure:
    """Return an empty figure that carries its name and what a screen reader calls it."""
    figure = Figure(figsize=(width_inches, height_inches), layout="constrained", facecolor="none")
    figure.set_gid(ident)
    figure.set_label(label)
    return figure


def style(axes: Axes, *, x_label: str, y_label: str, title: str = "") -> None:
    """Give axes their names, their colours and a grid that stands back."""
    axes.set_facecolor("none")
    axes.set_axisbelow(True)
    axes.grid(visible=True, color=GRID, linewidth=0.6)
    axes.tick_params(which="both", color=GRID, labelcolor=INK, labelsize=SMALL_POINTS)
    for side, spine in axes.spines.items():
        spine.set_color(INK)
        spine.set_linewidth(0.7)
        spine.set_visible(side in ("left", "bottom"))
    axes.set_xlabel(x_label, color=INK, fontsize=FONT_POINTS)
    axes.set_ylabel(y_label, color=INK, fontsize=FONT_POINTS, rotation_mode="anchor")
    axes.set_title(title, color=INK, fontsize=FONT_POINTS, loc="left")


def style_legend(legend: Legend) -> None:
    """Set the words of a legend in ink, without a box."""
    legend.set_frame_on(False)
    for text in legend.get_texts():
        text.set_color(INK)


def literal(text: str) -> str:
    r"""Return text that is drawn as it is: a dollar sign starts no formula, a control character does nothing.

    Examples
    --------
    >>> print(literal("cost $5"))
    cost \$5
    """
    shown = [REPLACEMENT if unicodedata.category(letter) in UNSEEN else letter for letter in text]
    return "".join(shown).replace("$", r"\$")


def shortened(text: str, n_most: int) -> str:
    """Return text of at most so many characters; a longer one ends in an ellipsis.

    Examples
    --------
    >>> shortened("seq-2048-8-s16384", 8)
    'seq-204…'
    """
    return text if len(text) <= n_most else text[: n_most - 1] + "…"


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Return round numbers of a logarithmic axis, the finest set that is not crowded.

    Parameters
    ----------
    low, high : float
        Ends of the axis, 0 < low < high.

    Examples
    --------
    >>> logarithmic_ticks(1.2, 5.5), logarithmic_ticks(0.5, 5e3)
    ([1.5, 2.0, 3.0, 4.0, 5.0], [1.0, 10.0, 100.0, 1000.0])
    """
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for mantissas in (NICE, COARSE, (1.0,)):
        ticks = _within([mantissa * 10.0**decade for decade in decades for mantissa in mantissas], low, high)
        if len(ticks) <= MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // MOST_TICKS)]


def _within(ticks: Sequence[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low <= tick <= high]
