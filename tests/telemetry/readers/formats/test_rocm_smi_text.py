"""rocm-smi for people: a line a signal."""

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.rocm_smi_text import FORMAT

COUNTED = Asked(name="log", start_ns=START_NS, period_seconds=1.0)
SAMPLE = b"""
======================== ROCm System Management Interface ========================
GPU[0]\t\t: Unique ID: 0xaaaa
GPU[1]\t\t: Unique ID: N/A
GPU[0]\t\t: Temperature (Sensor edge) (C): 38.0
GPU[0]\t\t: Average Graphics Package Power (W): 17.0
GPU[1]\t\t: Current Socket Graphics Package Power (W): 412.0
GPU[0]\t\t: sclk clock level: 1: (1700Mhz)
GPU[0]\t\t: GPU use (%): 3
==================================================================================
GPU[0]\t\t: Temperature (Sensor edge) (C): 39.0
GPU[0]\t\t: Average Graphics Package Power (W): N/A
GPU[1]\t\t: Current Socket Graphics Package Power (W): 415.0
GPU[0]\t\t: sclk clock level: 0: (500Mhz)
GPU[0]\t\t: GPU use (%): 4
"""


class TestRocmSmiText(FormatContract):
    """Two looks at two cards, one of which has an identity."""

    form = FORMAT
    sample = SAMPLE
    asked = COUNTED


def test_a_line_of_the_same_label_begins_the_next_look():
    """Labels carry their units; ``N/A`` is missing; a card is known by its unique id where it has one."""
    first, second = recording_of_bytes(SAMPLE, COUNTED).traces

    assert (first.device.uuid, second.device.uuid) == ("0xaaaa", "log:1")
    assert first.time_ns.tolist() == [START_NS, START_NS + 10**9]
    assert {name: str(column.tolist()) for name, column in first.channels.items()} == {
        "power_watts": "[17.0, nan]",
        "gpu_util_ratio": "[0.03, 0.04]",
        "temperature_celsius": "[38.0, 39.0]",
        "sm_clock_hertz": "[1700000000.0, 500000000.0]",
    }
    assert second["power_instant_watts"].tolist() == [412.0, 415.0]


def test_the_kind_of_power_is_told():
    """A mean and a current value resolve other things."""
    assert "power-kind" in codes(recording_of_bytes(SAMPLE, COUNTED).findings)


def test_a_look_without_a_stamp_needs_start_and_period():
    """rocm-smi prints none."""
    with pytest.raises(BadInputError, match="--start"):
        _ = reader_of(SAMPLE).recording


def test_a_second_die_without_an_answer_adds_nothing():
    """On boards of two dies the first reports the socket, the second ``N/A``: one socket, counted once."""
    log = SAMPLE.replace(b"412.0", b"N/A").replace(b"415.0", b"N/A")

    (socket,) = recording_of_bytes(log, COUNTED).traces

    assert str(socket["power_watts"].tolist()) == "[17.0, nan]"
