"""What a recording saw over time, with the sessions that were found in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from flopwitness.app.report.binning import extremes, with_gaps
from flopwitness.app.report.canvas import (
    SMALL_POINTS,
    Plate,
    blank_figure,
    literal,
    shortened,
    style,
    style_legend,
)
from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.palette import BAND, INK, LINES, SERIES
from flopwitness.app.report.session_tables import session_text
from flopwitness.app.report.wording import counted_text, device_key, instant_text
from flopwitness.core.recording import Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

WIDTH_INCHES = 10.8
PANEL_INCHES = 1.35
NAME_INCHES = 0.057
"""Length of a letter of a name."""

NAME_POINTS = 6.5
NAME_CHARACTERS = 26
NAME_STEP_RATIO = 0.0118
"""Least distance of two names, as a share of the axis: one line of their letters."""

LEGEND_COLUMNS = 4

MOST_POINTS = 11_000
"""Points a figure may have, so that its drawing stays well under 400 kB."""

FEWEST_BINS = 20
"""Of a line, however many devices share the points."""

TIME_UNITS = ((2 * 86_400, 86_400, "days"), (2 * 3_600, 3_600, "hours"), (600, 60, "minutes"))
"""From how many seconds on an axis counts in which unit."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One panel: its name with the unit, and the column it draws of a trace."""

    label: str
    column: Callable[[Trace], NDArray[np.float64]]


def power_watts(trace: Trace) -> NDArray[np.float64]:
    """Return board power: the momentary reading, or the mean where the source has no other."""
    name = "power_instant_watts" if "power_instant_watts" in trace else "power_watts"
    return trace.column(name)


def nvlink_gigabytes_per_second(trace: Trace) -> NDArray[np.float64]:
    """Return link traffic in both directions: steps of the counters, or the rates where there are none.

    The first sample of a counter has no step, and one that fell was reset: both are NaN.
    """
    if "nvlink_tx_bytes_total" in trace and "nvlink_rx_bytes_total" in trace:
        total = trace.column("nvlink_tx_bytes_total") + trace.column("nvlink_rx_bytes_total")
        rate = np.full(len(trace), np.nan)
        rate[1:] = np.diff(total) / (np.diff(trace.time_ns) / NANOSECONDS_PER_SECOND)
        rate[rate < 0] = np.nan
    else:
        rate = trace.column("nvlink_tx_bytes_per_second") + trace.column("nvlink_rx_bytes_per_second")
    return rate / 1e9


SIGNALS = (
    Signal("Power (W)", power_watts),
    Signal("Tensor pipes\nactive (%)", lambda trace: 100 * trace.column("tensor_active_ratio")),
    Signal("DRAM\nactive (%)", lambda trace: 100 * trace.column("dram_active_ratio")),
    Signal("NVLink, both\nways (GB/s)", nvlink_gigabytes_per_second),
)
"""Panels from top to bottom."""


