"""What is remembered of a session so that a later one can be linked to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.jobs.memory import MemoryRuns, memory_runs
from flopwitness.detect.jobs.signature import SIGNALS, step_signature
from flopwitness.detect.stretches import STALLED_NAME


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A session as far as links need it: a few hundred bytes, however long it was.

    Attributes
    ----------
    session_id : str
        Of the session.
    start_ns, stop_ns : int
        Its stretch, UTC nanoseconds.
    hosts : mapping of str to str
        Host of each of its devices, by UUID.
    signature : ndarray of shape (n_signals,), float64
        As ``step_signature``; NaN throughout of a stalled session, which does no steps.
    level_bytes : mapping of str to float
        Device memory in use for most of the session, by UUID; a device without a reading is absent.
    """

    session_id: str
    start_ns: int
    stop_ns: int
    hosts: Mapping[str, str]
    signature: NDArray[np.float64]
    level_bytes: Mapping[str, float]

    @property
    def uuids(self) -> frozenset[str]:
        """Devices of the session."""
        return frozenset(self.hosts)

    @property
    def seconds(self) -> float:
        """Length of the session."""
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND


def mark_of(session: Session, traces: Sequence[Trace], memory: Mapping[str, MemoryRuns]) -> Mark:
    """Return the mark of a session.

    Parameters
    ----------
    session : Session
        Which one; its own traces need hold no samples.
    traces : sequence of Trace
        Samples of at least the last ``HORIZON_SECONDS`` of the session; other devices are left out.
    memory : mapping of str to MemoryRuns
        By UUID, over the session.
    """
    hosts = {trace.device.uuid: trace.device.host for trace in session.traces}
    held = [trace for trace in traces if trace.device.uuid in hosts]
    signature = (
        np.full(len(SIGNALS), np.nan)
        if session.name == STALLED_NAME or not held
        else step_signature(held, session.start_ns, session.stop_ns)
    )
    levels = {
        uuid: level
        for uuid in hosts
        if uuid in memory
        and (level := memory[uuid].level_within(session.start_ns, session.stop_ns)) is not None
    }
    return Mark(session.session_id, session.start_ns, session.stop_ns, hosts, signature, levels)


def memory_by_uuid(traces: Sequence[Trace]) -> dict[str, MemoryRuns]:
    """Return the memory of each device that has readings."""
    found = {trace.device.uuid: memory_runs(trace) for trace in traces}
    return {uuid: runs for uuid, runs in found.items() if len(runs)}
