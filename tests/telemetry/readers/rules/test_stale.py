"""A source that repeats its last answer, told from an honest board that has little to say."""

import numpy as np
import pytest

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.stale import MOST_REPEATS, without_stale_rows
from plain_traces import noted, plain_trace

N_ROWS = 40
SECONDS = range(N_ROWS)


def test_repeats_with_a_counter_that_stands_are_unobserved():
    """Power flows and the counter does not: nobody is looking."""
    notes = Notes()
    trace = plain_trace(SECONDS, power_watts=400, energy_joules_total=5000.12, temperature_celsius=61)

    found = without_stale_rows(trace, notes)

    for column in found.channels.values():
        assert np.flatnonzero(np.isfinite(column)).tolist() == list(range(MOST_REPEATS))
    assert noted(notes) == {"stale": 1}


def test_several_signals_with_decimals_do_not_repeat_by_chance():
    """Three analogue readings equal to the last digit, again and again."""
    trace = plain_trace(
        SECONDS, power_watts=412.1, sm_active_ratio=0.7123, tensor_active_ratio=0.4057, gpu_util_ratio=1
    )

    assert np.isnan(without_stale_rows(trace, Notes())["power_watts"][MOST_REPEATS:]).all()


@pytest.mark.parametrize(
    "channels",
    [
        {"gpu_util_ratio": 0.0, "mem_util_ratio": 0.0, "temperature_celsius": 31},
        {"power_watts": 61, "gpu_util_ratio": 0.0, "sm_clock_hertz": 345e6, "temperature_celsius": 31},
        {"power_watts": 8.53, "gpu_util_ratio": 0.0, "sm_clock_hertz": 210e6, "temperature_celsius": 31},
        {"power_watts": 300, "energy_joules_total": 8152.136},
        {"power_watts": 61, "energy_joules_total": 61.0 * np.arange(N_ROWS), "gpu_util_ratio": 0.0},
    ],
)
def test_an_honest_board_with_little_to_say_is_left_alone(channels: dict[str, float]):
    """Idle, rounded, few channels: equal rows prove nothing without a standing counter beside others."""
    notes = Notes()
    trace = plain_trace(SECONDS, **channels)

    assert without_stale_rows(trace, notes) is trace
    assert noted(notes) == {}


def test_a_scraper_that_asks_more_often_than_the_source_refreshes_is_left_alone():
    """dcgm-exporter collects every 30 s: scraped each second, every answer stands 30 times."""
    seconds = np.arange(300)
    looked = seconds // 30
    trace = plain_trace(
        seconds, power_watts=400.5 + looked, energy_joules_total=12_000.5 * looked, temperature_celsius=61
    )

    assert without_stale_rows(trace, Notes()) is trace


def test_a_source_that_comes_back_is_believed_again():
    """Only the repeats are unobserved."""
    joules = np.concatenate([np.arange(10), np.full(20, 9), np.arange(300, 310)]) * 400.0
    trace = plain_trace(SECONDS, power_watts=400, energy_joules_total=joules, temperature_celsius=61)

    seen = np.isfinite(without_stale_rows(trace, Notes())["power_watts"])

    assert np.flatnonzero(~seen).tolist() == list(range(9 + MOST_REPEATS, 30))
