"""Workloads as they end: a watch a device, devices of one job together, memory bounded."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from flopwitness.app.tally import Summed, Tally, stub_session
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.stream import Watch
from flopwitness.detect.stretches import Stretch
from flopwitness.estimate.features.row import SessionFeatures

WAIT_SECONDS = 10.0
"""Overlapping stretches of several devices are one job where they end this close to each other.

Ranks of one job end together; two tenants of a node do not. A whole recording is stitched without this limit.
"""

LAG_SECONDS = 15.0
"""How long after its end a watch may still tell of a stretch: a stall of 5 s, polls of 4.5 s, and room.

Later than that comes only the end of a stall that long unseen time follows; sums then count as spread
evenly.
"""

CHUNK_SECONDS = 60.0
"""Samples older than this are kept as sums."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A finished workload.

    Attributes
    ----------
    session : Session
        Its stretch and devices; the samples are gone.
    features : SessionFeatures
        What estimators see, for an idle power of 0.
    n_samples : int
        Samples inside the stretch, over all devices.
    """

    session: Session
    features: SessionFeatures
    n_samples: int


@dataclass(frozen=True, slots=True)
class _Closed:
    uuid: str
    stretch: Stretch

    @property
    def lane(self) -> tuple[str, str]:
        """Device and name: a stalled device may lie beside its working partners, and counts apart."""
        return self.uuid, self.stretch.name

    @property
    def rank(self) -> tuple[int, int, str]:
        return self.stretch.stop_ns, self.stretch.start_ns, self.uuid


class WorkloadFinder:
    """Takes samples, tells workloads once no partner can join them any more.

    Which stretches belong together depends on their instants alone, not on how the stream was cut: those of
    one name that overlap and whose ends follow within ``wait_seconds``. A device is never counted twice.

    Parameters
    ----------
    make_watch : callable
        Gives the watch of a device that is seen for the first time.
    wait_seconds, chunk_seconds : float
        As ``WAIT_SECONDS`` and ``CHUNK_SECONDS``.
    """

    def __init__(
        self,
        make_watch: Callable[[], Watch],
        *,
        wait_seconds: float = WAIT_SECONDS,
        chunk_seconds: float = CHUNK_SECONDS,
    ) -> None:
        self._make_watch = make_watch
        self._wait_ns = round(wait_seconds * NANOSECONDS_PER_SECOND)
        self._chunk_ns = round(chunk_seconds * NANOSECONDS_PER_SECOND)
        self._patience_ns = self._wait_ns + round(LAG_SECONDS * NANOSECONDS_PER_SECOND)
        self._watches: dict[str, Watch] = {}
        self.tallies: dict[str, Tally] = {}
        self._pending: list[_Closed] = []
        self._told_until_ns: dict[tuple[str, str], int] = {}

    def feed(self, pieces: Iterable[Trace]) -> tuple[Workload, ...]:
        """Take the next samples of each device; return the workloads that are over."""
        for piece in pieces:
            uuid = piece.device.uuid
            if uuid in self.tallies:
                self.tallies[uuid].append(piece)
            else:
                self._watches[uuid], self.tallies[uuid] = self._make_watch(), Tally(piece)
            self._pending += [_Closed(uuid, stretch) for stretch in self._watches[uuid].advance(piece)]
        found = self._settled(self._ripe_ns()) if self._pending else ()
        self._tidy()
        return found

    def close(self) -> tuple[Workload, ...]:
        """End what is open and return everything that was not told yet."""
        for uuid, watch in self._watches.items():
            self._pending += [_Closed(uuid, stretch) for stretch in watch.finish()]
        self._watches.clear()
        return self._settled(None)

    def open_since_ns(self, uuid: str) -> int | None:
        """Return when the work that a device is at began; None where it is not known to be at any."""
        watch = self._watches.get(uuid)
        if watch is None:
            return None
        since_ns = watch.keep_from_ns  # of an idle device: the last step, with which work would begin
        return since_ns if since_ns < self.tallies[uuid].last_step_ns else None

    def last_instants(self) -> dict[str, int]:
        """Return the last sample of each device, UTC nanoseconds by UUID."""
        return {uuid: tally.last_ns for uuid, tally in self.tallies.items()}

    def _ripe_ns(self) -> int:
        """Return the instant before which no stretch to come can overlap, or be waited for."""
        horizon_ns = min(watch.keep_from_ns for watch in self._watches.values())
        now_ns = max(tally.last_ns for tally in self.tallies.values())
        return max(horizon_ns, now_ns - self._patience_ns)

    def _settled(self, ripe_ns: int | None) -> tuple[Workload, ...]:
        """Take the groups out of the pending stretches that are complete."""
        told, waiting = [], []
        for group in self._groups():
            if ripe_ns is None or max(each.stretch.stop_ns for each in group) <= ripe_ns:
                told += [self._workload(part) for part in self._apart(group)]
            else:
                waiting += group
        self._pending = waiting
        return tuple(told)

    def _groups(self) -> list[list[_Closed]]:
        """Group the pending stretches that overlap and end together, in order of their ends."""
        groups = []
        for name in sorted({each.stretch.name for each in self._pending}):
            named = [each for each in self._pending if each.stretch.name == name]
            for together in _overlapping(named):
                for part in self._ending_together(together):
                    groups += _overlapping(part)
        return sorted(groups, key=lambda group: max(each.rank for each in group))

    def _ending_together(self, group: list[_Closed]) -> list[list[_Closed]]:
        parts: list[list[_Closed]] = []
        for each in sorted(group, key=lambda each: each.rank):
            if not parts or each.stretch.stop_ns - parts[-1][-1].stretch.stop_ns > self._wait_ns:
                parts.append([])
            parts[-1].append(each)
        return parts

    def _apart(self, group: list[_Closed]) -> list[list[_Closed]]:
        """Part from a group the devices of which earlier work inside its stretch was told already."""
        start_ns = min(each.stretch.start_ns for each in group)
        again = [each for each in group if self._told_until_ns.get(each.lane, start_ns) > start_ns]
        if not again or len(group) == 1:
            return [group]
        if len(again) == len(group):
            return [[each] for each in group]
        rest = [each for each in group if each not in again]
        return [part for some in (again, rest) for one in _overlapping(some) for part in self._apart(one)]

    def _workload(self, group: Sequence[_Closed]) -> Workload:
        start_ns = min(each.stretch.start_ns for each in group)
        stop_ns = max(each.stretch.stop_ns for each in group)
        tallies = [self.tallies[uuid] for uuid in sorted({each.uuid for each in group})]
        rows = [tally.features(start_ns, stop_ns) for tally in tallies]
        self._told_until_ns |= {each.lane: stop_ns for each in group}
        session = stub_session(start_ns, stop_ns, [tally.device for tally in tallies], group[0].stretch.name)
        n_samples = sum(row.n_samples + row.starts_at_sample for row in rows)
        return Workload(session, _summed_features(session, rows, tallies), n_samples)

    def _tidy(self) -> None:
        """Forget samples that no workload can need, and sum those that an open one needs no longer."""
        spans = [each.stretch for each in self._pending]
        starts = {watch.keep_from_ns for watch in self._watches.values()}
        boundaries = starts | {ns for span in spans for ns in (span.start_ns, span.stop_ns)}
        needed_ns = min(boundaries, default=0)
        for tally in self.tallies.values():
            tally.forget_before(needed_ns)
            until_ns = tally.last_ns - max(self._chunk_ns, self._patience_ns - self._wait_ns)
            if until_ns - needed_ns > self._chunk_ns:
                tally.compact(until_ns, boundaries, stretch_ns=self._chunk_ns)


def _summed_features(session: Session, rows: Sequence[Summed], tallies: Sequence[Tally]) -> SessionFeatures:
    values = {name: sum(row.values[name] for row in rows) for name in rows[0].values}
    values["duration_seconds"] = session.duration_seconds
    shared = set.intersection(*(tally.channels for tally in tallies))
    return SessionFeatures(
        MappingProxyType(values),
        tuple(sorted(shared)),
        tuple(tally.device.chip for tally in tallies),
        len(tallies),
    )


def _overlapping(stretches: Iterable[_Closed]) -> list[list[_Closed]]:
    """Group stretches that share time, directly or through others."""
    groups: list[list[_Closed]] = []
    reach_ns = 0
    for each in sorted(stretches, key=lambda each: each.stretch.start_ns):
        if not groups or each.stretch.start_ns >= reach_ns:
            groups.append([])
            reach_ns = each.stretch.stop_ns
        groups[-1].append(each)
        reach_ns = max(reach_ns, each.stretch.stop_ns)
    return groups
