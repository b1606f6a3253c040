"""How much of a chip's sheet ordinary training reaches: ranges by number format, each with its source.

Everything is a share of the sheet: FLOP per joule above idle against dense half precision at the power
limit. Of this share three chips say the same of half-precision training, which is why it carries over: 0.40
on H200s (median of 31 families of this project's recordings), 0.42 on a V100 (4.74 J/TFLOP of 125 TFLOP/s
at 300 W, the published experiment of ``linear-power``) and 0.33 to 0.42 on an H100 PCIe (1.10 to 1.41 pJ a
FLOP with the idle power in it, flopcheck, doi:10.5281/zenodo.22881088).
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import CHIPS
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.pipes import peak_flop_per_second

COVERAGE_RATIO = 0.9
"""What an interval under an assumption is meant to hold. Nobody can calibrate an assumption; what it held on
recordings of known truth is in docs/missing-signals.md."""

IDLE_SHARE = (0.05, 0.2)
"""Idle power over the limit: 0.11 (low clocks) to 0.17 (just after work) on H200s; wider for other boards."""

SHEET_IDLE_SHARE = 80.0 / 700.0
"""What the sheet's efficiency is counted above: the idle share of the boards that were measured."""

TYPICAL_SHARE = 0.4

CONVOLUTION_SHARE = 0.084
"""The least that training on matrix pipes reached on H200s: a ResNet-50 (0.084 to 0.095)."""

PLAIN_SHARE = (0.65, 0.85)
"""FP32 training on plain pipes over the FP32 sheet: 0.66 to 0.73 on H200s, products alone 0.80."""

BEST_OF_PRODUCTS = 0.81
"""The best training over products alone: on H200s in half precision, whose kernels are tuned."""

SAME_DIE, OTHER_CHIP = 1.1, 1.3
"""How far shares may move from chip to chip, either way: node to node, and between the three chips above."""

SHARES_FROM = CHIPS["H200-SXM"]

EXECUTED_TO_ALGORITHMIC = (1.0, 1.05, 1.26)
"""Low, usual and high: causal attention counted in full adds 8 % at 2k tokens and 26 % at 8k (flopcheck)."""


class NumberFormat(StrEnum):
    """What the matrix work of a training run is in."""

    HALF = "half"
    FP8 = "fp8"
    TF32 = "tf32"
    FP32 = "fp32"


EVERY_FORMAT = frozenset(NumberFormat)

PRODUCT_SHARES: Mapping[NumberFormat, float] = MappingProxyType(
    {NumberFormat.HALF: 0.67, NumberFormat.FP8: 0.63, NumberFormat.TF32: 0.69}
)
"""What dense products alone reach of their own format's sheet, FLOP per joule; the best on H200s."""

_PRECISION = {
    NumberFormat.HALF: Precision.FP16,
    NumberFormat.FP8: Precision.FP8,
    NumberFormat.TF32: Precision.TF32,
}

CLOCK_CENTRE_SHARE = 0.252
CLOCK_EXPONENT = -4.4
"""Share = 0.252 (clock / boost)^-4.4: least squares over 31 families of half-precision training on H200s.

Each family counts once. A board at its limit clocks down further the more its pipes do.
"""

CLOCK_RANGE = (0.75, 1.0)
"""Clocks over boost that this was seen at; beyond it the nearer end counts."""

CLOCK_LOGS: Mapping[NumberFormat, tuple[float, float]] = MappingProxyType(
    {
        NumberFormat.HALF: (-1.1, 0.35),
        NumberFormat.FP8: (-1.1, 0.63),
        NumberFormat.TF32: (-1.3, -0.1),
        NumberFormat.FP32: (-1.75, -1.5),
    }
)
"""Logarithm of the share over this line: all training on H200s, FP8 up to 0.81 of its products."""


class ShareRange(NamedTuple):
    """Shares of the sheet's half-precision FLOP per joule: least, usual, most."""

    low: float
    usual: float
    high: float

    @property
    def ratio(self) -> float:
        """How many times the least fits into the most."""
        return self.high / self.low


def half_peak_flop_per_second(chip: Chip) -> float:
    """Return the dense half-precision peak of the sheet."""
    return peak_flop_per_second(chip, Precision.FP16)


def sheet_flop_per_joule(chip: Chip) -> float:
    """Return the sheet's half-precision FLOP per joule above idle, at the power limit.

    Examples
    --------
    >>> [round(sheet_flop_per_joule(CHIPS[name]) / 1e12, 2) for name in ("H200-SXM", "V100-SXM2")]
    [1.6, 0.47]
    """
    return half_peak_flop_per_second(chip) / (chip.power_limit_watts * (1 - SHEET_IDLE_SHARE))


def transfer_factor(chip: Chip) -> float:
    """Return how far shares may be off on a chip, either way: less on the die they were measured on."""
    is_same = (chip.architecture, chip.n_sm) == (SHARES_FROM.architecture, SHARES_FROM.n_sm)
    return SAME_DIE if is_same else OTHER_CHIP


def formats_of(chip: Chip, formats: Iterable[NumberFormat] = EVERY_FORMAT) -> frozenset[NumberFormat]:
    """Return those of some formats that a chip has; half precision where it has none of them."""
    held = {precision for pipe, precision in chip.flop_per_cycle_per_sm if pipe is Pipe.HMMA}
    has = {each for each in formats if each is NumberFormat.FP32 or _PRECISION[each] in held}
    return frozenset(has or {NumberFormat.HALF})


def share_range(chip: Chip, formats: Iterable[NumberFormat] = EVERY_FORMAT) -> ShareRange:
    """Return what ordinary training reaches of the sheet's FLOP per joule, whichever of the formats it is in.

    Examples
    --------
    >>> share_range(CHIPS["H100-SXM"], [NumberFormat.HALF])
    ShareRange(low=0.07636363636363636, usual=0.4, high=0.5969700000000001)
    """
    ends = [_format_share(chip, each) for each in formats_of(chip, formats)]
    off = transfer_factor(chip)
    low, high = min(low for low, _ in ends) / off, max(high for _, high in ends) * off
    return ShareRange(low, min(max(TYPICAL_SHARE, low), high), high)


def clock_share_range(
    chip: Chip, clock_ratio: float, formats: Iterable[NumberFormat] = EVERY_FORMAT
) -> ShareRange:
    """Return the same for a board at its power limit whose clock is this share of its boost clock."""
    logs = [CLOCK_LOGS[each] for each in formats_of(chip, formats)]
    centre = CLOCK_CENTRE_SHARE * float(np.clip(clock_ratio, *CLOCK_RANGE)) ** CLOCK_EXPONENT
    off = transfer_factor(chip)
    low, high = (
        centre * float(np.exp(min(low for low, _ in logs))) / off,
        centre * float(np.exp(max(high for _, high in logs))) * off,
    )
    return ShareRange(low, min(max(centre, low), high), high)


def _format_share(chip: Chip, number_format: NumberFormat) -> tuple[float, float]:
    half = half_peak_flop_per_second(chip)
    if number_format is NumberFormat.FP32:
        plain = peak_flop_per_second(chip, Precision.FP32, pipe=Pipe.FP32) / half
        return PLAIN_SHARE[0] * plain, PLAIN_SHARE[1] * plain
    speed = peak_flop_per_second(chip, _PRECISION[number_format], pipe=Pipe.HMMA) / half
    return CONVOLUTION_SHARE * min(speed, 1.0), PRODUCT_SHARES[number_format] * BEST_OF_PRODUCTS * speed
