"""Logs of MLPerf runs that hold no power."""

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.mlperf_log import FORMAT

SECOND = 10**9
SAMPLE = b"""\
some other output
:::MLLOG {"namespace": "", "time_ms": 1770091506000, "event_type": "POINT_IN_TIME", "key": "global_batch_size", "value": 8, "metadata": {"file": "train.py"}}
:::MLLOG {"namespace": "", "time_ms": 1770091506000, "event_type": "POINT_IN_TIME", "key": "submission_benchmark", "value": "resnet", "metadata": ""}
:::MLLOG {"namespace": "", "time_ms": 1770091506000, "event_type": "POINT_IN_TIME", "key": "submission_poc_name", "value": "Some Body", "metadata": ""}
0: :::MLLOG {"namespace": "", "time_ms": 1770091507000, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {}}
0: :::MLLOG {"namespace": "", "time_ms": 1770091508000, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"throughput": 12.5}, "metadata": {}}
0: :::MLLOG {"namespace": "", "time_ms": 1770091509500, "event_type": "INTERVAL_END", "key": "run_stop", "value": null, "metadata": {"status": "success"}}
0: :::MLLOG {"namespace": "", "time_ms": 1770091509600, "event_type": "INTERVAL_START", "key": "eval_start", "value": null, "metadata": {}}
"""  # noqa: E501


class TestMlperfLog(FormatContract):
    """Lines of a log between other output."""

    form = FORMAT
    sample = SAMPLE


def test_intervals_and_figures_are_rows():
    """Without what people wrote: names and paths are left out."""
    summary = reader_of(SAMPLE).summary

    assert [dict(row) for row in summary.rows] == [
        {
            "interval": "run",
            "started_ns": START_NS + SECOND,
            "stopped_ns": START_NS + 3_500_000_000,
            "duration_seconds": 2.5,
        },
        {
            "interval": "eval",
            "started_ns": START_NS + 3_600_000_000,
            "stopped_ns": None,
            "duration_seconds": None,
        },
        {"figure": "global_batch_size", "value": 8.0, "time_ns": START_NS},
        {"figure": "submission_benchmark", "value": "resnet", "time_ns": START_NS},
        {"figure": "tracked_stats.throughput", "value": 12.5, "time_ns": START_NS + 2 * SECOND},
    ]
    assert "interval-open" in codes(summary.findings)


def test_an_interval_that_stops_before_it_starts_counts_as_nothing():
    """A clock was set, or the log is wrong: it is counted."""
    summary = reader_of(SAMPLE.replace(b"1770091509500", b"1770091500000")).summary

    assert summary.rows[0]["duration_seconds"] == 0.0
    assert "negative-duration" in codes(summary.findings)


def test_lines_that_cannot_be_read_are_counted():
    """Each costs itself."""
    broken = b':::MLLOG {"key": "x"}\n:::MLLOG {broken}\n'

    assert [f.message for f in reader_of(SAMPLE + broken).summary.findings if f.code == "bad-row"] == [
        "2 lines are no entries of a log and were left out, the first in line 9"
    ]
    with pytest.raises(BadInputError, match="entries"):
        _ = reader_of(broken).summary
