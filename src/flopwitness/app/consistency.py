"""Whether signals agree with each other: asked window by window, told session by session."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.storage.documents import read_document, write_document
from flopwitness.verify.consistency.checks import deviations
from flopwitness.verify.consistency.deviation import Deviation, worst
from flopwitness.verify.consistency.replays import replay_deviations
from flopwitness.verify.consistency.state import ConsistencyState

KIND = "flopwitness-consistency"
VERSION = 1
SHIPPED = Path(__file__).parent / "calibrations" / "consistency"

WINDOW_NS = 90 * NANOSECONDS_PER_SECOND
"""What is looked at together: the length that the limits were measured over."""

STEP_NS = 60 * NANOSECONDS_PER_SECOND
"""From window to window; what lies at the edge of one lies inside another."""

MARGIN_NS = 3 * NANOSECONDS_PER_SECOND
"""Idle time beside a session that is looked at with it."""

SLOWEST_SECONDS = 0.2
"""Samples further apart are not judged: the limits were measured at 10 Hz."""

MAX_KEPT = 32
"""Latest disagreements of one check and device that are kept.

Only a later one of the same kind drives one out, and it speaks of the work that is not over as well.
"""

RELIANCE_CODE = "not-to-be-relied-on"


def write_consistency(path: Path, state: ConsistencyState, *, replace: bool = False) -> None:
    """Write constants, whole or not at all; ``BadInputError`` where the name is taken."""
    write_document(path, {"format": KIND, "version": VERSION, "state": state.to_plain()}, replace=replace)


def open_consistency(path: Path) -> ConsistencyState:
    """Open constants.

    Raises
    ------
    BadInputError
        When the file holds none of this version.
    CalibrationMismatchError
        When a constant is missing or no number.
    """
    state = read_document(path, kind=KIND, version=VERSION).get("state")
    if not isinstance(state, dict):
        raise BadInputError(str(path), "field 'state'", expected="an object", got=type(state).__name__)
    return ConsistencyState.from_plain(state)


@cache
def shipped_consistency(chip: str) -> ConsistencyState | None:
    """Return the constants that are shipped for a chip; None where there are none."""
    path = SHIPPED / f"{chip.lower()}.json"
    return open_consistency(path) if path.exists() else None


def recording_deviations(recording: Recording, sessions: Iterable[Session]) -> tuple[Deviation, ...]:
    """Return where the signals of a recording disagree too far, in any window that touches a session."""
    found = [each for each in replay_deviations(_judged(recording.traces)) if each.score > 1.0]
    every = tuple(sessions)
    for start_ns, stop_ns in _windows(recording.traces):
        touched = [each for each in every if each.start_ns < stop_ns and each.stop_ns > start_ns]
        window = [trace.within(start_ns, stop_ns) for trace in recording.traces]
        if touched and (in_window := _disagreements(window)):
            found += in_window
            found += [each for session in touched for each in _of_session(window, session)]
    return tuple(found)


def _of_session(window: Iterable[Trace], session: Session) -> list[Deviation]:
    """Return what a window shows of one session alone: its worst may lie in another."""
    first_ns, last_ns = session.start_ns - MARGIN_NS, session.stop_ns + MARGIN_NS
    return _disagreements([trace.within(first_ns, last_ns) for trace in window])


def _windows(traces: Sequence[Trace]) -> Iterator[tuple[int, int]]:
    held = [trace for trace in traces if len(trace)]
    first_ns = min((int(trace.time_ns[0]) for trace in held), default=0)
    last_ns = max((int(trace.time_ns[-1]) for trace in held), default=0)
    for start_ns in range(first_ns, max(last_ns - WINDOW_NS + STEP_NS, first_ns) + 1, STEP_NS):
        yield start_ns, start_ns + WINDOW_NS


def _judged(traces: Iterable[Trace]) -> tuple[Trace, ...]:
    """Return the traces that the limits hold for."""
    return tuple(
        trace
        for trace in traces
        if len(trace) > 1
        and shipped_consistency(trace.device.chip) is not None
        and float(np.median(np.diff(trace.seconds()))) <= SLOWEST_SECONDS
    )


def _disagreements(traces: Iterable[Trace]) -> list[Deviation]:
    judged = _judged(traces)
    if not judged:
        return []
    state = shipped_consistency(judged[0].device.chip)
    return [each for each in deviations(judged, state) if each.score > 1.0]


def session_findings(session: Session, found: Iterable[Deviation]) -> tuple[Finding, ...]:
    """Return the worst of each check and device that touches a session, and whether to rely on its numbers.

    No number changes: findings say how much one is worth.
    """
    uuids = {trace.device.uuid for trace in session.traces}
    own = [
        each
        for each in found
        if each.subject in uuids and each.start_ns <= session.stop_ns and each.stop_ns >= session.start_ns
    ]
    findings = tuple(each.finding() for each in worst(own))
    alarms = sorted({each.code for each in findings if each.severity is Severity.ALARM})
    if not alarms:
        return findings
    message = f"signals contradict each other ({', '.join(alarms)}): these numbers are not to be relied on"
    span = (session.start_ns, session.stop_ns)
    return (*findings, Finding(RELIANCE_CODE, message, Severity.ALARM, "", *span))


class ConsistencyWatch:
    """The same while samples come in: the last window of each device, and what was found in earlier ones."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[Trace]] = {}
        self._found: dict[tuple[str, str], deque[Deviation]] = {}
        self._looked_ns = 0
        self._now_ns = 0

    @property
    def n_kept(self) -> int:
        """Samples and disagreements in memory."""
        return sum(len(piece) for pieces in self._pieces.values() for piece in pieces) + sum(
            map(len, self._found.values())
        )

    def observe(self, batch: Iterable[Trace]) -> None:
        """Take the next samples; from time to time look at the last window."""
        for piece in batch:
            self._now_ns = max(self._now_ns, int(piece.time_ns[-1]))
            self._pieces.setdefault(piece.device.uuid, []).append(piece)
        self._looked_ns = self._looked_ns or self._now_ns
        if self._now_ns - self._looked_ns >= STEP_NS:
            self._look()

    def findings(self, session: Session) -> tuple[Finding, ...]:
        """Return what was found about a session that is over; what was not looked at is now."""
        if self._looked_ns <= session.stop_ns:
            self._look()
        kept = [each for latest in self._found.values() for each in latest]
        if kept:
            kept += _of_session((joined(pieces) for pieces in self._pieces.values()), session)
        return session_findings(session, kept)

    def _look(self) -> None:
        self._forget()
        self._looked_ns = self._now_ns
        for each in _disagreements(pieces[0] for pieces in self._pieces.values()):
            self._found.setdefault((each.code, each.subject), deque(maxlen=MAX_KEPT)).append(each)

    def _forget(self) -> None:
        """Join the pieces of each device, of the last window alone."""
        for uuid, pieces in tuple(self._pieces.items()):
            whole = joined(pieces).within(self._now_ns - WINDOW_NS, self._now_ns)
            if len(whole):
                self._pieces[uuid] = [whole]
            else:
                del self._pieces[uuid]
