"""A profiler's trace: what cannot be a number costs itself, the event stays."""

import pytest

from contracts.format import FormatContract, codes, reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.profiler_trace import FORMAT

SAMPLE = b"""{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "kernel", "name": "gemm nan", "ts": 100.0, "dur": 50.0, "args": {"device": 0}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 125.0, "dur": 50.0, "args": {"device": 0, "rate": -inf}},
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 90.0, "dur": -3, "args": {"bandwidth": NaN}},
 {"ph": "M", "name": "process_name", "args": {"name": "python"}}
]}
"""


class TestProfilerTrace(FormatContract):
    """Kernels that overlap, a negative duration, words that are no numbers."""

    form = FORMAT
    sample = SAMPLE


def test_events_are_told_by_category_and_device():
    """Durations add up; time in which several ran counts once as busy."""
    first, second = reader_of(SAMPLE).summary.rows

    assert dict(first) == {
        "category": "kernel",
        "device": "0",
        "n_events": 2,
        "duration_seconds": 100e-6,
        "busy_seconds": pytest.approx(75e-6),
    }
    assert (second["category"], second["n_events"], second["duration_seconds"]) == ("cpu_op", 1, 0.0)


def test_a_bare_infinity_costs_its_value_and_not_the_event():
    """The event is kept, the value is dropped and counted."""
    trace = b'{"dur":0,"args":{"memory bandwidth (GB/s)": inf}}'

    summary = reader_of(trace).summary

    assert [row["n_events"] for row in summary.rows] == [1]
    assert [found.message[:2] for found in summary.findings if found.code == "infinite-value"] == ["1 "]


def test_a_negative_duration_counts_as_none_and_is_told():
    """It never shortens the time of others."""
    assert "negative-duration" in codes(reader_of(SAMPLE).summary.findings)


def test_words_inside_texts_stay():
    """Only a bare word stands for a number."""
    odd = SAMPLE.replace(b"aten::mm", rb"inf \" nan, -inf")

    assert reader_of(odd).summary.rows == reader_of(SAMPLE).summary.rows


def test_a_trace_without_an_end_is_refused():
    """Half a document says nothing reliable."""
    with pytest.raises(BadInputError, match="JSON"):
        _ = reader_of(SAMPLE[:-20]).summary
