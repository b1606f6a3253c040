"""Readings as they came become the Trace that single samples would have made."""

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.trace import joined
from flopwitness.telemetry.samplers.gpm import GpmMeter
from flopwitness.telemetry.samplers.nvml_rows import Layout, Reading
from flopwitness.telemetry.samplers.nvml_signals import METRICS
from telemetry.samplers.fake_nvml import INVALID_ARGUMENT, FakeGpu, FakeNvml

GPU = Device("GPU-a", chip="H200-SXM")
CHANNELS = ("power_watts", *(signal.channel for signal in METRICS))


def metered(gpu: FakeGpu) -> GpmMeter:
    """Return a meter that has a sample to measure from."""
    meter = GpmMeter(FakeNvml(gpu))
    meter.start(gpu)
    return meter


def test_many_readings_make_the_trace_that_single_ones_make():
    """Costly metrics are there now and then, a failed sample is blank; together or alone is the same."""
    gpu = FakeGpu("GPU-a")
    meter = metered(gpu)
    layout = Layout(CHANNELS, meter)
    answers = [meter.read(gpu, costly=at % 4 == 0) for at in range(9)]
    answers[5] = b""
    readings = [Reading(at, answer, [(0, 100.0 + at)]) for at, answer in enumerate(answers)]

    together = layout.trace(GPU, readings)

    assert together == joined(layout.trace(GPU, [reading]) for reading in readings)
    assert np.flatnonzero(np.isfinite(together["gr_engine_active_ratio"])).tolist() == [0, 4, 8]
    assert np.flatnonzero(np.isnan(together["tensor_active_ratio"])).tolist() == [5]
    assert together["power_watts"].tolist() == [100.0 + at for at in range(9)]


def test_a_metric_that_failed_is_blank_whatever_value_stands_beside_it():
    """The value beside a code is 0 in NVML; a channel that was not asked is blank as well."""
    gpu = FakeGpu("GPU-a", codes={5: INVALID_ARGUMENT})
    meter = metered(gpu)

    trace = Layout(CHANNELS, meter).trace(GPU, [Reading(7, meter.read(gpu, costly=False), [])])

    blank = {name for name, column in trace.channels.items() if np.isnan(column[0])}
    assert blank == {"power_watts", "tensor_active_ratio", "gr_engine_active_ratio"}
    assert trace["hmma_active_ratio"].tolist() == [0.07]


def test_a_reading_of_blanks_is_left_out():
    """A sample in which nothing was answered is no sample."""
    readings = [Reading(1, b"", [(0, 80.0)]), Reading(2, b"", []), Reading(3, b"", [(0, float("nan"))])]

    trace = Layout(("power_watts",), None).trace(GPU, readings)

    assert trace.time_ns.tolist() == [1]


def test_a_glance_shows_what_a_reading_holds_if_it_is_complete():
    """One blank, failed or impossible value, and none of them is believed."""
    gpu = FakeGpu("GPU-a")
    meter = metered(gpu)

    whole = meter.glance(meter.read(gpu, costly=False))
    incomplete = []
    for value in (float("nan"), float("inf"), 150.0):
        gpu.metrics[10] = value
        incomplete.append(meter.glance(meter.read(gpu, costly=False)))
    gpu.metrics[10], gpu.codes[10] = 10.0, INVALID_ARGUMENT
    incomplete += [meter.glance(meter.read(gpu, costly=False)), meter.glance(b"")]

    assert whole["sm_active_ratio"] == 2.0
    assert "gr_engine_active_ratio" not in whole
    assert incomplete == [{}] * 5
