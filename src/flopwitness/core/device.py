"""Who a sample belongs to."""

from dataclasses import dataclass

from flopwitness.core.errors import InvalidNounError


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """One physical GPU.

    Attributes
    ----------
    uuid : str
        Its key, never an index: drivers, CUDA and exporters may count in different orders.
        Where a source kept no UUID, the reader makes ``<capture>:<index>`` and says so.
    chip : str
        Name in the table of ``flopwitness.physics.chips``, such as ``"H200-SXM"``;
        ``"unknown"`` where nobody said.
    host : str
        The machine it sits in; empty where nobody said.

    Raises
    ------
    InvalidNounError
        When the UUID is empty.

    Examples
    --------
    >>> Device("GPU-aaaa", chip="H200-SXM").uuid
    'GPU-aaaa'
    """

    uuid: str
    chip: str = "unknown"
    host: str = ""

    def __post_init__(self) -> None:
        """Refuse a device that nothing tells apart."""
        if not self.uuid:
            raise InvalidNounError("a device needs a UUID")
