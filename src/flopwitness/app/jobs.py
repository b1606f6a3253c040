"""Jobs from sessions: of a whole recording, and of a stream whose samples do not stay."""

from collections import deque
from collections.abc import Sequence

from flopwitness.app.ticking import Round
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.detect.jobs.chain import JobChain, Placed
from flopwitness.detect.jobs.mark import Mark, mark_of, memory_by_uuid
from flopwitness.detect.jobs.memory import MemoryRuns, joined_runs, memory_runs
from flopwitness.detect.jobs.signature import HORIZON_SECONDS

KEPT_SECONDS = HORIZON_SECONDS + 60.0
"""Samples that a stream keeps: those of a signature, and a minute in which a session may still be told of."""

MAX_MEMORY_RUNS = 4096
"""Changes of device memory that a stream remembers for each device: 100 kB, days of training."""


def placed_jobs(sessions: Sequence[Session], traces: Sequence[Trace]) -> tuple[Placed, ...]:
    """Return the job of each session of a recording, in the order of the sessions.

    Parameters
    ----------
    sessions : sequence of Session
        In any order.
    traces : sequence of Trace
        The whole recording.
    """
    chain, memory = JobChain(), memory_by_uuid(traces)
    by_end = sorted(range(len(sessions)), key=lambda at: _rank(sessions[at]))
    placed = {at: chain.place(mark_of(sessions[at], traces, memory), memory) for at in by_end}
    return tuple(placed[at] for at in range(len(sessions)))


class JobStream:
    """Places sessions as they are told; of the samples it keeps the last minutes alone."""

    def __init__(self) -> None:
        self._chain = JobChain()
        self._recent: dict[str, deque[Trace]] = {}
        self._memory: dict[str, MemoryRuns] = {}

    @property
    def open_ids(self) -> frozenset[str]:
        """Jobs that may still go on."""
        return self._chain.open_ids

    @property
    def n_kept(self) -> int:
        """Samples in memory."""
        return sum(len(piece) for pieces in self._recent.values() for piece in pieces)

    def observe(self, pieces: Round) -> None:
        """Take the next samples of each device."""
        for piece in pieces:
            if len(piece):
                self._keep(piece)

    def mark(self, session: Session) -> Mark:
        """Return the mark of a session that has ended; its samples were observed before."""
        uuids = [trace.device.uuid for trace in session.traces]
        traces = [joined(self._recent[uuid]) for uuid in uuids if uuid in self._recent]
        return mark_of(session, traces, self._memory)

    def place(self, mark: Mark) -> Placed:
        """Place the next session."""
        return self._chain.place(mark, self._memory)

    def resume(self, mark: Mark, placed: Placed) -> None:
        """Remember a session that was placed before a restart."""
        self._chain.resume(mark, placed)

    def _keep(self, piece: Trace) -> None:
        uuid = piece.device.uuid
        recent = self._recent.setdefault(uuid, deque())
        from_ns = int(piece.time_ns[0]) - round(KEPT_SECONDS * NANOSECONDS_PER_SECOND)
        while recent and recent[0].time_ns[-1] < from_ns:
            recent.popleft()
        recent.append(piece)
        runs = memory_runs(piece)
        if len(runs):
            known = [self._memory[uuid], runs] if uuid in self._memory else [runs]
            self._memory[uuid] = joined_runs(known).newest(MAX_MEMORY_RUNS)


def _rank(session: Session) -> tuple[int, int]:
    return session.stop_ns, session.start_ns
