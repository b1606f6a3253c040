"""What a daemon has to know of the ledger that it goes on with."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from flopwitness.app.jobtotals import NOTHING, JobTotal
from flopwitness.app.keeping import N_RESUMED, Told
from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.entries import Entry, EntryKind, instant
from flopwitness.verify.ledger.evidence import estimates_from, spans_of

NOT_THE_DAEMONS = frozenset({EntryKind.CHECKPOINT, EntryKind.KEY, EntryKind.VERDICT})
"""Kinds that say of no daemon how it ended: others write them too, or they end each group."""


@dataclass(slots=True)
class LedgerPast:
    """What a ledger held when it was opened.

    Attributes
    ----------
    told : Told
        Work that is in it.
    last_ns : dict of str to int
        Last sample of each device that it vouches for, by UUID.
    gaps : set of tuple
        Device, start and stop of each gap.
    calibrations : dict of str to str
        Digest of the latest calibration of each chip.
    sessions : deque of mapping
        The latest workloads, with the fields of a journal's entry.
    latest : Entry or None
        The last entry that a daemon wrote, or the first of the ledger.
    """

    told: Told = field(default_factory=Told)
    last_ns: dict[str, int] = field(default_factory=dict)
    gaps: set[tuple[str, int, int]] = field(default_factory=set)
    calibrations: dict[str, str] = field(default_factory=dict)
    sessions: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=N_RESUMED))
    latest: Entry | None = None
    _totals: dict[str, JobTotal] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Return what these entries say; ``InvalidNounError`` where one is not what its kind says."""
        past = cls()
        for entry in entries:
            try:
                past._take(entry)
            except (KeyError, TypeError, ValueError) as error:
                what = f"{type(error).__name__}: {error}"
                raise InvalidNounError(f"entry {entry.sequence} is no {entry.kind} ({what})") from None
        return past

    def _take(self, entry: Entry) -> None:
        if entry.kind in NOT_THE_DAEMONS:
            return
        self.latest = entry
        for span in spans_of(entry):
            self.last_ns[span.device.uuid] = max(span.stop_ns, self.last_ns.get(span.device.uuid, 0))
        body = entry.body
        if entry.kind is EntryKind.SESSION:
            session = self._journalled(body)
            self.told.add(session)
            self.sessions.append(session)
        elif entry.kind is EntryKind.GAP:
            self.gaps.add((body["device"], instant(body["start_ns"]), instant(body["stop_ns"])))
        elif entry.kind is EntryKind.CALIBRATION:
            self.calibrations[body["chip"]] = body["sha256"]

    def _journalled(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        instants = {name: instant(body[name]) for name in ("start_ns", "stop_ns")}
        texts = {name: body[name] for name in ("session_id", "name", "devices")}
        job = body["job"]
        if job is not None:
            total = self._totals.get(job["job_id"], NOTHING).plus(estimates_from(body["estimates"]))
            self._totals[job["job_id"]] = total
            job = job | {"flop": _sums(total)}
        return texts | instants | {"job": job}


def _sums(total: JobTotal) -> dict[str, dict[str, dict[str, float | None]]]:
    """Return what a job has spent as a journal has it; unbounded is null."""
    names = ("point_flop", "low_flop", "high_flop")
    return {
        target.value: {
            method: {name: end if end < float("inf") else None for name, end in zip(names, flop, strict=True)}
            for method, flop in by_name.items()
        }
        for target, by_name in total.flop.items()
    }
