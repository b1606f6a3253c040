"""What is known at one instant: GPUs now, workloads running and finished, totals, findings, the ledger.

Plain frozen values, made by the daemon's side once a batch and read by any number of others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.core.finding import Finding
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True)
class Bounded:
    """FLOP with bounds.

    Attributes
    ----------
    low_flop, point_flop, high_flop : float
        0 <= low <= point <= high; the last may be infinite.
    method : str
        What gave them; empty for a sum of several.
    """

    low_flop: float
    point_flop: float
    high_flop: float
    method: str = ""


@dataclass(frozen=True, slots=True)
class DeviceNow:
    """One GPU as its last samples showed it.

    Attributes
    ----------
    uuid, chip, host : str
        Who it is.
    time_ns : int
        Its last sample, UTC nanoseconds.
    gauges : mapping of str to float
        The last batch's mean of each gauge channel, and the last value of each counter, in base units; a
        channel that did not answer in the batch is NaN, one that was never offered is not there.
    running_since_ns : int or None
        Start of the workload that is open on it; None where idle.
    is_lost : bool
        Whether it has stopped answering.
    """

    uuid: str
    chip: str
    host: str
    time_ns: int
    gauges: Mapping[str, float]
    running_since_ns: int | None = None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class RunningWorkload:
    """A workload that has not ended, with its FLOP so far for each target."""

    uuids: tuple[str, ...]
    start_ns: int
    last_ns: int
    flop: Mapping[Target, Bounded]


@dataclass(frozen=True, slots=True)
class FinishedWorkload:
    """A finished workload as a line of a table.

    Attributes
    ----------
    session_id, name : str
        Of its session.
    uuids : tuple of str
        Its GPUs.
    start_ns, stop_ns : int
        UTC nanoseconds.
    flop : mapping of Target to Bounded
        The shown method's estimate; a target without an estimate is not there.
    work_class : str
        What kind of work, ``"unknown"`` included.
    energy_joules : float
        Of its boards; NaN where unknown.
    findings : tuple of str
        Codes.
    job_id : str
        What a scheduler calls the job; empty where nobody said.
    """

    session_id: str
    name: str
    uuids: tuple[str, ...]
    start_ns: int
    stop_ns: int
    flop: Mapping[Target, Bounded]
    work_class: str = "unknown"
    energy_joules: float = float("nan")
    findings: tuple[str, ...] = ()
    job_id: str = ""


@dataclass(frozen=True, slots=True)
class LedgerNow:
    """A ledger as it stands: how many entries, the hash of the last, and whether it is being written."""

    path: str
    n_entries: int
    head_sha256: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that is known at one instant.

    Attributes
    ----------
    at_ns : int
        The last sample of any GPU, UTC nanoseconds; 0 before the first.
    devices, running, finished : tuple
        GPUs in the order of their first sample; workloads by start, the latest finished ones last.
    n_finished : int
        How many workloads have finished in all; ``finished`` may hold the latest alone.
    totals : mapping of Target to Bounded
        Of all that finished; never falls.
    findings : tuple of Finding
        The latest, oldest first.
    n_samples, n_missed : int
        Samples taken in all; rounds that were missed.
    ledger : LedgerNow or None
        None where none is kept.
    """

    at_ns: int = 0
    devices: tuple[DeviceNow, ...] = ()
    running: tuple[RunningWorkload, ...] = ()
    finished: tuple[FinishedWorkload, ...] = ()
    n_finished: int = 0
    totals: Mapping[Target, Bounded] = field(default_factory=lambda: MappingProxyType({}))
    findings: tuple[Finding, ...] = ()
    n_samples: int = 0
    n_missed: int = 0
    ledger: LedgerNow | None = None
