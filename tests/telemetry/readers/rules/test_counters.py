"""Counters of files: what is taken out, and what is only noted."""

import numpy as np

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.counters import without_counter_glitches
from plain_traces import NAN, noted, plain_trace


def test_a_dip_is_taken_out_and_a_reset_stays():
    """Both are noted, each by its name."""
    notes = Notes()
    trace = plain_trace(range(8), energy_joules_total=[1e6, 0, 1e6 + 300, 1e6 + 600, 10, 310, 610, 910])

    found = without_counter_glitches(trace, notes)["energy_joules_total"]

    assert np.flatnonzero(np.isnan(found)).tolist() == [1]
    assert noted(notes) == {"counter-glitch": 1, "counter-reset": 1}


def test_gauges_are_left_alone():
    """Power may fall."""
    notes = Notes()
    trace = plain_trace(range(4), power_watts=[400, 0, 400, 100], gpu_util_ratio=[1, 0, 1, 0])

    assert without_counter_glitches(trace, notes) is trace
    assert noted(notes) == {}


def test_blanks_are_no_drop():
    """A counter that gave no answer for a while goes on."""
    notes = Notes()
    trace = plain_trace(range(4), energy_joules_total=[NAN, 100, NAN, 200])

    assert without_counter_glitches(trace, notes) is trace
    assert noted(notes) == {}
