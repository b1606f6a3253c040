"""What every sampler shares: who a device is, one sample as a Trace, and why a source cannot be used."""

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
    block = np.fromiter(values.values(), np.float64, len(values))[:, None]
    return possible_trace(device, np.array([time_ns], dtype=np.int64), tuple(values), block=block)


def possible_trace(
    device: Device, time_ns: NDArray[np.int64], names: tuple[str, ...], *, block: NDArray[np.float64]
) -> Trace:
    """Return a Trace of fresh arrays, which nobody else may hold: they are blanked in part and kept.

    Parameters
    ----------
    device, time_ns
        As of a Trace.
    names : tuple of str
        Channel of each row.
    block : ndarray of shape (n_channels, n_samples), float64
        Values in base units; infinite or impossible ones become NaN, never clamped.
    """
    low, high = _limits(names)
    block[~((block >= low) & (block <= high))] = np.nan
    for fresh in (time_ns, block, block.base):
        if fresh is not None:
            fresh.flags.writeable = False  # what nobody can write to is not copied again
    return Trace.stacked(device, time_ns, names, block=block)


@lru_cache(maxsize=256)
def _limits(names: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the most that each channel can read."""
    is_ratio = np.array([name.endswith("_ratio") for name in names], dtype=np.bool_)
    largest = np.finfo(np.float64).max
    low = np.where(is_ratio, -RATIO_SLACK, -largest)
    return low[:, None], np.where(is_ratio, 1 + RATIO_SLACK, largest)[:, None]


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
