"""Recordings that are slow, or show power and utilisation alone."""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import DEFAULT_RULE, ActivityDetector
from flopwitness.detect.coarse import PAUSE_SECONDS, rule_for, usual_step_seconds
from flopwitness.detect.run import sessions_of

SECOND = 10**9


def trace_every(step: float, chip: str = "H100-SXM", **channels: list[float]) -> Trace:
    """Return samples this far apart."""
    n_samples = len(next(iter(channels.values())))
    return Trace(Device("GPU-a", chip=chip), np.round(np.arange(n_samples) * step * 1e9), channels)


def spans(trace: Trace, node_watts: float = float("inf")) -> list[tuple[float, float]]:
    """Return the sessions of a trace in seconds."""
    found = sessions_of(ActivityDetector(rule_for([trace], node_watts=node_watts)), [trace])
    return [(one.start_ns / SECOND, one.stop_ns / SECOND) for one in found]


def test_a_fast_recording_with_activity_keeps_the_default() -> None:
    """Nothing changes where everything is there."""
    trace = trace_every(0.1, tensor_active_ratio=[0.0] * 9, power_watts=[80.0] * 9)

    assert rule_for([trace]) == DEFAULT_RULE


def test_a_pause_of_three_seconds_does_not_part_a_job_that_shows_power_and_utilisation_alone() -> None:
    """Idle, warm-up, compiling, training, idle at 3.5 Hz is one workload."""
    watts = [73.0] * 40 + [690.0] * 20 + [121.0] * 10 + [690.0] * 100 + [74.0] * 40
    trace = trace_every(1 / 3.5, power_watts=watts, gpu_util_ratio=[float(each > 200) for each in watts])

    ((start, stop),) = spans(trace)

    assert (start, stop) == (pytest.approx(38 / 3.5), pytest.approx(169 / 3.5))


def test_idle_of_ten_seconds_parts_two_workloads() -> None:
    """The published daemon waits three polls of 1.5 s."""
    watts = [73.0] * 5 + [690.0] * 20 + [74.0] * round(10 / 0.3) + [690.0] * 20 + [74.0] * 20

    assert len(spans(trace_every(0.3, power_watts=watts))) == 2
    assert PAUSE_SECONDS < 10


def test_a_sampler_of_fifteen_seconds_sees_idle_time() -> None:
    """At a fixed limit of 2.5 s every one of its steps would be a gap, and the whole day one workload."""
    watts = [15.0] * 5 + [230.0, 170.0] * 10 + [15.0] * 5
    trace = trace_every(15.0, chip="Radeon-Pro-W7900", power_watts=watts)

    assert spans(trace) == [(45.0, 360.0)]
    assert usual_step_seconds(trace) == 15.0


def test_a_board_of_295_watts_is_not_idle_at_170() -> None:
    """The level of an H200 is no level of a smaller board."""
    watts = [15.0, 15.0, 170.0, 170.0, 15.0]

    assert spans(trace_every(1.0, chip="Radeon-Pro-W7900", power_watts=watts)) != []
    assert spans(trace_every(1.0, chip="H100-SXM", power_watts=watts)) == []


def test_a_node_is_judged_by_the_level_that_was_found_for_it() -> None:
    """2,800 W are an idle node of eight; without a level nothing is known, so nothing is left out."""
    watts = [2800.0] * 6 + [7300.0] * 60 + [2400.0] * 6
    trace = trace_every(2.0, node_power_watts=watts)

    assert spans(trace, node_watts=3500.0) == [(8.0, 130.0)]
    assert spans(trace) == [(0.0, 142.0)]
