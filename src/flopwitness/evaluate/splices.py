"""Recordings made of stretches of real ones: sessions in another order, or one session with pauses in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

MEMORY = "memory_used_bytes"


class PauseMemory(StrEnum):
    """What device memory reads in a pause."""

    RECORDED = "recorded"
    HELD = "held"
    FREED = "freed"


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of work, and the idle stretch whose samples make the pause after it.

    Attributes
    ----------
    recording : Recording
        Where both come from.
    work_ns : tuple of int
        Start and stop of the work, UTC nanoseconds.
    idle_ns : tuple of int
        Start and stop of an idle stretch of the same recording.
    pause_seconds : float
        How long the pause after the work is, > 0; the idle samples are repeated as often as needed.
    memory : PauseMemory
        Held: what was in use when the work was cut. Freed: the least that the recording saw.
    name : str
        What runs.

    Raises
    ------
    InvalidNounError
        When a stretch is empty or the pause is not above 0.
    """

    recording: Recording
    work_ns: tuple[int, int]
    idle_ns: tuple[int, int]
    pause_seconds: float
    memory: PauseMemory = PauseMemory.RECORDED
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what holds no work or no pause."""
        is_empty = any(stop_ns <= start_ns for start_ns, stop_ns in (self.work_ns, self.idle_ns))
        if is_empty or not self.pause_seconds > 0:
            raise InvalidNounError(f"part {self.name!r} needs a stretch of work, one of idling, and a pause")


@dataclass(frozen=True, slots=True)
class Splice:
    """A made recording, and where its parts lie in it.

    Attributes
    ----------
    recording : Recording
        Gauges alone: counters would jump at the seams.
    parts : tuple of (str, int, int)
        Name, start and stop of each part, UTC nanoseconds, in time order.
    """

    recording: Recording
    parts: tuple[tuple[str, int, int], ...]


def spliced(parts: Sequence[Part], *, lead_seconds: float = 3.0) -> Splice:
    """Lay parts one after the other, each followed by its pause; an idle lead comes first.

    Parameters
    ----------
    parts : sequence of Part
        At least one, all of recordings of the same devices.
    lead_seconds : float
        Of idle samples before the first part.
    """
    first = parts[0]
    offset_ns = first.work_ns[0]
    lead = [_paused(trace, first, offset_ns, lead_seconds) for trace in first.recording.traces]
    pieces: list[list[tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]]] = [[one] for one in lead]
    offset_ns += round(lead_seconds * NANOSECONDS_PER_SECOND)
    where = []
    for part in parts:
        length_ns = part.work_ns[1] - part.work_ns[0]
        where.append((part.name, offset_ns, offset_ns + length_ns))
        for made, trace in zip(pieces, part.recording.traces, strict=True):
            work = trace.within(*part.work_ns)
            made.append((work.time_ns - part.work_ns[0] + offset_ns, _gauges(work)))
            made.append(_paused(trace, part, offset_ns + length_ns, part.pause_seconds))
        offset_ns += length_ns + round(part.pause_seconds * NANOSECONDS_PER_SECOND)
    traces = tuple(_trace(trace, made) for trace, made in zip(first.recording.traces, pieces, strict=True))
    return Splice(Recording("splice", traces, Provenance("splice")), tuple(where))


def _paused(
    trace: Trace, part: Part, start_ns: int, seconds: float
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Return instants and gauges of a pause: idle samples again and again, at their own mean interval."""
    idle = trace.within(*part.idle_ns)
    interval_ns = int(np.median(np.diff(trace.time_ns)))
    n_samples = round(seconds * NANOSECONDS_PER_SECOND / interval_ns) - 1
    chosen = np.arange(n_samples) % max(len(idle), 1)
    columns = {name: column[chosen] for name, column in _gauges(idle).items()}
    if MEMORY in columns and part.memory is not PauseMemory.RECORDED:
        columns[MEMORY] = np.full(n_samples, _memory_level(trace, part))
    return start_ns + interval_ns * np.arange(1, n_samples + 1), columns


def _memory_level(trace: Trace, part: Part) -> float:
    """Return the last reading of the work, or the least of the recording; NaN where there is none."""
    is_held = part.memory is PauseMemory.HELD
    used = (trace.within(int(trace.time_ns[0]), part.work_ns[1]) if is_held else trace)[MEMORY]
    known = used[np.isfinite(used)]
    return float(known[-1] if is_held else known.min()) if len(known) else float("nan")


def _gauges(trace: Trace) -> dict[str, NDArray[np.float64]]:
    return {name: column for name, column in trace.channels.items() if not name.endswith("_total")}


def _trace(like: Trace, pieces: Sequence[tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]]) -> Trace:
    names = [name for name in pieces[0][1] if all(name in columns for _, columns in pieces)]
    columns = {name: np.concatenate([made[name] for _, made in pieces]) for name in names}
    return Trace(like.device, np.concatenate([time_ns for time_ns, _ in pieces]), columns)
