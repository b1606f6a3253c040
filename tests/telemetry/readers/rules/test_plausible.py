"""Power against what a board can draw."""

import numpy as np
import pytest

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.plausible import without_impossible_power
from plain_traces import noted, plain_trace


def test_a_short_excess_over_the_limit_is_real():
    """907 W was read on a 700 W board."""
    trace = plain_trace(range(3), chip="H200-SXM", power_instant_watts=[699, 907, 700])

    assert without_impossible_power(trace, Notes()) is trace


def test_power_beyond_the_board_is_taken_out():
    """Quarantined, never clamped."""
    notes = Notes()
    trace = plain_trace(range(3), chip="H200-SXM", power_watts=[699, 9000, 700])

    assert without_impossible_power(trace, notes)["power_watts"].tolist() == pytest.approx(
        [699, np.nan, 700], nan_ok=True
    )
    assert noted(notes) == {"quarantined": 1}


def test_a_board_of_unknown_limit_is_not_judged():
    """What nobody knows decides nothing."""
    trace = plain_trace(range(2), power_watts=[699, 9000])

    assert without_impossible_power(trace, Notes()) is trace


def test_a_limit_set_low_does_not_lower_what_the_board_can_draw():
    """A cap is no ceiling: its chip is."""
    trace = plain_trace(range(2), chip="H200-SXM", power_watts=[400, 700], power_limit_watts=200)

    assert without_impossible_power(trace, Notes()) is trace
