"""The two figures of the experiment that are diagrams, redrawn for what this repository does."""

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flopwitness.app.report.canvas import SMALL_POINTS, blank_figure
from flopwitness.app.report.palette import INK, MUTED, SERIES

Box = tuple[float, float, str, str]
"""Place from left and from below, in boxes; words; colour of the frame."""

Arrow = tuple[int, int]
"""From which box to which, by number."""

BOX_WIDTH, BOX_HEIGHT, LINE_HEIGHT = 0.78, 0.62, 0.13


def pipeline(ident: str) -> Figure:
    """Draw figure 1: calibrate once, freeze, monitor each workload."""
    boxes = [
        (0, 1, "runs of known FLOP\n(FlopCounterMode\n× steps × GPUs)", MUTED),
        (1, 1, "flopwitness calibrate\nfits once", SERIES[0]),
        (2, 1, "calibration file,\nfrozen", INK),
        (0, 0, "GPU telemetry\n10 Hz, by UUID", MUTED),
        (1, 0, "detect, stitch\nactivity, not\nutilisation alone", SERIES[0]),
        (2, 0, "one row a workload\nenergy, bytes,\npipe cycles", SERIES[0]),
        (3, 0, "FLOP with bounds\nflopwitness watch", SERIES[0]),
    ]
    return _diagram(ident, "Pipeline", boxes, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (2, 6)])


def networks(ident: str) -> Figure:
    """Draw figure 4: the pure network, and the one that corrects power alone."""
    boxes = [
        (0, 1, "ln E, ln t, ln D, ln N,\nln P, ln E/D, ln N/D", MUTED),
        (1, 1, "two hidden layers\n32 units, ReLU", SERIES[0]),
        (3, 1, "FLOP\n(mlp)", INK),
        (0, 0, "ln P, ln E/D, ln N/D,\nln D/t, ln N/t, ln t", MUTED),
        (1, 0, "two hidden layers\n32 units, ReLU", SERIES[0]),
        (2, 0, "× power-only\nestimate", SERIES[0]),
        (3, 0, "FLOP\n(mlp-residual)", INK),
    ]
    return _diagram(ident, "Both networks", boxes, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)])


def _diagram(ident: str, label: str, boxes: Sequence[Box], arrows: Iterable[Arrow]) -> Figure:
    figure = blank_figure(ident, label, width_inches=8.2, height_inches=2.4)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set(xlim=(-0.5, 3.5), ylim=(-0.45, 1.45))
    for left, bottom, words, colour in boxes:
        _box(axes, left, bottom, words, colour=colour)
    for start, stop in arrows:
        _arrow(axes, boxes[start], boxes[stop])
    return figure


def _box(axes: Axes, left: float, bottom: float, words: str, *, colour: str) -> None:
    corner = left - BOX_WIDTH / 2, bottom - BOX_HEIGHT / 2
    axes.add_patch(
        Rectangle(corner, BOX_WIDTH, BOX_HEIGHT, facecolor="none", edgecolor=colour, linewidth=1.2)
    )
    lines = words.split("\n")
    for number, line in enumerate(lines):
        height = bottom + LINE_HEIGHT * ((len(lines) - 1) / 2 - number)
        axes.text(left, height, line, ha="center", va="center", color=INK, fontsize=SMALL_POINTS)


def _arrow(axes: Axes, start: Box, stop: Box) -> None:
    down = start[1] > stop[1]
    tail = (start[0] + BOX_WIDTH / 2, start[1])
    head = (stop[0], stop[1] + BOX_HEIGHT / 2) if down else (stop[0] - BOX_WIDTH / 2, stop[1])
    axes.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.0})
