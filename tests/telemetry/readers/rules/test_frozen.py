"""An energy counter that stands under load is not used."""

import numpy as np

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.frozen import without_frozen_counter
from plain_traces import noted, plain_trace

SECONDS = range(60)
WATTS = 300 + np.sin(np.arange(60))


def test_a_counter_that_stood_for_a_while_is_taken_out_whole():
    """What flowed meanwhile is lost to it, so no difference across the stand is true."""
    notes = Notes()
    joules = np.where(np.arange(60) < 30, 8152.0, 8152.0 + (np.arange(60) - 30) * 300.0)

    found = without_frozen_counter(plain_trace(SECONDS, energy_joules_total=joules, power_watts=WATTS), notes)

    assert np.isnan(found["energy_joules_total"]).all()
    assert found["power_watts"].tolist() == WATTS.tolist()
    assert noted(notes) == {"counter-frozen": 1}


def test_a_counter_that_counts_is_left_alone():
    """Coarse steps and a board that sleeps are honest."""
    for joules, watts in ((np.arange(60) * 300.0, WATTS), (np.zeros(60), WATTS / 100)):
        notes = Notes()
        trace = plain_trace(SECONDS, energy_joules_total=joules, power_watts=watts)

        assert without_frozen_counter(trace, notes) is trace
        assert noted(notes) == {}
