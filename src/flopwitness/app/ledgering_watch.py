"""What ``watch`` writes into a ledger: starts, stops, gaps, calibrations, and each finished workload."""

import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from flopwitness.app.daemon import Finished
from flopwitness.app.ledgering import read_entries
from flopwitness.app.ledgering_past import LedgerPast
from flopwitness.app.ledgering_writer import Draft, LedgerWriter
from flopwitness.app.ticking import Round
from flopwitness.core.account import SessionEvidence
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError, FlopWitnessError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance
from flopwitness.core.session import Session
from flopwitness.detect.activity import ActivityRule
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.features.steps import DEFAULT_STEPS
from flopwitness.storage.keys import read_signer
from flopwitness.verify.ledger.canonical import canonical
from flopwitness.verify.ledger.entries import EntryKind
from flopwitness.verify.ledger.evidence import SAMPLES, session_body
from flopwitness.verify.ledger.samples import Gap, SampleSpan, SampleSpans

WATCHED_SECONDS = 3600.0
"""After so long without an entry, one says that the devices were watched: a kill leaves an hour in doubt."""

CalibrationFor = Callable[[tuple[str, ...]], Calibration]


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """What a start entry says.

    Attributes
    ----------
    devices : tuple of Device
        What is watched.
    provenance : Provenance
        Where samples come from.
    calibration_for : callable
        Gives the calibration for chips.
    interval_seconds : float
        From sample to sample.
    findings_of : callable
        Gives all findings of a finished workload.
    is_replay : bool
        Whether a recording is watched in place of this machine.
    """

    devices: tuple[Device, ...]
    provenance: Provenance
    calibration_for: CalibrationFor
    interval_seconds: float
    findings_of: Callable[[Finished], tuple[Finding, ...]]
    is_replay: bool = False

    @property
    def max_step_seconds(self) -> float:
        """A longer step between samples is a gap: what the detector calls unseen, or five samples missed."""
        return max(ActivityRule().max_step_seconds, DEFAULT_STEPS.max_step_periods * self.interval_seconds)


