"""From recordings and ledgers to one scope's evidence and its account."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flopwitness.app.faults import OWN_SAMPLES, input_faults
from flopwitness.app.fewer_signals import PREFERRED
from flopwitness.app.opening import CSV_SAMPLES, calibration_at_hand, open_calibration, open_recording
from flopwitness.app.witnessing import Witnessed, detected_sessions, witnessed
from flopwitness.core.account import Account, DeviceWatch, Scope, SessionEvidence
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.verify.accounts import account
from flopwitness.verify.dependence import ALL_SHARED, Dependence
from flopwitness.verify.watching import (
    ceiling_flop_per_second,
    device_watch,
    merged,
    session_joules,
)

if TYPE_CHECKING:
    from flopwitness.app.ledgering_scope import HeldLedger, Pins

METHODS = PREFERRED
"""The first of these that answers for every session is asked; the first of all where none does."""

WHOLE = "everything that was recorded"
"""Name of a scope that nobody described."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What sources say of a scope.

    Attributes
    ----------
    scope : Scope
        Of what.
    sessions : tuple of SessionEvidence
        Cut to the scope before they were estimated, where samples were at hand.
    watches : tuple of DeviceWatch
        One a device.
    digests : mapping of str to str
        SHA-256 of each source by its path.
    findings : tuple of Finding
        Of sources as a whole.
    faults : tuple of Exception
        What was wrong with sources that were used all the same.
    ledgers : tuple of HeldLedger
        Those of the sources that are ledgers, checked.
    calibrations : mapping of str to Calibration
        That the sessions of each recording were estimated with, by its path.
    """

    scope: Scope
    sessions: tuple[SessionEvidence, ...]
    watches: tuple[DeviceWatch, ...]
    digests: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    faults: tuple[Exception, ...] = ()
    ledgers: "tuple[HeldLedger, ...]" = ()
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)

    def account(self, target: Target, *, method: str = "", dependence: Dependence = ALL_SHARED) -> Account:
        """Add the sessions up for one target, by a method or by the best that answered throughout.

        Raises
        ------
        InvalidNounError
            When time of a device would count twice.
        """
        asked = method or answering(self.sessions, target)
        return account(
            self.scope, self.sessions, self.watches, target=target, method=asked, dependence=dependence
        )


def answering(sessions: Sequence[SessionEvidence], target: Target) -> str:
    """Return the first of ``METHODS`` with an estimate of every session, else the first."""
    told = [one.estimates.get(target, {}) for one in sessions]
    return next((name for name in METHODS if all(name in by_name for by_name in told)), METHODS[0])


def evidence_of_sources(  # noqa: PLR0913  one question: of what, from what, trusting what
    sources: Sequence[Path],
    scope: Scope | None,
    *,
    calibration: Path | None,
    chip: str,
    unseen_chip: str = "",
    pins: "Pins | None" = None,
) -> Evidence:
    """Read recordings and ledgers, find the sessions of a scope and estimate them.

    Parameters
    ----------
    sources : sequence of Path
        Recordings, dataset folders and ledgers, of any number of nodes.
    scope : Scope or None
        Of what; None for all devices of the sources, from their first sample to their last.
    calibration : Path or None
        Of the estimates; the one shipped for the chip where not given. Ledgers hold estimates already.
    chip : str
        Of recordings that do not name theirs.
    unseen_chip : str
        What devices of the scope are that no source speaks of; empty where nobody says.
    pins : Pins or None
        Keys and checkpoints of the ledgers that came another way.

    Raises
    ------
    BadInputError
        When a source cannot be used, or there is none.
    """
    if not sources:
        raise BadInputError("sources", "", expected="at least one recording or ledger", got="none")
    ledgers = [path for path in sources if is_ledger(path)]
    held = _held_ledgers(ledgers, pins)
    kept = [(one.sessions, one.watches) for one in held]
    read = [(path, open_recording(path, chip=chip)) for path in sources if path not in ledgers]
    asked = scope or whole_scope((recording for _, recording in read), kept)
    found = {str(path): _calibration(calibration, recording) for path, recording in read}
    calibrations = {source: one for source, one in found.items() if one is not None}
    made = [
        recording_evidence(recording, asked, found[str(path)], source=str(path)) for path, recording in read
    ]
    parts = [*kept, *made]
    watches = merged(watch for _, some in parts for watch in some)
    return Evidence(
        asked,
        tuple(one for some, _ in parts for one in some),
        (*watches, *_unwatched(asked, watches, unseen_chip)),
        {str(path): file_digest(path) for path in sources},
        tuple(finding for _, recording in read for finding in recording.findings),
        tuple(fault for path, recording in read for fault in input_faults(path, recording)),
        held,
        calibrations,
    )


Part = tuple[tuple[SessionEvidence, ...], tuple[DeviceWatch, ...]]


def recording_evidence(
    recording: Recording, scope: Scope, calibration: Calibration | None, *, source: str
) -> Part:
    """Find the sessions of a recording, cut them to the scope, estimate them; say when devices were watched.

    Detection and idle power use the whole recording: a cut through work is no idle time.
    """
    inside = [
        one for each in detected_sessions(recording) if (one := cut_to(each, recording, scope)) is not None
    ]
    answers = witnessed(recording, inside, calibration) if inside else ()
    cut = [trace.within(scope.start_ns, scope.stop_ns) for trace in recording.traces]
    watches = tuple(device_watch(trace, inside) for trace in cut if trace.device.uuid in scope.devices)
    return tuple(session_evidence(answer, source=source) for answer in answers), watches


def cut_to(session: Session, recording: Recording, scope: Scope) -> Session | None:
    """Return a session as far as a scope holds it, with the samples of that; None where it does not."""
    start_ns, stop_ns = max(session.start_ns, scope.start_ns), min(session.stop_ns, scope.stop_ns)
    uuids = {trace.device.uuid for trace in session.traces} & set(scope.devices)
    if stop_ns <= start_ns or not uuids:
        return None
    if (start_ns, stop_ns, len(uuids)) == (session.start_ns, session.stop_ns, len(session.traces)):
        return session
    traces = tuple(trace for trace in recording.traces if trace.device.uuid in uuids)
    return cut_session(traces, start_ns, stop_ns, name=session.name)


def session_evidence(answer: Witnessed, *, source: str) -> SessionEvidence:
    """Return what an account takes of a session that was estimated."""
    session = answer.session
    return SessionEvidence(
        session_id=session.session_id,
        start_ns=session.start_ns,
        stop_ns=session.stop_ns,
        devices=tuple(trace.device.uuid for trace in session.traces),
        estimates=answer.estimates,
        findings=answer.findings,
        opinion=answer.opinion,
        energy_joules=session_joules(session),
        source=source,
        digest=hashlib.sha256("".join(trace.digest() for trace in session.traces).encode()).hexdigest(),
    )


def whole_scope(recordings: Iterable[Recording], ledgers: Iterable[Part]) -> Scope:
    """Return the scope of all devices of some sources, from their first sample to their last.

    Raises
    ------
    BadInputError
        When the sources hold no time at all.
    """
    spans: dict[str, list[int]] = {}
    for recording in recordings:
        for trace in recording.traces:
            times = trace.time_ns[[0, -1]].tolist() if len(trace) else []
            spans.setdefault(trace.device.uuid, []).extend(times)
    for sessions, watches in ledgers:
        for watch in watches:
            spans.setdefault(watch.device, []).extend(time for span in watch.stretches for time in span)
        for one in sessions:
            for uuid in one.devices:
                spans.setdefault(uuid, []).extend((one.start_ns, one.stop_ns))
    times = [time for some in spans.values() for time in some]
    if not times or min(times) == max(times):
        raise BadInputError("sources", "", expected="samples or sessions over some time", got="none")
    return Scope(WHOLE, tuple(sorted(spans)), min(times), max(times))


def is_ledger(path: Path) -> bool:
    """Say whether a source is a ledger: a file whose first byte opens a JSON object; no recording's does."""
    try:
        with path.open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a source: of the file, or of the samples in a folder; empty without samples."""
    names = (OWN_SAMPLES, *CSV_SAMPLES)
    found = next((path / name for name in names if (path / name).is_file()), path)
    if not found.is_file():
        return ""
    with found.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _held_ledgers(paths: Sequence[Path], pins: "Pins | None") -> "tuple[HeldLedger, ...]":
    """Return what ledgers say, once they were checked; one that was altered is no evidence."""
    if not paths and pins is None:
        return ()
    from flopwitness.app.ledgering_scope import Pins, held_ledgers  # noqa: PLC0415  needs cryptography

    return held_ledgers(paths, pins or Pins())


def _calibration(path: Path | None, recording: Recording) -> Calibration | None:
    """Return what a recording is estimated with; None where nothing is shipped for its chip."""
    if path is not None:
        return open_calibration(path)
    return calibration_at_hand(trace.device.chip for trace in recording.traces)


def _unwatched(scope: Scope, watches: Iterable[DeviceWatch], chip: str) -> tuple[DeviceWatch, ...]:
    """Return a watch without stretches for each device of which only its chip is known."""
    missing = sorted(set(scope.devices) - {watch.device for watch in watches}) if chip else ()
    return tuple(DeviceWatch(uuid, chip, (), ceiling_flop_per_second(chip)) for uuid in missing)
