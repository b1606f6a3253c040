"""What a board draws while nothing runs: measured in its lowest clock state, and on itself alone."""

import math

import numpy as np

from estimate.made import NAN, every, trace_of
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.idle import idle_baseline

IDLE = {"hmma_active_ratio": 0.0, "sm_active_ratio": 0.0, "dram_active_ratio": 5e-6, "gpu_util_ratio": 0.0}
BUSY = {"hmma_active_ratio": 0.4, "sm_active_ratio": 0.9, "dram_active_ratio": 0.4, "gpu_util_ratio": 1.0}


def phases(*phases: tuple[int, dict[str, float], float, float]) -> Trace:
    """Return a trace of phases: how many samples, their activity, their watts and their clock."""
    columns = {name: np.concatenate([[look[name]] * n for n, look, _, _ in phases]) for name in IDLE}
    watts = np.concatenate([[watts] * n for n, _, watts, _ in phases])
    clock = np.concatenate([[clock] * n for n, _, _, clock in phases])
    return trace_of(
        every(0.1, len(watts)), power_instant_watts=watts, power_watts=watts, sm_clock_hertz=clock, **columns
    )


def test_the_baseline_is_the_median_idle_power():
    """The first seconds of a capture are idle, in low clocks."""
    baseline = idle_baseline(phases((35, IDLE, 79.0, 345e6), (40, BUSY, 690.0, 1.7e9)))

    assert baseline == (79.0, 35, 345e6)


def test_a_board_that_is_kept_hot_does_not_raise_its_own_baseline():
    """Ten times as much idle time in high clocks, at 125 W, changes nothing: that would hide work."""
    baseline = idle_baseline(phases((20, IDLE, 79.0, 345e6), (200, IDLE, 125.0, 1.98e9)))

    assert (baseline.watts, baseline.n_samples) == (79.0, 20)


def test_clocks_of_one_idle_state_are_not_told_apart():
    """An idle H200 drifts between 345 and 360 MHz."""
    assert idle_baseline(phases((10, IDLE, 78.0, 345e6), (30, IDLE, 80.0, 360e6))).n_samples == 40


def test_a_board_that_was_never_idle_has_no_baseline():
    """Unknown is not 0 W."""
    baseline = idle_baseline(phases((40, BUSY, 690.0, 1.7e9)))

    assert baseline.n_samples == 0
    assert math.isnan(baseline.watts)


def test_a_hung_job_is_not_idle():
    """Resident warps that do nothing draw more than an idle board."""
    hung = {**IDLE, "sm_active_ratio": 0.18, "gpu_util_ratio": 1.0}

    assert idle_baseline(phases((20, IDLE, 79.0, 345e6), (300, hung, 128.0, 345e6))).watts == 79.0


def test_without_clocks_all_idle_samples_count():
    """A source that has no clock still shows a baseline; its clock is NaN."""
    baseline = idle_baseline(trace_of(every(0.1, 10), power_watts=80.0, gpu_util_ratio=0.0))

    assert (baseline.watts, baseline.n_samples) == (80.0, 10)
    assert math.isnan(baseline.sm_clock_hertz)


def test_a_blank_power_is_no_idle_power():
    """Only samples with a reading count."""
    assert math.isnan(idle_baseline(phases((10, IDLE, NAN, 345e6))).watts)
