"""Detected jobs over time: one line a detector, benign twins first (the experiment's figure 8)."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from flopwitness.app.report.canvas import SMALL_POINTS, Plate, blank_figure, literal, style
from flopwitness.app.report.palette import BAND, INK, MUTED, SERIES
from flopwitness.app.report.redteam_content import Lane, Span
from flopwitness.app.report.wording import counted_text

WIDTH_INCHES = 9.0
LINE_INCHES = 0.24
GROUP_INCHES = 0.28
BAR_HEIGHT = 0.62


def jobs_plate(lanes: Sequence[Lane], *, ident: str) -> Plate | None:
    """Return the time line; None where there is no run to show."""
    if not lanes:
        return None
    heading = "Jobs that detectors found in a benign, a split and a throttled run (the experiment's figure 8)"
    n_lines = sum(1 + len(lane.found) for lane in lanes)
    figure = blank_figure(
        ident, heading, width_inches=WIDTH_INCHES, height_inches=0.7 + LINE_INCHES * n_lines + GROUP_INCHES
    )
    axes = figure.add_subplot()
    style(axes, x_label="Seconds after the start of the run", y_label="")
    axes.grid(visible=False, axis="y")
    places, names = [], []
    line = 0
    for lane in lanes:
        for name, spans in {"the run": (Span(0.0, lane.run_seconds),), **lane.found}.items():
            _bars(axes, line, spans, colour=_colour(name, lane))
            places.append(line)
            names.append(f"{lane.name}, {name}")
            if name != "the run":
                _count(axes, line, spans)
            line += 1
    axes.set_yticks(places, [literal(name) for name in names])
    axes.set_ylim(line - 0.4, -0.6)
    return Plate(ident, heading, _caption(lanes), figure)


def _colour(name: str, lane: Lane) -> str:
    if name == "the run":
        return BAND
    return MUTED if lane.is_benign else SERIES[1]


def _bars(axes: Axes, line: int, spans: Sequence[Span], *, colour: str) -> None:
    axes.broken_barh(
        [(span.start_seconds, span.stop_seconds - span.start_seconds) for span in spans],
        (line - BAR_HEIGHT / 2, BAR_HEIGHT),
        facecolors=colour,
        edgecolors=INK,
        linewidth=0.6,
    )


def _count(axes: Axes, line: int, spans: Sequence[Span]) -> None:
    end = max([span.stop_seconds for span in spans], default=0.0)
    axes.annotate(
        counted_text(len(spans), "job") if spans else "no job",
        (end, line),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        color=INK,
        fontsize=SMALL_POINTS,
    )


def _caption(lanes: Sequence[Lane]) -> str:
    n_detectors = len(next(iter(lanes)).found)
    return (
        f"{counted_text(len(lanes), 'run')}, each with the jobs of {counted_text(n_detectors, 'detector')}. "
        "A job that began before the run or went on after it is cut at the edge."
    )