class WatchLedger:
    """The ledger of a daemon: implements ``flopwitness.app.keeping.WorkLedger``.

    Each entry lists the samples since the one before, with their digests, so that the ledger also says when
    each device was watched.

    Parameters
    ----------
    path : Path
        The ledger; made where there is none.
    key : Path
        Private key that it is kept with.
    facts : WatchFacts
        What is watched.

    Attributes
    ----------
    recording : Path or None
        What was recorded, once it is sealed: its digest goes into the stop entry.

    Raises
    ------
    BadInputError
        When the ledger or the key cannot be used.
    """

    def __init__(self, path: Path, key: Path, facts: WatchFacts) -> None:
        self.path = Path(path)
        self.recording: Path | None = None
        self._facts = facts
        self._writer = LedgerWriter.open(self.path, read_signer(key))
        self._past = LedgerPast.of(read_entries(self.path))
        self._spans = SampleSpans(max_step_seconds=facts.max_step_seconds, last_ns=self._past.last_ns)
        self._digests: dict[tuple[str, ...], str] = {}
        self._newest_ns = self._written_ns = 0
        self._n_sessions = 0
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write why it stops; where the disk will not take that, the first error is the one to tell."""
        try:
            if kind is None:
                self._stop("ended")
            else:
                with suppress(FlopWitnessError):
                    self._stop(kind.__name__)
        finally:
            self._writer.close()

    def sessions(self) -> Iterable[Mapping[str, Any]]:
        """Return the latest workloads that it held when it was opened."""
        return tuple(self._past.sessions)

    def knows(self, session: Session) -> bool:
        """Say whether it held work of these devices that overlaps."""
        return session in self._past.told

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last sample that it knew of some devices; None where it knew none."""
        return max((last for uuid, last in self._past.last_ns.items() if uuid in uuids), default=None)

    def passing(self, batches: Iterable[Round]) -> Iterator[Round]:
        """Yield the batches as they are; write the gaps between their samples."""
        for batch in batches:
            gaps = [gap for piece in batch if len(piece) for gap in self._spans.observe(piece)]
            drafts = [self._gap(gap) for gap in gaps if _gap_key(gap) not in self._past.gaps]
            instants = [int(piece.time_ns[-1]) for piece in batch if len(piece)]
            self._newest_ns = max([self._newest_ns, *instants])
            self._written_ns = self._written_ns or self._newest_ns
            if self._newest_ns - self._written_ns > WATCHED_SECONDS * 1e9:
                drafts.append((EntryKind.WATCHED, {SAMPLES: _payloads(self._spans.cut())}))
            if drafts:
                self._commit(drafts)
            yield batch

    def keep(self, finished: Finished, entry: Mapping[str, Any]) -> None:
        """Force a workload to disk, signed, with the job that its journal entry names."""
        session = finished.witnessed.session
        body = session_body(_evidence(finished, self._facts.findings_of(finished))) | {
            "name": session.name,
            "n_samples": finished.n_samples,
            "calibration_sha256": self._digest(tuple(trace.device.chip for trace in session.traces)),
            "job": _without_sums(entry.get("job")),
            SAMPLES: _payloads(self._spans.cut()),
        }
        self._commit([(EntryKind.SESSION, body)])
        self._n_sessions += 1

    def _start(self) -> None:
        """Write that a daemon began, and what came before; and calibrations that were not the latest."""
        facts, latest = self._facts, self._past.latest
        chips = sorted({device.chip for device in facts.devices})
        before = None
        if latest is not None and latest.kind is not EntryKind.GENESIS:
            before = {
                "kind": latest.kind.value,
                "sequence": latest.sequence,
                "at_ns": str(latest.at_ns),
                "was_stopped": latest.kind is EntryKind.STOP,
            }
        body = {
            "version": version("flopwitness"),
            "host": platform.node(),
            "source": facts.provenance.source,
            "driver": facts.provenance.driver,
            "clock": facts.provenance.clock,
            "is_replay": facts.is_replay,
            "input_sha256": facts.provenance.input_sha256,
            "interval_seconds": facts.interval_seconds,
            "max_step_seconds": facts.max_step_seconds,
            "devices": [{"uuid": one.uuid, "chip": one.chip, "host": one.host} for one in facts.devices],
            "calibrations": {chip: self._digest((chip,)) for chip in chips},
            "before": before,
            "n_dropped_bytes": self._writer.n_dropped_bytes,
        }
        changed = [chip for chip in chips if self._past.calibrations.get(chip) != self._digest((chip,))]
        self._commit([(EntryKind.START, body), *(self._calibration(chip) for chip in changed)])

    def _stop(self, reason: str) -> None:
        body = {
            "reason": reason,
            "n_sessions": self._n_sessions,
            "recording_sha256": _file_sha256(self.recording) if self.recording else None,
            SAMPLES: _payloads(self._spans.cut()),
        }
        self._commit([(EntryKind.STOP, body)])

    def _gap(self, gap: Gap) -> Draft:
        body = {
            "device": gap.device.uuid,
            "start_ns": str(gap.start_ns),
            "stop_ns": str(gap.stop_ns),
            SAMPLES: _payloads([gap.before] if gap.before else []),
        }
        return EntryKind.GAP, body

    def _calibration(self, chip: str) -> Draft:
        made = self._facts.calibration_for((chip,))
        body = {
            "chip": chip,
            "sha256": self._digest((chip,)),
            "before_sha256": self._past.calibrations.get(chip),
            "driver": made.driver,
            "data": dict(made.data),
            "n_runs": made.n_runs,
            "n_workloads": made.n_workloads,
            "coverage_ratio": made.coverage_ratio,
        }
        return EntryKind.CALIBRATION, body

    def _digest(self, chips: tuple[str, ...]) -> str:
        """Return the SHA-256 of a calibration's canonical JSON; empty where chips have none."""
        key = tuple(sorted(set(chips)))
        if key not in self._digests:
            try:
                payload = self._facts.calibration_for(key).to_payload()
            except BadInputError:  # a session of chips without a calibration has no estimates either
                return ""
            self._digests[key] = sha256(canonical(payload)).hexdigest()
        return self._digests[key]

    def _commit(self, drafts: Sequence[Draft]) -> None:
        self._writer.commit(drafts)
        self._written_ns = self._newest_ns


def _evidence(finished: Finished, findings: tuple[Finding, ...]) -> SessionEvidence:
    session = finished.witnessed.session
    return SessionEvidence(
        session.session_id,
        session.start_ns,
        session.stop_ns,
        tuple(trace.device.uuid for trace in session.traces),
        finished.witnessed.estimates,
        findings,
        finished.witnessed.opinion,
        finished.energy_joules,
    )


def _without_sums(job: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a job as its entry holds it: what its sessions add up to follows from their entries."""
    return None if job is None else {name: value for name, value in job.items() if name != "flop"}


def _gap_key(gap: Gap) -> tuple[str, int, int]:
    return gap.device.uuid, gap.start_ns, gap.stop_ns


def _payloads(spans: Iterable[SampleSpan]) -> list[dict[str, Any]]:
    return [span.to_payload() for span in spans]


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
