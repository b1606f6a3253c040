"""What a daemon has found so far, as anybody may read it at any time: the latest snapshot, and the history.

The daemon writes, batch by batch; servers read from threads of their own. Memory is bounded.
"""

import threading
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from flopwitness.app.daemon import Daemon, Finished
from flopwitness.app.serving.history import Curves, GpuHistory
from flopwitness.app.serving.lines import finished_line, gauges, running_line, summed
from flopwitness.app.serving.snapshot import Bounded, DeviceNow, FinishedWorkload, LedgerNow, Snapshot
from flopwitness.app.sofar import SoFar
from flopwitness.core.finding import Finding
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.core.workload import Target

N_FINISHED, N_FINDINGS = 200, 100
"""Latest finished workloads and findings that a snapshot holds."""

LOST_SECONDS = 10.0
"""A GPU without a sample for so long, while others answer, counts as lost."""


STEP_SECONDS = 3.0
"""FLOP of open work move on so often."""


class Watched(Protocol):
    """What is known of the source beside its samples."""

    @property
    def n_missed(self) -> int:
        """Rounds that were missed."""
        ...

    def findings(self) -> tuple[Finding, ...]:
        """Return what is to be known of the samples."""
        ...


class Unwatched:
    """A source of which nothing more is known."""

    n_missed = 0

    def findings(self) -> tuple[Finding, ...]:
        """Return nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What the daemon itself does not know.

    Attributes
    ----------
    label : str
        What is watched, for people, such as ``"replay of node-a at 60 x"``.
    source : Watched
        Says what was missed.
    ledger : callable
        Says how the ledger stands; None where none is kept.
    job_of : callable
        Says what a scheduler calls the job of a session; empty where nobody knows.
    """

    label: str = ""
    source: Watched = Unwatched()  # noqa: RUF009  it has no state
    ledger: Callable[[], LedgerNow | None] = lambda: None
    job_of: Callable[[Session], str] = lambda _: ""


class LiveBook:
    """Keeps the latest snapshot and the history; implements ``flopwitness.app.observing.Observer``.

    FLOP of running workloads are those of the calibrated pipe sum, with the bounds that the calibration holds
    for it; a finished workload brings the full estimate.

    Parameters
    ----------
    target : Target
        Which FLOP are shown first; all are kept.
    facts : Facts
        What the daemon does not know.

    Attributes
    ----------
    snapshot : Snapshot
        The latest; a frozen value.
    version : int
        Grows with each snapshot.
    notes : int
        Grows where finished workloads or findings are others than in the snapshot before.
    is_over : bool
        Whether nothing more will come.
    """

    def __init__(self, target: Target = Target.ALGORITHMIC, *, facts: Facts | None = None) -> None:
        self.target = target
        self.facts = facts or Facts()
        self.snapshot = Snapshot()
        self.version = self.notes = 0
        self.is_over = False
        self._lock = threading.Lock()
        self._so_far = SoFar(step_seconds=STEP_SECONDS)
        self._history: dict[str, GpuHistory] = {}
        self._devices: dict[str, DeviceNow] = {}
        self._finished: deque[FinishedWorkload] = deque(maxlen=N_FINISHED)
        self._findings: deque[Finding] = deque(maxlen=N_FINDINGS)
        self._totals: dict[Target, Bounded] = {}
        self._n_finished = self._n_samples = 0

    def take(self, daemon: Daemon) -> None:
        """Take the daemon's latest batch and publish what is known with it."""
        with self._lock:
            for piece in daemon.latest:
                self._look_at(piece, daemon)
            self._so_far.close(daemon.finder)
        self._publish(daemon)

    def count(self, finished: Finished) -> None:
        """Take a finished workload; the next batch shows it."""
        line = finished_line(finished, job_id=self.facts.job_of(finished.witnessed.session))
        self._finished.append(line)
        self._findings += [one for one in finished.witnessed.findings if one not in self._findings]
        for target, flop in line.flop.items():
            before = self._totals.get(target)
            self._totals[target] = summed(before, flop) if before else replace(flop, method="")
        self._n_finished += 1

    def close(self) -> None:
        """Say that nothing more will come; what was found stays readable."""
        self.is_over = True
        self.version += 1

    def history(self, uuids: Collection[str], start_ns: int, stop_ns: int, n_steps: int) -> dict[str, Curves]:
        """Return the curves of these GPUs; those that were never seen are absent.

        Parameters
        ----------
        uuids : collection of str
            Which.
        start_ns, stop_ns : int
            The stretch, UTC nanoseconds.
        n_steps : int
            At most about so many, > 0.
        """
        with self._lock:
            known = [uuid for uuid in uuids if uuid in self._history]
            return {uuid: self._history[uuid].curves(start_ns, stop_ns, n_steps) for uuid in known}

    def first_ns(self) -> int:
        """Return the first sample of any GPU; 0 before it."""
        with self._lock:
            return min((one.first_ns for one in self._history.values()), default=0)

    def _look_at(self, piece: Trace, daemon: Daemon) -> None:
        uuid = piece.device.uuid
        history = self._history.get(uuid) or self._history.setdefault(uuid, GpuHistory())
        self._n_samples += int((piece.time_ns > history.last_ns).sum())
        history.push(piece)
        work = self._so_far.advance(daemon.finder, uuid)
        before = self._devices[uuid].gauges if uuid in self._devices else {}
        self._devices[uuid] = DeviceNow(
            uuid,
            piece.device.chip,
            piece.device.host,
            history.last_ns,
            MappingProxyType(dict.fromkeys(before, float("nan")) | gauges(piece)),
            work.sums.start_ns if work else None,
        )

    def _publish(self, daemon: Daemon) -> None:
        at_ns = max((one.time_ns for one in self._devices.values()), default=0)
        before, self.snapshot = (
            self.snapshot,
            Snapshot(
                at_ns,
                tuple(_as_of(one, at_ns, daemon) for one in self._devices.values()),
                tuple(running_line(works, daemon) for works in self._so_far.groups()),
                tuple(self._finished),
                self._n_finished,
                MappingProxyType(dict(self._totals)),
                (*self.facts.source.findings(), *self._findings)[-N_FINDINGS:],
                self._n_samples,
                self.facts.source.n_missed,
                self.facts.ledger(),
            ),
        )
        self.notes += (before.n_finished, before.findings) != (self._n_finished, self.snapshot.findings)
        self.version += 1


def _as_of(device: DeviceNow, at_ns: int, daemon: Daemon) -> DeviceNow:
    """Return a device with what the others' samples say of it."""
    is_lost = at_ns - device.time_ns > LOST_SECONDS * NANOSECONDS_PER_SECOND
    since_ns = daemon.finder.open_since_ns(device.uuid) and device.running_since_ns
    return replace(device, is_lost=is_lost, running_since_ns=since_ns)
