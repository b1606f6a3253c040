"""One capture: the traces of its devices and where they came from."""

from dataclasses import dataclass, field
from typing import Self

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a recording came from.

    Attributes
    ----------
    source : str
        What took the samples, such as ``"nvml+gpm"``.
    input_sha256 : str
        SHA-256 of the bytes that were read, 64 hex digits; empty for a live capture.
    host, driver : str
        Machine and driver version; empty where unknown.
    clock : str
        Which clock gave the instants, such as ``"host UTC"``.
    interval_seconds : float or None
        The sampling interval that was asked for.
    reader : str
        Name and version of what read it.
    """

    source: str
    input_sha256: str = ""
    host: str = ""
    driver: str = ""
    clock: str = ""
    interval_seconds: float | None = None
    reader: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """The traces of one capture, one a device, with what is known to be wrong with them.

    Attributes
    ----------
    name : str
        Name of the capture.
    traces : tuple of Trace
        In the order of the source; no device twice.
    provenance : Provenance
        Where it came from.
    findings : tuple of Finding
        What reading it lost, counted and named.

    Raises
    ------
    InvalidNounError
        When a device occurs twice or there is none.
    """

    name: str
    traces: tuple[Trace, ...]
    provenance: Provenance
    findings: tuple[Finding, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse a device that is there twice, and a recording of nothing."""
        uuids = [trace.device.uuid for trace in self.traces]
        if not uuids:
            raise InvalidNounError(f"recording {self.name!r} holds no device")
        if len(set(uuids)) < len(uuids):
            raise InvalidNounError(f"recording {self.name!r} holds a device twice: {sorted(uuids)}")

    def within(self, start_ns: int, stop_ns: int) -> Self:
        """Return the same recording, cut to the closed stretch; findings stay."""
        cut = tuple(trace.within(start_ns, stop_ns) for trace in self.traces)
        return type(self)(self.name, cut, self.provenance, self.findings)
