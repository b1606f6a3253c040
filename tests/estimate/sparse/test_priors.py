"""Ranges of what training makes of a joule."""

import pytest

from flopwitness.estimate.sparse.priors import (
    NumberFormat,
    clock_share_range,
    formats_of,
    half_peak_flop_per_second,
    share_range,
    sheet_flop_per_joule,
    transfer_factor,
)
from flopwitness.physics.chips import CHIPS, Chip

EVERY_CHIP = pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)


@EVERY_CHIP
def test_each_format_lies_inside_the_range_of_all(chip: Chip) -> None:
    """Less said of the format never narrows."""
    whole = share_range(chip)

    assert 0 < whole.low <= whole.usual <= whole.high
    for each in formats_of(chip):
        one = share_range(chip, [each])
        assert whole.low <= one.low <= one.usual <= one.high <= whole.high


def test_the_published_power_of_a_v100_is_inside_its_range() -> None:
    """4.74 J/TFLOP above idle, by the experiment that ``linear-power`` reproduces."""
    share = 1e12 / 4.74 / sheet_flop_per_joule(CHIPS["V100-SXM2"])

    assert share_range(CHIPS["V100-SXM2"]).low < share < share_range(CHIPS["V100-SXM2"]).high
    assert share == pytest.approx(share_range(CHIPS["V100-SXM2"]).usual, rel=0.15)


def test_a_chip_without_a_format_is_not_given_it() -> None:
    """AMD's RDNA3 has neither FP8 nor TF32; its matrix peak is its packed half precision."""
    chip = CHIPS["Radeon-Pro-W7900"]

    assert formats_of(chip) == {NumberFormat.HALF, NumberFormat.FP32}
    assert formats_of(chip, [NumberFormat.FP8]) == {NumberFormat.HALF}
    assert half_peak_flop_per_second(chip) == pytest.approx(122.6e12, rel=0.001)


def test_shares_are_surest_on_the_die_that_they_were_measured_on() -> None:
    """H100 and H200 share one die; no other chip of the table has it."""
    sure = {name for name, chip in CHIPS.items() if transfer_factor(chip) < 1.2}

    assert sure == {"H100-SXM", "H200-SXM"}


def test_a_lower_clock_at_the_limit_means_more_work() -> None:
    """And the clock narrows: the range beside it is narrower than the range without."""
    h200 = CHIPS["H200-SXM"]
    slow, fast = clock_share_range(h200, 0.8), clock_share_range(h200, 1.0)

    assert slow.usual > fast.usual
    assert clock_share_range(h200, 0.5) == clock_share_range(h200, 0.75)
    assert slow.ratio < share_range(h200).ratio
