"""What a format is: how it is recognised, and how its lines become readings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.products import chip_of


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a file.

    Attributes
    ----------
    data : bytes
        Up to 64 KiB, unpacked.
    lines : tuple of str
        Its lines that are not blank, without blanks at their ends; the last may be cut.
    """

    data: bytes
    lines: tuple[str, ...]

    @classmethod
    def of(cls, data: bytes) -> "Head":
        """Return the head of a file."""
        text = data.decode("utf-8", errors="replace")
        stripped = (line.strip() for line in text.splitlines())
        return cls(data, tuple(line for line in stripped if line))

    @property
    def first(self) -> str:
        """The first line; empty where there is none."""
        return self.lines[0] if self.lines else ""

    def header(self, separator: str = ",") -> tuple[str, ...]:
        """Return the cells of the first line, lower case, without blanks and quotes around them."""
        return _cells(self.first, separator)


@lru_cache(maxsize=4)
def _cells(line: str, separator: str) -> tuple[str, ...]:
    """Split a line once for all formats that look at it."""
    return tuple(cell.strip(' \t\r"').lower() for cell in line.split(separator))


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Rows of one block in base units, before anything is put in order.

    Attributes
    ----------
    devices : mapping of int to Device
        The device behind each number of ``index``.
    index : ndarray of shape (n_rows,), int64
        Whose row it is.
    time_ns : ndarray of shape (n_rows,), int64
        UTC nanoseconds, in any order.
    channels : mapping of str to ndarray of shape (n_rows,), float64
        Finite or NaN.
    """

    devices: Mapping[int, Device]
    index: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    channels: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Summary:
    """A file that holds no samples but figures about stretches: job records, energy windows, process lists.

    Attributes
    ----------
    title : str
        What the rows are.
    rows : tuple of mapping of str to object
        Plain values; names end in base units; None where the file has no answer.
    findings : tuple of Finding
        What reading lost.
    """

    title: str
    rows: tuple[Mapping[str, object], ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """One pass over one file."""

    input: Input
    asked: Asked = NOTHING_ASKED
    notes: Notes = field(default_factory=Notes)

    @property
    def path(self) -> str:
        """Where the file lies, for messages."""
        return self.input.path

    @property
    def capture(self) -> str:
        """Name of the capture."""
        return self.asked.name or self.input.name

    def refused(self, where: str, *, expected: str, got: str) -> BadInputError:
        """Return the error that refuses this file."""
        return BadInputError(self.path, where, expected=expected, got=got)

    def device(self, index: object, *, uuid: str = "", chip: str = "", host: str = "") -> Device:
        """Return a device; without a UUID it is named by capture and index, and a note says so once.

        Parameters
        ----------
        index : object
            Its number or label in the file.
        uuid : str
            Its UUID; empty where the format keeps none.
        chip : str
            Its product, as the file prints it; what the user said where empty.
        host : str
            Its machine; what the user said where empty.
        """
        if not _plain(uuid):
            self.notes.say(UUID_INFERRED)
        name = chip_of(chip, self.asked.chip)
        key = _plain(uuid) or f"{self.capture}:{_plain(str(index))}"
        return Device(key, chip=name, host=_plain(host) or self.asked.host)


def _plain(text: str) -> str:
    """Return a foreign name on one line and as UTF-8 can hold it; JSON may carry half a surrogate pair."""
    return " ".join(text.encode(errors="replace").decode().split())


NODE_POWER = Finding(
    "node-power", "power is that of the whole node: GPUs, host, fans, losses of the supply", Severity.NOTE
)
"""Said of every format whose meter stands before the node."""

UUID_INFERRED = Finding(
    "uuid-inferred", "the format keeps no UUID; devices are named by capture and index", Severity.NOTE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file format.

    Attributes
    ----------
    name : str
        Stable word, such as ``"nvidia-smi-csv"``.
    title : str
        For people.
    claims : callable
        Says from a file's head whether it is of this format; never raises.
    parse : callable or None
        Gives the readings of a file, block by block; None where the format holds no samples.
    summarise : callable or None
        Gives the figures of a file that holds no samples.
    is_relayed : bool
        Whether a service stands between devices and file, which may go on answering for them.
    version : int
        Rises when the same bytes would read otherwise.
    notes : mapping of str to str
        Facts about channels that a user should know, by channel.
    """

    name: str
    title: str
    claims: Callable[[Head], bool]
    parse: Callable[[Context], Iterator[Readings]] | None = None
    summarise: Callable[[Context], Summary] | None = None
    is_relayed: bool = False
    version: int = 1
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
