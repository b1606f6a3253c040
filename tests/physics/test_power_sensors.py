"""Readings of power: means and instants."""

import numpy as np
import pytest

from flopwitness.physics.chips import CHIPS
from flopwitness.physics.power_sensors import averaging_seconds, reading_watts

STEP = np.array([-10.0, 0.0]), np.array([100.0, 500.0])


@pytest.mark.parametrize(("chip", "watts"), [("A100-SXM", 500.0), ("V100-SXM2", 500.0), ("H100-SXM", 300.0)])
def test_one_load_reads_differently_on_two_chips(chip: str, watts: float) -> None:
    """Half a second after a step an H100's mean is half-way, an A100 is there (ml-energy/zeus#45)."""
    averaging = averaging_seconds(CHIPS[chip], "power_watts")

    assert reading_watts(0.5, *STEP, averaging=averaging) == watts


def test_the_instant_channel_is_an_instant_everywhere() -> None:
    """NVML field 186."""
    assert averaging_seconds(CHIPS["H200-SXM"], "power_instant_watts") == 0.0
