"""What was lost while sampling: GPUs that fell silent, and profiling samples that hold no answer."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from flopwitness.app.ticking import Round
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.detect.lost import ACTIVITY, lost_samples

MAX_KEPT = 100_000
"""Instants of lost samples kept a device: those of a workload of weeks, 0.3 % at 10 Hz; the oldest go."""


@dataclass(slots=True)
class _Silence:
    """The times that one GPU did not answer."""

    why: str
    first_ns: int
    since_ns: int | None
    last_ns: int
    n_times: int = 1
    seconds: float = 0.0


class LostGpus:
    """Follows which GPUs answer.

    Examples
    --------
    >>> lost = LostGpus()
    >>> lost.note({"GPU-a": "GPU is lost"}, 0), lost.note({}, 2_500_000_000)
    (('GPU GPU-a is lost: GPU is lost',), ('GPU GPU-a is back after 2.5 s',))
    >>> lost.findings()[0].message
    'GPU GPU-a was lost once, for 2.5 s: GPU is lost'
    """

    def __init__(self) -> None:
        self._silences: dict[str, _Silence] = {}

    def note(self, lost: Mapping[str, str], now_ns: int) -> tuple[str, ...]:
        """Take who is lost now, with the reason, by UUID; return a line for each that went or came back."""
        lines = []
        for uuid, why in lost.items():
            if self._goes(uuid, why, now_ns):
                lines.append(f"GPU {uuid} is lost: {why}")
        for uuid, silence in self._silences.items():
            if silence.since_ns is None:
                continue
            silence.last_ns = now_ns
            if uuid not in lost:
                seconds = (now_ns - silence.since_ns) / NANOSECONDS_PER_SECOND
                silence.seconds, silence.since_ns = silence.seconds + seconds, None
                lines.append(f"GPU {uuid} is back after {seconds:.1f} s")
        return tuple(lines)

    def findings(self) -> tuple[Finding, ...]:
        """Return one finding a GPU that was ever lost: how often and for how long, or that it still is."""
        return tuple(
            Finding(
                "lost-device", _told(uuid, silence), Severity.ALARM, uuid, silence.first_ns, silence.last_ns
            )
            for uuid, silence in self._silences.items()
        )

    def _goes(self, uuid: str, why: str, now_ns: int) -> bool:
        silence = self._silences.get(uuid)
        if silence is None:
            self._silences[uuid] = _Silence(why, now_ns, now_ns, now_ns)
            return True
        if silence.since_ns is not None:
            return False
        silence.why, silence.since_ns, silence.n_times = why, now_ns, silence.n_times + 1
        return True


def _told(uuid: str, silence: _Silence) -> str:
    if silence.since_ns is not None:
        return f"GPU {uuid} was lost and did not come back: {silence.why}"
    often = f"{silence.n_times} times, in all" if silence.n_times > 1 else "once,"
    return f"GPU {uuid} was lost {often} for {silence.seconds:.1f} s: {silence.why}"


class LostSamples:
    """Counts the samples that a driver lost (``flopwitness.detect.lost``) as they pass by.

    Whether a sample was lost can depend on its two neighbours, so the last one of each device is decided when
    the next comes.
    """

    def __init__(self) -> None:
        self._tails: dict[str, Trace] = {}
        self._lost_ns: dict[str, deque[int]] = {}

    def passing(self, batches: Iterable[Round]) -> Iterator[Round]:
        """Yield the batches as they are, counted."""
        for batch in batches:
            for piece in batch:
                self._observe(piece)
            yield batch

    def findings(self, session: Session) -> tuple[Finding, ...]:
        """Return a finding for each device of a session that lost samples in it."""
        start_ns, stop_ns = session.start_ns, session.stop_ns
        found = []
        for uuid in (trace.device.uuid for trace in session.traces):
            instants = np.array(self._lost_ns.get(uuid, ()), dtype=np.int64)
            if n_lost := int(((instants >= start_ns) & (instants <= stop_ns)).sum()):
                message = (
                    f"GPU {uuid} gave {n_lost} profiling samples as zeros that mean nothing: "
                    "counted as unobserved"
                )
                found.append(Finding("lost-samples", message, Severity.NOTE, uuid, start_ns, stop_ns))
        return tuple(found)

    def _observe(self, piece: Trace) -> None:
        if not len(piece):
            return
        uuid = piece.device.uuid
        activity = {name: piece[name] for name in ACTIVITY if name in piece}
        piece = Trace(piece.device, piece.time_ns, activity)
        tail = self._tails.get(uuid)
        whole = piece if tail is None else joined([tail, piece])
        first = 0 if tail is None else len(tail) - 1
        decided = lost_samples(whole)
        decided[:first] = decided[-1] = False
        self._lost_ns.setdefault(uuid, deque(maxlen=MAX_KEPT)).extend(whole.time_ns[decided].tolist())
        self._tails[uuid] = whole.between(max(len(whole) - 2, 0), len(whole))
