"""The figures of docs/verdicts.md, drawn from the answers alone."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from results_figures import PANEL_INCHES
from verdicts_cells import Found
from verdicts_claims import DEFAULT, OVER, UNDER

from flopwitness.app.report.canvas import SMALL_POINTS, blank_figure, style, style_legend
from flopwitness.app.report.palette import INK, LINES, MARKERS, MUTED, PAPER, SERIES

CLAIMS = {OVER: "30 % more", "true": "the truth", **{name: f"{name[9:]} less" for name in UNDER}}
ANSWERS = {"consistent": (SERIES[0], 1.0), "inconclusive": (MUTED, 0.45), "inconsistent": (SERIES[1], 1.0)}
"""Colour and how opaque, in the order in which bars are stacked."""

CASES = ("executed", "algorithmic, no recomputation believed", "algorithmic, nothing declared")


def outcomes(found: Found) -> Figure:
    """Draw how each claim was answered, a panel a way of counting."""
    figure = _wide("verdicts-outcomes", "How claims were answered, by what was claimed", len(CASES))
    panels = figure.subplots(1, len(CASES), sharey=True)
    for axes, case in zip(panels, CASES, strict=True):
        style(axes, x_label="Claimed", y_label="Scopes (%)", title=case)
        axes.grid(visible=False, axis="x")
        _stack(axes, found["verdicts"][case][DEFAULT]["all"])
    handles, labels = panels[0].get_legend_handles_labels()
    style_legend(figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=SMALL_POINTS))
    return figure


def _stack(axes: Axes, said: Found) -> None:
    places = range(len(CLAIMS))
    below = [0.0] * len(CLAIMS)
    for answer, (colour, opacity) in ANSWERS.items():
        heights = [100 * said["claims"][claim][answer] / said["n_scopes"] for claim in CLAIMS]
        look = {"color": colour, "alpha": opacity, "edgecolor": PAPER, "width": 0.7}
        axes.bar(places, heights, bottom=below, label=answer, **look)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xticks(places, ["\n".join(words.rsplit(" ", 1)) for words in CLAIMS.values()])
    axes.tick_params(axis="x", labelsize=SMALL_POINTS - 1)
    axes.set_ylim(0, 100)


def reliability(found: Found) -> Figure:
    """Draw how often the likeliest class was right against the probability that was said."""
    figure = _wide("verdicts-reliability", "How often the likeliest class was right", 1)
    axes = figure.add_subplot()
    style(axes, x_label="Probability that was said (%)", y_label="Likeliest class was right (%)")
    axes.plot([33, 100], [33, 100], color=INK, linewidth=0.8, label="as said")
    axes.axvline(70, color=MUTED, linewidth=0.8, linestyle="--", label="no answer below")
    scored = {
        "families left out": found["ladder"]["family"],
        "mechanisms left out": found["ladder"]["mechanism"],
        "node i": found["once"],
    }
    for place, (name, scores) in enumerate(scored.items()):
        bins = scores["reliability"]
        points = [[100 * one[key] for one in bins] for key in ("mean_probability", "right_ratio")]
        look = {"color": SERIES[place], "marker": MARKERS[place], "linestyle": LINES[place % len(LINES)]}
        axes.plot(*points, **look, markersize=5, linewidth=1.2, label=name)
    axes.set(xlim=(33, 101), ylim=(-3, 103))
    style_legend(figure.legend(loc="outside right upper", fontsize=SMALL_POINTS))
    return figure


def _wide(ident: str, label: str, n_panels: int) -> Figure:
    return blank_figure(
        ident, label, width_inches=PANEL_INCHES * n_panels + 2.0 * (n_panels == 1), height_inches=PANEL_INCHES
    )
