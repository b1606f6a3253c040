"""Time lines: every device is a line, every session is marked, unknown is not zero."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.report.made import START_NS, recording_of, result_of, trace_of
from flopwitness.app.report.canvas import Plate
from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.timeline import (
    MOST_POINTS,
    nvlink_gigabytes_per_second,
    power_watts,
    timeline_plate,
)
from flopwitness.core.device import Device
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace


def plate_of(recording: Recording, results: Sequence[SessionResult] = ()) -> Plate:
    """Return the time line of a recording."""
    plate = timeline_plate(recording, results, ident="timeline-1")
    assert plate is not None
    return plate


def test_each_device_is_a_line_of_its_own_look():
    """By dashes as well as by colour; the legend names the device by its UUID."""
    _, power, *_ = plate_of(recording_of()).figure.axes

    dashes = [line._unscaled_dash_pattern for line in power.lines]
    labels = [line.get_label() for line in power.lines]
    assert dashes[0] != dashes[1]
    assert power.lines[0].get_color() != power.lines[1].get_color()
    assert labels == ["A  GPU-a", "B  GPU-b"]


def test_signals_that_nobody_recorded_have_no_panel():
    """An empty panel would read as zero; the caption says what is not there."""
    plate = plate_of(recording_of())

    labels = [" ".join(axes.get_ylabel().split()) for axes in plate.figure.axes[1:]]
    assert labels == ["Power (W)", "Tensor pipes active (%)", "NVLink, both ways (GB/s)"]
    assert "Not recorded: DRAM active (%)." in plate.caption


def test_sessions_are_named_where_they_stand():
    """By number and name, above their middle; one that is not named has its number."""
    recording = recording_of()
    results = [result_of(recording, 10), result_of(recording, 60, name="")]

    strip = plate_of(recording, results).figure.axes[0]

    assert [(one.get_text(), one.get_position()[0]) for one in strip.texts] == [
        ("1 first", 20.0),
        ("2", 70.0),
    ]


def test_names_that_would_overlap_are_left_to_the_table():
    """The session is marked all the same."""
    recording = recording_of()
    results = [result_of(recording, 10, name=f"number-{number}") for number in range(5)]

    plate = plate_of(recording, results)

    assert len(plate.figure.axes[0].texts) == 1
    assert len(plate.figure.axes[1].collections[0].get_paths()) == 5
    assert "5 sessions shaded" in plate.caption


def test_many_samples_are_drawn_by_few_points():
    """However long the recording and however many devices, a figure has a bounded number of points."""
    traces = [trace_of(f"GPU-{number}", n_samples=20_000) for number in range(8)]

    figure = plate_of(recording_of("long", *traces)).figure

    n_points = sum(len(line.get_xdata()) for axes in figure.axes for line in axes.lines)
    assert n_points <= MOST_POINTS


def test_a_line_breaks_where_nothing_answered():
    """NaN is drawn as nothing."""
    power = [100.0, np.nan, np.nan, 100.0]
    trace = Trace(
        Device("GPU-a"), [START_NS, START_NS + 1, START_NS + 2, START_NS + 3], {"power_watts": power}
    )

    (line,) = plate_of(recording_of("x", trace)).figure.axes[1].lines

    assert np.array_equal(line.get_ydata(), power, equal_nan=True)


@pytest.mark.parametrize(
    ("n_samples", "unit"), [(100, "seconds"), (601, "minutes"), (7_201, "hours"), (200_000, "days")]
)
def test_the_axis_counts_in_a_unit_that_fits(n_samples: int, unit: str):
    """A week in seconds cannot be read."""
    figure = plate_of(recording_of("x", trace_of("GPU-a", n_samples=n_samples))).figure

    assert figure.axes[-1].get_xlabel() == f"Time since 2026-11-30 00:37:12.000 UTC ({unit})"


def test_nothing_to_draw_is_no_figure():
    """No sample, or no signal of the four."""
    silent = Trace(Device("GPU-a"), [], {})
    other = Trace(Device("GPU-a"), [1, 2], {"temperature_celsius": [30.0, 31.0]})

    for trace in (silent, other):
        assert timeline_plate(recording_of("x", trace), (), ident="timeline-1") is None


def test_link_traffic_is_the_step_of_the_counters():
    """Both directions; the first sample has no step, and a counter that was reset says nothing."""
    counters = {
        "nvlink_tx_bytes_total": [0.0, 1e9, 0.0, 1e9],
        "nvlink_rx_bytes_total": [0.0, 2e9, 0.0, 2e9],
    }
    trace = Trace(Device("GPU-a"), [0, 10**9, 2 * 10**9, 3 * 10**9], counters)

    rate = nvlink_gigabytes_per_second(trace)

    assert np.array_equal(rate, [np.nan, 3.0, np.nan, 3.0], equal_nan=True)


def test_link_traffic_without_counters_is_the_rates():
    """A source that gives rates is drawn by its rates; one that gives neither is unknown."""
    rates = {"nvlink_tx_bytes_per_second": [1e9], "nvlink_rx_bytes_per_second": [2e9]}

    assert nvlink_gigabytes_per_second(Trace(Device("GPU-a"), [0], rates)).tolist() == [3.0]
    assert np.isnan(nvlink_gigabytes_per_second(Trace(Device("GPU-a"), [0], {}))).all()


def test_power_is_the_momentary_reading_where_there_is_one():
    """The mean over a second trails the work."""
    both = {"power_watts": [1.0], "power_instant_watts": [2.0]}

    assert power_watts(Trace(Device("GPU-a"), [0], both)).tolist() == [2.0]
    assert power_watts(Trace(Device("GPU-a"), [0], {"power_watts": [1.0]})).tolist() == [1.0]
