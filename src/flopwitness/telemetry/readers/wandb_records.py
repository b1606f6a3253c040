"""JSON objects of Weights & Biases, one a line: when each was written, and the numbers in it."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import Context

TIMESTAMP, RUNTIME, STEP = "_timestamp", "_runtime", "_step"
MOST_SECONDS = 2.0**62 / 1e9


@dataclass(frozen=True, slots=True)
class Record:
    """One line: an instant, and what it holds beside it."""

    line: int
    time_ns: int
    content: Mapping[str, object]

    def numbers(self, context: Context, *, only: str = "") -> dict[str, float]:
        """Return the numbers by key; NaN where the file has no answer, and what is no number is counted.

        Parameters
        ----------
        context : Context
            Takes the notes.
        only : str
            Keys must hold this text.
        """
        found: dict[str, float] = {}
        for key, value in self.content.items():
            if only not in key or isinstance(value, dict | list):
                continue
            number = number_of(value)
            found[key] = math.nan if number is None else number
            if number is None and not is_blank(value):
                what = "values are no number"
                context.notes.count("bad-cell", what, line=self.line)
        return found


def is_blank(value: object) -> bool:
    """Say whether a value means that there is no answer, as W&B writes it: null, or a word for a number."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or (isinstance(value, str) and value.strip().lstrip("+-").lower() in BLANKS)


BLANKS = frozenset({"", "nan", "inf", "infinity", "null", "none"})


def records(context: Context, block: Block) -> Iterator[Record]:
    """Yield the records of a block; a line that is none is counted."""
    for place, line in enumerate(block.data.split(b"\n")):
        if not line.strip():
            continue
        content = _object(line)
        time_ns = None if content is None else instant_of(context, content)
        if content is None or time_ns is None:
            what = "lines are no object with a time and were left out"
            context.notes.count("bad-row", what, line=block.first_line + place)
            continue
        yield Record(block.first_line + place, time_ns, content)


def instant_of(context: Context, content: Mapping[str, object]) -> int | None:
    """Return when a record was written: epoch seconds, or else seconds since a start that the user says.

    Raises
    ------
    BadInputError
        When the record counts from the start of a run that nobody named.
    """
    seconds, base_ns = number_of(content.get(TIMESTAMP)), 0
    if seconds is None:
        seconds = number_of(content.get(RUNTIME))
        if seconds is None:
            return None
        base_ns = start_of(context)
    if not 0 <= seconds < MOST_SECONDS:
        return None
    return base_ns + round(seconds * 1e6) * 1000


def start_of(context: Context) -> int:
    """Return when the run began, as the user says."""
    if context.asked.start_ns is None:
        expected = "when the run began, which the file does not say: give --start"
        raise context.refused("", expected=expected, got="seconds since then")
    return context.asked.start_ns


def _object(line: bytes) -> Mapping[str, object] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
