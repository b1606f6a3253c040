"""zeus' energy windows: joules over seconds, without instants."""

import pytest

from contracts.format import FormatContract, codes, reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.zeus_energy_csv import FORMAT

SAMPLE = b"""start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy
88001.25,epoch,10.0,4000.0,3900.0
88011.25,step,0.05,0.0,20.5
88012.25,step,2.0,N/A,700.0
"""


class TestZeusEnergyCsv(FormatContract):
    """Three windows of two GPUs."""

    form = FORMAT
    sample = SAMPLE


def test_each_window_and_gpu_has_a_row():
    """Mean power is energy over time; the start is of a clock that is not the time of day."""
    summary = reader_of(SAMPLE).summary

    assert dict(summary.rows[0]) == {
        "window": "epoch",
        "device": "gpu0",
        "duration_seconds": 10.0,
        "energy_joules": 4000.0,
        "power_watts": 400.0,
    }
    assert {"no-instants", "below-resolution", "missing-values"} == codes(summary.findings)


def test_a_window_below_the_counters_resolution_has_no_power():
    """Two equal readings of a counter that steps every 100 ms are not 0 W."""
    assert [row["power_watts"] for row in reader_of(SAMPLE).summary.rows] == [
        400.0, 390.0, None, None, None, 350.0
    ]  # fmt: skip


def test_more_energy_than_a_board_can_draw_is_no_power():
    """An underflow of a counter is not a measurement."""
    log = b"start_time,window_name,elapsed_time,gpu0_energy\n1,w,2.0,18446744073447456768\n"

    summary = reader_of(log).summary

    assert summary.rows[0]["power_watts"] is None
    assert "quarantined" in codes(summary.findings)


def test_a_column_that_stands_there_twice_is_refused():
    """Nobody can say which one is meant."""
    log = b"start_time,window_name,elapsed_time,gpu0_energy,gpu0_energy\n1,w,2.0,5,6\n"

    with pytest.raises(BadInputError, match="one column 'gpu0_energy', got 2 of them"):
        _ = reader_of(log).summary
