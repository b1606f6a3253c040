"""Lines of an MLPerf log, ``:::MLLOG {...}``, and the intervals that they open and close.

A line may carry the rank that wrote it (``0: :::MLLOG {...}``), blanks behind colons are optional, and
other output may lie between the lines. ``metadata`` may be an empty text instead of an object, and
``value`` the text ``"null"``. Source: github.com/mlcommons/logging, and logs in
github.com/mlcommons/training_results_v4.0.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import Context

MARK = b":::MLLOG"
LINE = re.compile(rb"^[ \t]*(?:\d{1,9}:[ \t]*)?:::MLLOG[ \t]*(\{.*\})[ \t\r]*$")
MOST_MILLISECONDS = 2.0**62 / 1e6
NANOSECONDS_PER_MICROSECOND = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One line.

    Attributes
    ----------
    line : int
        Its number.
    key : str
        What it speaks of.
    time_ns : int
        UTC nanoseconds.
    value : object
        As the file has it.
    metadata : mapping of str to object
        Empty where the file has a text.
    """

    line: int
    key: str
    time_ns: int
    value: object
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Interval:
    """What lies between a ``..._start`` and its ``..._stop``; ``stop_ns`` is None where that is not there."""

    name: str
    start_ns: int
    stop_ns: int | None

    @property
    def duration_seconds(self) -> float | None:
        """How long it lasts, >= 0; None where it never stops."""
        return None if self.stop_ns is None else max(self.stop_ns - self.start_ns, 0) / 1e9


def entries(context: Context, block: Block) -> Iterator[Entry]:
    """Yield the entries of a block; a line that is cut or cannot be read is counted."""
    lines = block.data.split(b"\n")
    for place, line in enumerate(lines):
        if MARK not in line:
            continue
        found = _entry(line, block.first_line + place)
        if found is not None:
            yield found
        elif block.is_cut and place == len(lines) - 2:  # behind the last line end is nothing
            context.notes.count("truncated", "line without an end was given up: the file was cut")
        else:
            what = "lines are no entries of a log and were left out"
            context.notes.count("bad-row", what, line=block.first_line + place)


@dataclass
class Intervals:
    """Pairs starts with stops as they come."""

    context: Context
    closed: list[Interval] = field(default_factory=list)
    _open: dict[str, list[int]] = field(default_factory=dict)

    def take(self, entry: Entry) -> bool:
        """Take an entry; say whether it starts or stops an interval."""
        name, _, what = entry.key.rpartition("_")
        if not name or what not in ("start", "stop", "end"):
            return False
        if what == "start":
            self._open.setdefault(name, []).append(entry.time_ns)
        elif starts := self._open.get(name):
            self._close(Interval(name, starts.pop(), entry.time_ns))
        else:
            self.context.notes.count("interval-open", f"stops of {name!r} have no start", line=entry.line)
        return True

    def all(self) -> tuple[Interval, ...]:
        """Return every interval by its start, those that never stop among them."""
        never = [Interval(name, start, None) for name, starts in self._open.items() for start in starts]
        for each in never:
            self.context.notes.count("interval-open", f"intervals {each.name!r} have no stop")
        return tuple(sorted([*self.closed, *never], key=lambda each: (each.start_ns, each.name)))

    def _close(self, found: Interval) -> None:
        if found.stop_ns is not None and found.stop_ns < found.start_ns:
            what = f"intervals {found.name!r} stop before they start; they count as 0 s"
            self.context.notes.count("negative-duration", what)
        self.closed.append(found)


def noted(context: Context, intervals: Iterable[Interval]) -> None:
    """Keep intervals as notes beside samples."""
    for each in intervals:
        seconds = each.duration_seconds
        lasts = "has no stop" if seconds is None else f"lasts {seconds:.3f} s"
        message = f"the log says that {each.name} {lasts}"
        context.notes.say(
            Finding(
                "interval", message, Severity.NOTE, each.name, start_ns=each.start_ns, stop_ns=each.stop_ns
            )
        )


def _entry(line: bytes, number: int) -> Entry | None:
    found = LINE.match(line)
    if found is None:
        return None
    try:
        content = json.loads(found.group(1))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("key"), str):
        return None
    milliseconds, metadata = number_of(content.get("time_ms")), content.get("metadata")
    if milliseconds is None or not 0 <= milliseconds < MOST_MILLISECONDS:
        return None
    time_ns = round(milliseconds * 1000) * NANOSECONDS_PER_MICROSECOND
    known = metadata if isinstance(metadata, dict) else {}
    return Entry(number, content["key"].strip(), time_ns, content.get("value"), known)
