"""What every sampler shares: who a device is, one sample as a Trace, and why a source cannot be used."""

import re
from collections.abc import Mapping

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError
from flopwitness.core.trace import Trace
from flopwitness.physics.chips import UnknownChipError, chip_named

UNKNOWN_CHIP = "unknown"
MISSING = frozenset({"", "-", "n/a", "err!", "nan", "none", "null"})
"""Lower-case texts that mean "no answer" (nvidia-smi, dcgmi); anything in square brackets does too."""

FIRST_BLANKS = (0x7FFFFFF0, 140737488355328, 0x7FFFFFFFFFFFFFF0)
BLANKS = frozenset(float(first + step) for first in FIRST_BLANKS for step in range(4))
"""DCGM's blanks for int32, double and int64: blank, not found, not supported, no permission.

NVIDIA DCGM, ``dcgmlib/dcgm_fields.h``.
"""

RATIO_SLACK = 0.02
"""A ratio this far outside 0..1 is rounding of the source; further out it is no measurement."""

LEADING_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class SourceUnavailableError(FlopWitnessError):
    """A source of telemetry that this machine does not offer, or that refuses to answer.

    Parameters
    ----------
    source : str
        Its name, such as ``"nvml"``.
    reason : str
        What was tried and what came back.
    remedy : str
        What a person can do about it.
    """

    def __init__(self, source: str, reason: str, *, remedy: str = "") -> None:
        self.source = source
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{source}: {reason}" + (f"; {remedy}" if remedy else ""))


def device_of(uuid: str, product_name: str, *, host: str = "") -> Device:
    """Return a device by UUID, with the chip that its product name stands for.

    Examples
    --------
    >>> device_of("GPU-a", "NVIDIA H200").chip, device_of("GPU-b", "Voodoo 2").chip
    ('H200-SXM', 'unknown')
    """
    try:
        chip = chip_named(product_name).name
    except UnknownChipError:
        chip = UNKNOWN_CHIP
    return Device(uuid, chip=chip, host=host)


def one_sample(device: Device, time_ns: int, values: Mapping[str, float]) -> Trace:
    """Return a Trace of one sample; what cannot be a measurement is NaN, never clamped.

    Parameters
    ----------
    device : Device
        Whose sample it is.
    time_ns : int
        When it was taken, UTC nanoseconds.
    values : mapping of str to float
        Value of each channel in base units; infinite or impossible ones become NaN.
    """
    column = np.empty((len(values), 1))
    column[:, 0] = [_possible(name, value) for name, value in values.items()]
    column.flags.writeable = False  # what nobody can write to is not copied again
    instant = np.array([time_ns], dtype=np.int64)
    return Trace(device, instant, dict(zip(values, column, strict=True)))


def _possible(name: str, value: float) -> float:
    if not -float("inf") < value < float("inf"):
        return float("nan")
    if name.endswith("_ratio") and not -RATIO_SLACK <= value <= 1 + RATIO_SLACK:
        return float("nan")
    return value


def number(text: str) -> float:
    """Return the number that a cell starts with, or NaN where the source gave no answer.

    A unit behind the number is left out, a hexadecimal mask is understood, DCGM's blanks are no answer.

    Examples
    --------
    >>> number("412.10 W"), number("0x4"), number("[N/A]"), number("9223372036854775794")
    (412.1, 4.0, nan, nan)
    """
    cell = text.strip()
    if cell.casefold() in MISSING or cell.startswith(("[", "<")):
        return float("nan")
    if cell[:2].casefold() == "0x":
        return _hexadecimal(cell)
    found = LEADING_NUMBER.match(cell)
    value = float(found.group()) if found else float("nan")
    return float("nan") if value in BLANKS else value


def _hexadecimal(cell: str) -> float:
    try:
        return float(int(cell, 16))
    except ValueError:
        return float("nan")
