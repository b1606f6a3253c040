"""Lines of MLPerf logs."""

import pytest

from contracts.format import codes
from flopwitness.telemetry.readers.inputs import Block, Input
from flopwitness.telemetry.readers.mllog import Entry, Intervals, entries, noted
from flopwitness.telemetry.readers.reading import Context

BODY = b'{"time_ms": 1.5, "key": "k", "value": 1, "metadata": ""}'


def context_of() -> Context:
    """Return a pass over nothing."""
    return Context(Input.of_bytes(b""))


@pytest.mark.parametrize("before", [b":::MLLOG ", b":::MLLOG", b"12: :::MLLOG ", b"0::::MLLOG "])
def test_rank_and_blanks_are_optional(before: bytes):
    """Milliseconds may have a fraction."""
    (entry,) = entries(context_of(), Block(before + BODY + b"\r\n", 7))

    assert (entry.line, entry.key, entry.time_ns, entry.value, entry.metadata) == (7, "k", 1_500_000, 1, {})


@pytest.mark.parametrize(
    "text",
    [
        b":::MLLOG {",
        b':::MLLOG {"key": "k", "time_ms": -1}',
        b':::MLLOG {"key": "k", "time_ms": 1e400}',
        b':::MLLOG {"key": 1, "time_ms": 1}',
        b":::MLLOG " + b'{"a":' * 100_000 + b"}",
    ],
)
def test_a_line_that_is_no_entry_is_counted(text: bytes):
    """It costs itself."""
    context = context_of()

    assert list(entries(context, Block(text + b"\n", 1))) == []
    assert codes(context.notes.findings()) == {"bad-row"}


def test_intervals_nest_and_what_is_open_is_told():
    """The last that began is the first to stop."""
    context = context_of()
    intervals = Intervals(context)

    taken = [
        intervals.take(Entry(1, key, time_ns, None, {}))
        for time_ns, key in enumerate(["a_start", "a_start", "a_stop", "b_stop", "start", "figure"])
    ]

    assert taken == [True, True, True, True, False, False]
    assert [(each.start_ns, each.stop_ns) for each in intervals.all()] == [(0, None), (1, 2)]
    noted(context, intervals.closed)
    assert codes(context.notes.findings()) == {"interval-open", "interval"}
