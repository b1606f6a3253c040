"""Product names as files print them, to names of the chip table; an unknown one stays unknown."""

from flopwitness.core.device import Device
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import UnknownChipError, chip_named

UNKNOWN_CHIP = "unknown"


def chip_of(printed: str, asked: str | None = None) -> str:
    """Return a chip's name: as the file prints it, else as the user said, else unknown.

    Examples
    --------
    >>> chip_of("NVIDIA H200"), chip_of("Voodoo 2"), chip_of("", "H100-SXM")
    ('H200-SXM', 'unknown', 'H100-SXM')
    """
    for name in (printed, asked or ""):
        try:
            return chip_named(name).name
        except UnknownChipError:
            continue
    return UNKNOWN_CHIP


def known_chip(device: Device) -> Chip | None:
    """Return the chip of a device; None where nobody knows it.

    Examples
    --------
    >>> known_chip(Device("GPU-a", chip="H200-SXM")).n_sm, known_chip(Device("GPU-b"))
    (132, None)
    """
    try:
        return chip_named(device.chip)
    except UnknownChipError:
        return None
