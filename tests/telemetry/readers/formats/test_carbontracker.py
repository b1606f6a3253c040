"""carbontracker's log: what was not measured is not 0 W."""

from datetime import UTC

from contracts.format import START_NS, FormatContract, codes, reader_of
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.carbontracker import FORMAT

IN_UTC = Asked(zone=UTC)
SAMPLE = b"""2026-02-03 04:04:06 - carbontracker version 1.2.5
2026-02-03 04:05:06 - Epoch 1:
2026-02-03 04:05:06 - Duration: 0:02:21.90
2026-02-03 04:05:06 - Average power usage (W) for gpu: [212.5, 208.1]
2026-02-03 04:07:28 - Epoch 2:
Duration: 0:02:20.00
2026-02-03 04:07:28 - Average power usage (W) for gpu: [None, 0.0]
"""


class TestCarbontracker(FormatContract):
    """Two epochs of two GPUs, one of them once unmeasured."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


def test_each_epoch_and_gpu_has_a_row():
    """Energy is mean power over the epoch's time."""
    first = reader_of(SAMPLE, IN_UTC).summary.rows[0]

    assert dict(first) == {
        "epoch": 1,
        "device": "gpu:0",
        "power_watts": 212.5,
        "duration_seconds": 141.9,
        "energy_joules": 212.5 * 141.9,
        "logged_ns": START_NS,
    }


def test_an_unmeasured_power_is_none_and_an_honest_zero_stays():
    """The tool itself reports the first as 0 kWh."""
    summary = reader_of(SAMPLE, IN_UTC).summary

    assert [row["power_watts"] for row in summary.rows] == [212.5, 208.1, None, 0.0]
    assert summary.rows[2]["energy_joules"] is None
    assert codes(summary.findings) == {"unmeasured"}


def test_a_log_without_any_measure_says_so():
    """``None`` in place of the list means that nothing was measured."""
    log = b"2026-02-03 04:05:06 - Average power usage (W) for gpu: None\n"

    summary = reader_of(log, IN_UTC).summary

    assert [row["power_watts"] for row in summary.rows] == [None]
    assert "unmeasured" in codes(summary.findings)


def test_an_epoch_whose_first_line_is_lost_does_not_change_the_one_before():
    """A second power, or a second duration, belongs to an epoch that nobody named."""
    log = SAMPLE.replace(b"Epoch 2:", b"Ep")

    rows = reader_of(log, IN_UTC).summary.rows

    assert [(row["epoch"], row["power_watts"]) for row in rows] == [
        (1, 212.5), (1, 208.1), (None, None), (None, 0.0)
    ]  # fmt: skip
