"""What holds for every file from outside, however damaged; a law that breaks is a sentence, no exception."""

import math
import random
import re
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import numpy as np

from contracts.format import reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.telemetry.readers.fields import possible
from flopwitness.telemetry.readers.reading import Summary
from fuzz.mutations import Mutated, blanked, mutated
from fuzz.samples import Sample

LIMIT_SECONDS = 1.0
"""Of processor time, so that a busy machine raises no alarm."""

JUDGED = frozenset({"stale", "counter-frozen"})
"""Findings that take out values because of others, or no longer do."""

AGAIN_SECONDS = 20.0
"""For a second reading, which may be in many blocks."""

MOST_BLOCKS = 100
PACKED = (b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")
"""How bytes begin in which cells cannot be found: gzip, UTF-16."""

MEASURES = re.compile(r"(_watts|_joules|_ratio|_bytes|_hertz|_celsius|_per_second)$")
"""Figures of a summary that were measured; counts and lengths of stretches may be an honest 0."""

Answer = Recording | Summary


class HangError(Exception):
    """More than a second of processor time for one small input."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one input.

    Attributes
    ----------
    outcome : str
        ``"accepted"`` or ``"refused"``.
    seconds : float
        Processor time of the first reading.
    broken : str
        The law that broke, one line; empty where none did.
    """

    outcome: str
    seconds: float
    broken: str = ""


def input_of(
    sample: Sample, seed: int, number: int, others: tuple[bytes, ...]
) -> tuple[Mutated, random.Random]:
    """Return generated input ``number`` of a sample: the same three give the same bytes on any machine."""
    rng = random.Random(f"{seed}:{sample.form.name}:{sample.name}:{number}")  # noqa: S311  no secret
    return mutated(sample.data, rng, others=others), rng


def tried(sample: Sample, change: Mutated, rng: random.Random) -> Verdict:
    """Read one input and hold it against every law."""
    started = time.process_time()
    try:
        with limited():
            answer = answer_of(change.data, sample)
    except BadInputError as error:
        seconds = time.process_time() - started
        return Verdict("refused", seconds, _of_refusal(error) or _slow(seconds))
    except Exception as error:  # noqa: BLE001  what comes out is the finding
        return Verdict("refused", time.process_time() - started, crash(error))
    seconds = time.process_time() - started
    broken = _slow(seconds) or next(of_answer(answer), "") or _again(sample, change, answer, rng)
    return Verdict("accepted", seconds, broken)


def answer_of(data: bytes, sample: Sample, block_bytes: int | None = None) -> Answer:
    """Read bytes, whichever way their format answers."""
    reader = reader_of(data, sample.asked, block_bytes=block_bytes)
    return reader.recording if reader.format.parse else reader.summary


def of_answer(answer: Answer) -> Iterator[str]:
    """Yield the laws that an answer breaks by itself."""
    yield from (
        f"a finding has more than one line: {f.code}"
        for f in answer.findings
        if len(f.message.splitlines()) > 1
    )
    yield from _of_summary(answer) if isinstance(answer, Summary) else _of_recording(answer)


def _of_summary(answer: Summary) -> Iterator[str]:
    for name, value in (item for row in answer.rows for item in row.items()):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"a figure is {value}: {name}"


def _of_recording(answer: Recording) -> Iterator[str]:
    for trace in answer.traces:
        if (np.diff(trace.time_ns) <= 0).any():
            yield "time does not strictly increase"
        for name, column in trace.channels.items():
            least, most = possible(name)
            known = column[~np.isnan(column)]
            if ((known < least) | (known > most)).any():
                yield f"a value of {name} cannot be a measurement: {known.min()} to {known.max()}"


def zeros(answer: Answer) -> Counter[str]:
    """Count the values that are 0, by channel or figure; a mean over fewer samples may honestly be one."""
    if isinstance(answer, Summary):
        return Counter(
            name
            for row in answer.rows
            if "n_samples" not in row
            for name, value in row.items()
            if value == 0 and isinstance(value, float) and MEASURES.search(name)
        )
    counts: Counter[str] = Counter()
    for trace in answer.traces:
        counts.update({name: int((column == 0).sum()) for name, column in trace.channels.items()})
    return counts


def content(answer: Answer) -> object:
    """Return what an answer says, comparable; NaN equals NaN."""
    if isinstance(answer, Summary):
        return answer.title, repr([dict(row) for row in answer.rows])
    return [(trace.device, trace.digest()) for trace in answer.traces]


def values_of(answer: Recording) -> set[tuple[object, ...]]:
    """Return every value that is there, with its device, instant and channel."""
    return {
        (trace.device.uuid, instant, name, value)
        for trace in answer.traces
        for name, column in trace.channels.items()
        for instant, value in zip(trace.time_ns.tolist(), column.tolist(), strict=True)
        if not math.isnan(value)
    }


def silent_zero(sample: Sample, data: bytes, answer: Answer, rng: random.Random) -> str:
    """Say whether a cell that says "no answer" became a 0; empty where it did not."""
    blank = blanked(data, rng)
    try:
        other = answer_of(blank, sample)
    except BadInputError:
        return ""
    if _kind(other) != _kind(answer) or JUDGED & {
        found.code for found in (*answer.findings, *other.findings)
    }:
        return ""  # another format has zeros of its own; what repeats is judged as a whole
    grown = zeros(other) - zeros(answer)
    return f"a blank became 0 in {next(iter(grown))}" if grown else ""


def _kind(answer: Answer) -> str:
    return answer.title if isinstance(answer, Summary) else answer.provenance.source


def _again(sample: Sample, change: Mutated, answer: Answer, rng: random.Random) -> str:
    """Read once more, another way each time: the same, in other blocks, or with a cell blanked."""
    way = rng.randrange(8)  # one in two is read once: a second reading costs as much as the first
    try:
        with limited(AGAIN_SECONDS):
            if way == 0 and content(answer_of(change.data, sample)) != content(answer):
                return "reading twice gives two answers"
            if way == 1 and isinstance(answer, Recording):
                return _other_blocks(sample, change.data, answer, rng)
            if way in {2, 3} and not sample.is_binary and not change.data.startswith(PACKED):
                return silent_zero(sample, change.data, answer, rng)
    except Exception as error:  # noqa: BLE001  what comes out is the finding
        return crash(error)
    return ""


def _other_blocks(sample: Sample, data: bytes, answer: Recording, rng: random.Random) -> str:
    if {"unsorted", "late-rows", "duplicate-times"} & {found.code for found in answer.findings}:
        return ""  # which row of a stamp comes first depends on the block
    block_bytes = max(rng.choice((16, 64, 200, 1000)), len(data) // MOST_BLOCKS)
    other = answer_of(data, sample, block_bytes=block_bytes)
    return "" if values_of(other) == values_of(answer) else "blocks of another size give other samples"


def _of_refusal(error: BadInputError) -> str:
    text = str(error)
    if not text.strip() or "\n" in text or "\r" in text:
        return f"a refusal is not one line: {text!r}"
    return ""


def _slow(seconds: float) -> str:
    return "" if seconds <= LIMIT_SECONDS else f"took {seconds:.2f} s of processor time"


def crash(error: Exception) -> str:
    """Return an exception that should not have come out, and where it came from, in one line."""
    places = [place for place in traceback.extract_tb(error.__traceback__) if "flopwitness" in place.filename]
    where = f" at {places[-1].filename.rpartition('/')[2]}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}{where}: {' '.join(str(error).split())[:150]}"


@contextmanager
def limited(seconds: float = LIMIT_SECONDS) -> Iterator[None]:
    """Raise ``HangError`` once the body has used so much processor time of its own."""

    def stop(_: int, __: FrameType | None) -> None:
        raise HangError(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