def timeline_plate(recording: Recording, results: Sequence[SessionResult], *, ident: str) -> Plate | None:
    """Return the signals of a recording over time, one line a device; None where it holds no sample.

    Parameters
    ----------
    recording : Recording
        What to draw.
    results : sequence of SessionResult
        Sessions to mark and to name.
    ident : str
        What links name.
    """
    traces = [trace for trace in recording.traces if len(trace)]
    offered = [
        signal for signal in SIGNALS if any(np.isfinite(signal.column(trace)).any() for trace in traces)
    ]
    if not offered:
        return None
    clock = _clock(traces)
    heading = f"Time line of {recording.name}"
    caption = _caption(recording, results, offered)
    strip_inches = NAME_INCHES * max([3, *map(len, _short_names(results))])
    height_inches = strip_inches + 0.5 + PANEL_INCHES * len(offered)
    figure = blank_figure(ident, heading, width_inches=WIDTH_INCHES, height_inches=height_inches)
    ratios = [strip_inches, *[PANEL_INCHES] * len(offered)]
    strip, *panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    n_bins = max(MOST_POINTS // (2 * len(offered) * len(traces)), FEWEST_BINS)
    for axes, signal in zip(panels, offered, strict=True):
        _panel(axes, signal.label)
        _mark(axes, results, clock)
        _lines(axes, recording, signal, clock, n_bins)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel(clock.label, color=INK, fontsize=SMALL_POINTS)
    panels[-1].set_xlim(0, clock.at(clock.stop_ns))
    _names(strip, results, clock)
    _legend(figure, panels[0])
    return Plate(ident, heading, caption, figure)


def _panel(axes: Axes, label: str) -> None:
    """Style a panel that is too low for a name that stands upright."""
    style(axes, x_label="", y_label=label)
    axes.yaxis.label.set(rotation=0, ha="right", va="center", multialignment="right", fontsize=SMALL_POINTS)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    n_columns = min(len(labels), LEGEND_COLUMNS)
    drawn = figure.legend(handles, labels, loc="outside lower left", ncols=n_columns, fontsize=SMALL_POINTS)
    style_legend(drawn)


@dataclass(frozen=True, slots=True)
class Clock:
    """The time axis: where it starts and ends, and what it counts in."""

    start_ns: int
    stop_ns: int
    unit_seconds: float
    unit: str

    @property
    def label(self) -> str:
        """Name of the axis."""
        return f"Time since {instant_text(self.start_ns)} UTC ({self.unit})"

    def at(self, instant_ns: NDArray[np.int64] | int) -> NDArray[np.float64]:
        """Return places on the axis."""
        elapsed: NDArray[np.float64] = np.subtract(instant_ns, self.start_ns) / NANOSECONDS_PER_SECOND
        return elapsed / self.unit_seconds


def _clock(traces: Sequence[Trace]) -> Clock:
    start = min(int(trace.time_ns[0]) for trace in traces)
    return clock_of(start, max(int(trace.time_ns[-1]) for trace in traces))


def clock_of(start_ns: int, stop_ns: int) -> Clock:
    """Return a time axis between two instants, in the unit that fits its length."""
    seconds = (stop_ns - start_ns) / NANOSECONDS_PER_SECOND
    for limit, unit_seconds, unit in TIME_UNITS:
        if seconds >= limit:
            return Clock(start_ns, stop_ns, unit_seconds, unit)
    return Clock(start_ns, max(stop_ns, start_ns + 1), 1, "seconds")


def _caption(recording: Recording, results: Sequence[SessionResult], offered: Sequence[Signal]) -> str:
    absent = [" ".join(signal.label.split()) for signal in SIGNALS if signal not in offered]
    without = f" Not recorded: {', '.join(absent)}." if absent else ""
    return (
        f"{counted_text(len(recording.traces), 'device')}, {counted_text(len(results), 'session')} shaded, "
        "and named above where there is room. Long stretches are drawn by their smallest and largest sample. "
        f"A line breaks where nobody looked or nothing answered.{without}"
    )


def _mark(axes: Axes, results: Sequence[SessionResult], clock: Clock) -> None:
    spans = [
        (float(clock.at(one.session.start_ns)), one.session.duration_seconds / clock.unit_seconds)
        for one in results
    ]
    axes.broken_barh(
        spans, (0, 1), transform=axes.get_xaxis_transform(), facecolors=BAND, alpha=0.22, linewidth=0
    )


def _lines(axes: Axes, recording: Recording, signal: Signal, clock: Clock, n_bins: int) -> None:
    for number, trace in enumerate(recording.traces):
        places, values = with_gaps(clock.at(trace.time_ns), signal.column(trace))
        places, values = extremes(places, values, n_bins=n_bins)
        axes.plot(
            places,
            values,
            color=SERIES[number % len(SERIES)],
            linestyle=LINES[number % len(LINES)],
            linewidth=0.8,
            label=literal(f"{device_key(number)}  {shortened(trace.device.uuid, NAME_CHARACTERS)}"),
        )


def _short_names(results: Sequence[SessionResult]) -> list[str]:
    names = (session_text(number, result) for number, result in enumerate(results, start=1))
    return [shortened(name, NAME_CHARACTERS) for name in names]


def _names(strip: Axes, results: Sequence[SessionResult], clock: Clock) -> None:
    strip.set_axis_off()
    last = -np.inf
    for result, name in zip(results, _short_names(results), strict=True):
        session = result.session
        middle = float(clock.at((session.start_ns + session.stop_ns) // 2))
        if middle - last < NAME_STEP_RATIO * float(clock.at(clock.stop_ns)):
            continue  # it would stand on its neighbour; the table names every session
        last = middle
        drawn = strip.text(
            middle, 0, literal(name), rotation=90, rotation_mode="anchor", ha="left", va="center"
        )
        drawn.set(color=INK, fontsize=NAME_POINTS, in_layout=False)
