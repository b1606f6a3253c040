"""Energy of a session: by the counter, by the gauge where that says nothing, above the idle baseline."""

import math

import numpy as np
import pytest

from estimate.made import NAN, busy_trace, every, features_of, trace_of
from flopwitness.core.session import Session
from flopwitness.estimate.features.row import session_features


def test_power_is_integrated_where_there_is_no_counter():
    """250 W for an hour are 900,000 J, not 0 (mlco2/codecarbon#1316)."""
    trace = trace_of(every(1.0, 3601), power_watts=250.0)

    values = features_of(trace, idle_watts=0.0).values

    assert (values["net_energy_joules"], values["power_unobserved_seconds"]) == (900_000.0, 0.0)


def test_a_frozen_counter_is_not_an_energy_of_nothing():
    """Constant for a minute at 300 W: 18,000 J by the gauge (ROCm/amdsmi#38)."""
    trace = trace_of(every(1.0, 61), power_watts=300.0, energy_joules_total=8152136.0)

    assert features_of(trace, idle_watts=0.0).values["net_energy_joules"] == 18_000.0


def test_a_window_below_the_counters_resolution_has_no_energy():
    """Two equal readings a millisecond apart are not 0 W; without a gauge nothing is known."""
    values = features_of(trace_of([0.0, 0.001], energy_joules_total=500.0), idle_watts=0.0).values

    assert math.isnan(values["net_energy_joules"])
    assert values["power_unobserved_seconds"] == pytest.approx(0.001)


def test_a_counter_that_jumps_back_does_not_become_energy():
    """What it shows after a fall would be 1e9 J in 0.1 s."""
    readings = 1e9 + 60 * np.arange(41.0)
    readings[21:] -= 500

    values = features_of(busy_trace(energy_joules_total=readings), idle_watts=0.0).values

    assert values["net_energy_joules"] == pytest.approx(2400.0)
    assert values["power_unobserved_seconds"] == pytest.approx(0.1)


@pytest.mark.parametrize("idle_watts", [{}, {"GPU-a": NAN}, {"GPU-b": 80.0}])
def test_a_board_without_a_baseline_has_no_net_energy(idle_watts: dict[str, float]):
    """Idle power is measured on the very board, or not known."""
    trace = busy_trace()
    session = Session(int(trace.time_ns[0]), int(trace.time_ns[-1]), (trace,))

    assert math.isnan(session_features(session, idle_watts).values["net_energy_joules"])
