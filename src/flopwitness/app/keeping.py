"""What ``watch`` keeps: finished workloads in journal and ledger, and the idle baselines beside them."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Finished
from flopwitness.app.jobbook import JobBook
from flopwitness.core.session import Session
from flopwitness.storage.journal import Journal

N_RESUMED = 1024
"""Latest workloads whose jobs are taken up after a restart."""

BASELINES = "idle-baselines.json"


class WorkLedger(Protocol):
    """A signed ledger, as far as workloads go."""

    path: Path

    def sessions(self) -> Iterable[Mapping[str, Any]]:
        """Return the workloads that it held when it was opened, with the fields of a journal's entry."""
        ...

    def knows(self, session: Session) -> bool:
        """Say whether it held work of these devices that overlaps."""
        ...

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last instant that it knows of some devices; None where it knows none."""
        ...

    def keep(self, finished: Finished, entry: Mapping[str, Any]) -> None:
        """Force a workload to disk, signed."""
        ...


class Told:
    """Which work was kept before: by device, name and time, not by identity.

    After a restart a partner's end may be known sooner, which changes who is joined to whom.
    """

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take a workload that was kept."""
        for uuid in entry["devices"]:
            lane = self._lanes.setdefault((uuid, entry["name"]), [])
            lane.append((entry["start_ns"], entry["stop_ns"]))

    def __contains__(self, session: Session) -> bool:
        return all(
            any(
                start_ns < session.stop_ns and session.start_ns < stop_ns
                for start_ns, stop_ns in self._lanes.get((trace.device.uuid, session.name), ())
            )
            for trace in session.traces
        )

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last instant of work of some devices; None where there is none."""
        lanes = [lane for (uuid, _), lane in self._lanes.items() if uuid in uuids]
        return max((stop_ns for lane in lanes for _, stop_ns in lane), default=None)


class Kept:
    """The journal and the ledger, if any, and the idle baselines.

    The ledger is written first: what a kill leaves out of the journal is found again after a restart, and
    kept there; the ledger knows it already. Where there is a journal it says what was told before.

    Parameters
    ----------
    path : Path or None
        The journal; the baselines lie beside it.
    entry_of : callable
        Makes JSON values of a finished workload, ``session_id`` and exact instants among them.
    ledger : WorkLedger or None
        The ledger.

    Attributes
    ----------
    baselines : IdleBaselines
        As far as they are known.
    jobs : JobBook
        Jobs of the latest workloads in the journal.
    latest : mapping
        The entry that was kept last.

    Raises
    ------
    BadInputError
        When the journal cannot be written or holds something else.
    """

    def __init__(
        self,
        path: Path | None,
        entry_of: Callable[[Finished], Mapping[str, Any]],
        *,
        ledger: WorkLedger | None = None,
    ) -> None:
        self._journal = Journal(path) if path else None
        self._ledger = ledger
        beside = path or (ledger.path if ledger else None)
        self._baselines_path = beside.parent / BASELINES if beside else None
        self._entry_of = entry_of
        self._told = Told()
        latest: deque[Mapping[str, Any]] = deque(maxlen=N_RESUMED)
        for entry in self._entries():
            latest.append(entry)
            self._told.add(entry)
        self.jobs = JobBook()
        for kept in latest:
            self.jobs.resume(kept)
        self.latest: Mapping[str, Any] = {}
        self.baselines = IdleBaselines()
        if self._baselines_path and self._baselines_path.exists():
            self.baselines.load(self._baselines_path)

    def is_known(self, session: Session) -> bool:
        """Say whether the journal held, when it was opened, work of these devices that overlaps."""
        return session in self._told

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last instant that is known of some devices; None where none is."""
        known_ns = [self._told.last_ns(uuids), self._ledger.last_ns(uuids) if self._ledger else None]
        return max((last_ns for last_ns in known_ns if last_ns is not None), default=None)

    def keep(self, finished: Finished) -> None:
        """Force a workload, and the baselines, to disk."""
        self.latest = self._entry_of(finished)
        if self._ledger is not None and not self._ledger.knows(finished.witnessed.session):
            self._ledger.keep(finished, self.latest)
        if self._journal is not None:
            self._journal.append(self.latest)
        if self._baselines_path is not None:
            self.baselines.save(self._baselines_path)

    def _entries(self) -> Iterable[Mapping[str, Any]]:
        if self._journal is not None:
            return self._journal.entries()
        return self._ledger.sessions() if self._ledger is not None else ()
