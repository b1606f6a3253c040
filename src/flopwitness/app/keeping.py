"""What ``watch`` keeps: a line a finished workload in the journal, and the idle baselines beside it."""

from collections import deque
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Finished
from flopwitness.app.jobbook import JobBook
from flopwitness.core.session import Session
from flopwitness.storage.journal import Journal

N_RESUMED = 1024
"""Latest workloads whose jobs are taken up after a restart."""

BASELINES = "idle-baselines.json"


class Kept:
    """The journal, if any, and the idle baselines.

    Parameters
    ----------
    path : Path or None
        The journal; the baselines lie beside it.
    entry_of : callable
        Makes JSON values of a finished workload, ``session_id`` and exact instants among them.

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

    def __init__(self, path: Path | None, entry_of: Callable[[Finished], Mapping[str, object]]) -> None:
        self._journal = Journal(path) if path else None
        self._baselines_path = path.parent / BASELINES if path else None
        self._entry_of = entry_of
        self._told: dict[tuple[str, str], list[tuple[int, int]]] = {}
        latest: deque[Mapping[str, Any]] = deque(maxlen=N_RESUMED)
        for entry in self._journal.entries() if self._journal else ():
            latest.append(entry)
            for uuid in entry["devices"]:
                lane = self._told.setdefault((uuid, entry["name"]), [])
                lane.append((entry["start_ns"], entry["stop_ns"]))
        self.jobs = JobBook()
        for kept in latest:
            self.jobs.resume(kept)
        self.latest: Mapping[str, object] = {}
        self.baselines = IdleBaselines()
        if self._baselines_path and self._baselines_path.exists():
            self.baselines.load(self._baselines_path)

    def is_known(self, session: Session) -> bool:
        """Say whether the journal held, when it was opened, work of these devices that overlaps.

        Not the identity alone: after a restart a partner's end may be known sooner, which changes who is
        joined to whom.
        """
        return all(
            any(
                start_ns < session.stop_ns and session.start_ns < stop_ns
                for start_ns, stop_ns in self._told.get((trace.device.uuid, session.name), ())
            )
            for trace in session.traces
        )

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last instant that the journal knows of some devices; None where it knows none."""
        lanes = [lane for (uuid, _), lane in self._told.items() if uuid in uuids]
        return max((stop_ns for lane in lanes for _, stop_ns in lane), default=None)

    def keep(self, finished: Finished) -> None:
        """Force a workload, and the baselines, to disk."""
        self.latest = self._entry_of(finished)
        if self._journal is not None and self._baselines_path is not None:
            self._journal.append(self.latest)
            self.baselines.save(self._baselines_path)
