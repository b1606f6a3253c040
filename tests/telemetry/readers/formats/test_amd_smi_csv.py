"""AMD's tools as CSV: mean or current power, whichever answers."""

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.amd_smi_csv import FORMAT

COUNTED = Asked(name="log", start_ns=START_NS, period_seconds=1.0)
ROCM = b"""device,Average Graphics Package Power (W),Current Socket Graphics Package Power (W),GPU use (%)
card0,17.0,N/A,3
card1,N/A,412.0,99
device,Average Graphics Package Power (W),Current Socket Graphics Package Power (W),GPU use (%)
card0,18.0,N/A,4
card1,N/A,415.5,98
"""
MONITOR = b"""timestamp,gpu,power_usage,hotspot_temperature,memory_temperature,gfx_clk,gfx,mem,mem_clock,vram_used
1770091506,0,412,61,50,2100,99,40,1300,1024
1770091506,1,N/A,60,4294967295,132,0,0,900,512
1770091507,0,415,62,51,2095,98,41,1300,1024
"""  # noqa: E501  the tool's own header


class TestRocmSmiCsv(FormatContract):
    """Two looks of ``rocm-smi --csv`` at two cards, the header printed again."""

    form = FORMAT
    sample = ROCM
    asked = COUNTED


class TestAmdSmiMonitor(FormatContract):
    """``amd-smi monitor --csv``, with stamps."""

    form = FORMAT
    sample = MONITOR


def test_the_power_that_is_a_number_counts_and_its_kind_is_told():
    """Mean on one board, current on the other; ``N/A`` is neither."""
    recording = recording_of_bytes(ROCM, COUNTED)
    first, second = recording.traces

    assert first["power_watts"].tolist() == [17.0, 18.0]
    assert "power_instant_watts" not in first.channels
    assert second["power_instant_watts"].tolist() == [412.0, 415.5]
    assert "power_watts" not in second.channels
    assert first.time_ns.tolist() == [START_NS, START_NS + 10**9]
    kinds = {found.subject: found.message for found in recording.findings if found.code == "power-kind"}
    assert "mean" in kinds["power_watts"]
    assert "current" in kinds["power_instant_watts"]


def test_all_ones_are_no_measurement():
    """A member that a chip does not have reads UINT32_MAX."""
    first, second = recording_of_bytes(MONITOR, Asked(name="log")).traces

    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [412.0, 415.0],
        "temperature_celsius": [61.0, 62.0],
        "mem_temperature_celsius": [50.0, 51.0],
        "sm_clock_hertz": [2.1e9, 2.095e9],
        "gpu_util_ratio": [0.99, 0.98],
        "mem_util_ratio": [0.4, 0.41],
        "mem_clock_hertz": [1.3e9, 1.3e9],
        "memory_used_bytes": [1024.0 * 2**20] * 2,
    }
    assert "mem_temperature_celsius" not in second.channels


def test_a_log_without_stamps_needs_start_and_period():
    """rocm-smi prints none."""
    with pytest.raises(BadInputError, match="--start"):
        _ = reader_of(ROCM).recording


def test_the_header_again_is_no_bad_row():
    """A look begins with it; a row that names no card is another thing."""
    log = ROCM + b"total,1,2,3\n"

    found = recording_of_bytes(log, COUNTED).findings

    assert "bad-row" not in codes(recording_of_bytes(ROCM, COUNTED).findings)
    assert [each.message for each in found if each.code == "bad-row"] == [
        "1 rows name no GPU and were left out, the first in line 7"
    ]
