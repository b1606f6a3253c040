"""Which job of a scheduler a session belongs to: by the UUIDs of its GPUs and the job's window alone."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from flopwitness.app.daemon import Daemon, Finished
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.session import Session
from flopwitness.physics.chips import UnknownChipError, chip_named
from flopwitness.telemetry.scheduling.hpc_map import Holding, holdings, uuid_at
from flopwitness.telemetry.scheduling.job_log import LOG_NAME, JobLog
from flopwitness.telemetry.scheduling.names import DeviceOrder, alike_groups, has_index, visible_uuids
from flopwitness.telemetry.scheduling.windows import JobWindow

N_ENDED = 4096
"""Latest windows of dcgm-exporter's map that are remembered after they ended."""


class SchedulerJobs:
    """Follows a folder of jobs; implements ``flopwitness.app.observing.Observer``.

    The folder holds our journal, dcgm-exporter's HPC map, or both; a job that the journal knows on a GPU is
    not taken from the map again. A map says who holds a GPU now: its windows begin when the file was
    written and end when a look finds the job gone, a batch late at most.

    Parameters
    ----------
    folder : Path
        Where they lie.
    devices : sequence of Device
        GPUs that are watched.
    pci_uuids : sequence of str
        All GPUs of this host by PCI address; empty where that is not known, as for a replay: an index is then
        ambiguous, and is refused.
    say : callable
        Takes a line for people.

    Raises
    ------
    BadInputError
        When the folder is not there.
    """

    def __init__(
        self,
        folder: Path,
        devices: Sequence[Device],
        *,
        pci_uuids: Sequence[str] = (),
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not folder.is_dir():
            raise BadInputError(str(folder), "", expected="a folder of jobs", got="none")
        self._folder = folder
        self._pci_uuids = tuple(pci_uuids)
        self._say = say
        self._log = JobLog(folder / LOG_NAME, partial(_resolved, devices=devices, pci_uuids=self._pci_uuids))
        self._held: dict[tuple[str, str], JobWindow] = {}
        self._ended: list[JobWindow] = []
        self._refused: set[int] = set()

    def take(self, daemon: Daemon) -> None:
        """Look at the map as of the daemon's latest batch."""
        if daemon.latest:
            self.look(max(int(piece.time_ns[-1]) for piece in daemon.latest))

    def count(self, finished: Finished) -> None:
        """Do nothing: who writes a session down asks for its jobs."""

    def close(self) -> None:
        """Let go of nothing."""

    def look(self, now_ns: int) -> None:
        """Take what the map says at an instant, UTC nanoseconds."""
        now: dict[tuple[str, str], JobWindow] = {}
        for holding in holdings(self._folder):
            uuid = uuid_at(holding.index, self._pci_uuids)
            if uuid is None:
                self._refuse(holding)
                continue
            start_ns = min(holding.written_ns, now_ns)
            fresh = JobWindow(holding.job_id, (uuid,), start_ns)
            now[holding.job_id, uuid] = self._held.get((holding.job_id, uuid), fresh)
        gone = [window for key, window in self._held.items() if key not in now]
        ended = [replace(window, stop_ns=max(now_ns, window.start_ns)) for window in gone]
        self._ended = [*self._ended, *ended][-N_ENDED:]
        self._held = now

    def windows(self) -> tuple[JobWindow, ...]:
        """Return every window that is known now, by start."""
        self._log.look()
        logged = {(window.job_id, uuid) for window in self._log.windows for uuid in window.uuids}
        mapped = [
            one for one in (*self._ended, *self._held.values()) if (one.job_id, one.uuids[0]) not in logged
        ]
        return tuple(sorted((*self._log.windows, *mapped), key=lambda one: (one.start_ns, one.job_id)))

    def job_ids(self, session: Session) -> tuple[str, ...]:
        """Return the jobs that a session ran in, the one with most of it first; empty where nobody knows."""
        return ids_of(self.windows(), session)

    def job_id(self, session: Session) -> str:
        """Return the job that has most of a session; empty where nobody knows."""
        return next(iter(self.job_ids(session)), "")

    def findings(self) -> tuple[Finding, ...]:
        """Return what could not be used of the folder."""
        return self._log.findings()

    def _refuse(self, holding: Holding) -> None:
        if holding.index not in self._refused:
            self._refused.add(holding.index)
            path = self._folder / str(holding.index)
            self._say(f"{path} names a GPU by an index that could be several: its jobs are passed over")


def ids_of(windows: Iterable[JobWindow], session: Session) -> tuple[str, ...]:
    """Return the jobs whose windows hold a session on one of its GPUs, the longest overlap first."""
    uuids = {trace.device.uuid for trace in session.traces}
    ends = session.start_ns, session.stop_ns
    seconds: dict[str, float] = {}
    for window in windows:
        shared = len(uuids.intersection(window.uuids))
        if shared and window.holds(*ends):
            held = window.overlap_seconds(*ends) * shared
            seconds[window.job_id] = seconds.get(window.job_id, 0.0) + held
    return tuple(sorted(seconds, key=lambda job_id: (-seconds[job_id], job_id)))


def _resolved(
    value: str, order: DeviceOrder, *, devices: Sequence[Device], pci_uuids: Sequence[str]
) -> tuple[str, ...]:
    """Resolve a CUDA_VISIBLE_DEVICES; without PCI order a place says nothing, UUIDs all the same."""
    if not pci_uuids:
        if has_index(value):
            raise BadInputError("job", "", expected="UUIDs, as the order of GPUs is not known", got=value)
        return visible_uuids(value, [[device.uuid for device in devices]])
    return visible_uuids(value, alike_groups(order, pci_uuids, _speeds(devices)))


def _speeds(devices: Iterable[Device]) -> dict[str, float]:
    """Return what CUDA orders by as far as it tells products apart, SMs times clock; of known chips."""
    speeds = {}
    for device in devices:
        with suppress(UnknownChipError):
            chip = chip_named(device.chip)
            speeds[device.uuid] = chip.n_sm * chip.boost_clock_hertz
    return speeds
