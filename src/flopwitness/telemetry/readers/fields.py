"""What a field of a file is: its channel, its unit, and which values are impossible.

A channel's meaning comes from the tables of the formats, never from what a file says of itself, such as a
type line.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BYTES_PER_KIBIBYTE = 1024.0
BYTES_PER_MEBIBYTE = 1048576.0
BYTES_PER_MEGABYTE = 1e6
HERTZ_PER_MEGAHERTZ = 1e6
PERCENT_PER_RATIO = 100.0
MILLIJOULES_PER_JOULE = 1000.0
MILLIWATTS_PER_WATT = 1000.0

RATIO_SLACK = 0.02
"""A ratio this far outside 0..1 is rounding of the source; further out it is no measurement."""

LARGEST_COUNT = 2.0**64
"""No source counter or gauge has more than 64 bits."""

MOST_DEVICE_WATTS = 10_000.0
"""No GPU draws more: the largest boards are near 1,400 W (NVIDIA GB300), superchips near 2,700 W."""

MOST_NODE_WATTS = 1e6
"""No node behind one meter draws more; a rack has some 130 kW (NVIDIA GB200 NVL72)."""

MOST_PCIE_BYTES_PER_SECOND = 3e11
"""Above PCIe 7.0 with 16 lanes, 242 GB/s a direction (PCI-SIG): beyond any link."""

MOST_NVLINK_BYTES_PER_SECOND = 4e12
"""Above NVLink 6, 1.8 TB/s a direction and GPU (NVIDIA): beyond any link."""

MOST_HERTZ = 1e11
MOST_CELSIUS = 300.0
LEAST_CELSIUS = -100.0
"""A sensor without power reads -256 (NVIDIA, tegrastats)."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a file: value in base units = cell x ``multiplier`` / ``divisor``.

    Attributes
    ----------
    channel : str
        Canonical name, see ``flopwitness.core.channels``.
    multiplier, divisor : float
        Exact where the unit is a power of ten.
    blanks : tuple of float
        Cells that mean "no answer" in this field, beside the general ones, such as -1.
    is_minor : bool
        Whether it yields to another field of the same channel in the same file.
    unit : str
        What cells may carry behind the number, as printed.
    """

    channel: str
    multiplier: float = 1.0
    divisor: float = 1.0
    blanks: tuple[float, ...] = ()
    is_minor: bool = False
    unit: str = ""


def plain(channel: str) -> Field:
    """Return a field in base units."""
    return Field(channel)


def percent(channel: str) -> Field:
    """Return a field in percent."""
    return Field(channel, divisor=PERCENT_PER_RATIO)


def megahertz(channel: str) -> Field:
    """Return a field in MHz."""
    return Field(channel, multiplier=HERTZ_PER_MEGAHERTZ)


def mebibytes(channel: str) -> Field:
    """Return a field in MiB, or MiB a second."""
    return Field(channel, multiplier=BYTES_PER_MEBIBYTE)


def megabytes(channel: str) -> Field:
    """Return a field in MB, or MB a second."""
    return Field(channel, multiplier=BYTES_PER_MEGABYTE)


def milli(channel: str) -> Field:
    """Return a field in thousandths: mW, mJ."""
    return Field(channel, divisor=1000.0)


UNITS: Mapping[str, tuple[float, float]] = {
    "w": (1.0, 1.0),
    "mw": (1.0, 1000.0),
    "kw": (1000.0, 1.0),
    "uw": (1.0, 1e6),
    "j": (1.0, 1.0),
    "mj": (1.0, 1000.0),
    "%": (1.0, 100.0),
    "mhz": (1e6, 1.0),
    "ghz": (1e9, 1.0),
    "hz": (1.0, 1.0),
    "b": (1.0, 1.0),
    "kib": (1024.0, 1.0),
    "mib": (1048576.0, 1.0),
    "gib": (1073741824.0, 1.0),
    "kb": (1e3, 1.0),
    "mb": (1e6, 1.0),
    "gb": (1e9, 1.0),
    "mb/s": (1e6, 1.0),
    "c": (1.0, 1.0),
}
"""Units as headers print them, lower case, to base units: multiplier and divisor."""


def in_unit(channel: str, unit: str) -> Field | None:
    """Return a field of a channel whose unit a header names; None where nobody knows the unit.

    Examples
    --------
    >>> in_unit("power_watts", "mW").divisor, in_unit("power_watts", "furlongs")
    (1000.0, None)
    """
    found = UNITS.get(unit.strip().lower())
    return None if found is None else Field(channel, *found, unit=unit.strip())


LIMITS: Mapping[str, tuple[float, float]] = {
    "_ratio": (-RATIO_SLACK, 1.0 + RATIO_SLACK),
    "_celsius": (LEAST_CELSIUS, MOST_CELSIUS),
    "_watts": (0.0, MOST_DEVICE_WATTS),
    "_hertz": (0.0, MOST_HERTZ),
    "_bytes_per_second": (0.0, MOST_NVLINK_BYTES_PER_SECOND),
}
"""Least and largest value that can be a measurement, by the ending of a channel's name."""


def possible(channel: str) -> tuple[float, float]:
    """Return the least and the largest value of a channel, in base units, that can be a measurement."""
    if channel == "node_power_watts":
        return 0.0, MOST_NODE_WATTS
    if channel.startswith("pcie") and channel.endswith("_per_second"):
        return 0.0, MOST_PCIE_BYTES_PER_SECOND
    return next((ends for ending, ends in LIMITS.items() if channel.endswith(ending)), (0.0, LARGEST_COUNT))


def in_base_units(field: Field, cells: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Convert cells; what cannot be a measurement becomes NaN, never clamped.

    Parameters
    ----------
    field : Field
        What the cells are.
    cells : ndarray of shape (n_rows,), float64
        Finite, infinite or NaN, in the unit of the source.

    Returns
    -------
    values : ndarray of shape (n_rows,), float64
        In base units, finite or NaN.
    is_impossible : ndarray of shape (n_rows,), bool
        Where a number was taken out.

    Examples
    --------
    >>> values, is_impossible = in_base_units(percent("tensor_active_ratio"), np.array([44.0, 101.0, 150.0]))
    >>> values.tolist(), is_impossible.tolist()
    ([0.44, 1.01, nan], [False, False, True])
    """
    with np.errstate(over="ignore"):  # an overflow is infinite, hence impossible
        values = cells * field.multiplier / field.divisor
    for blank in field.blanks:
        values[cells == blank] = np.nan
    least, largest = possible(field.channel)
    is_impossible = (values < least) | (values > largest)
    values[is_impossible] = np.nan
    return values, is_impossible
