"""jobstats: figures of a Slurm job's GPUs, plain or packed into an AdminComment."""

import base64
import gzip

import pytest

from contracts.format import FormatContract, codes, reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.jobstats import FORMAT, MOST_BYTES

SAMPLE = b"""{"gpus": 2, "nodes": {"n1": {
 "gpu_total_memory": {"1": 80000000000, "6": 80000000000},
 "gpu_used_memory": {"1": 7000000000, "6": 0},
 "gpu_utilization": {"1": 91.0, "6": 0.0}}}, "total_time": 3600}
"""


def packed(text: bytes) -> bytes:
    """Return figures as Slurm's AdminComment keeps them."""
    return b"JS1:" + base64.b64encode(gzip.compress(text, mtime=0))


class TestJobstats(FormatContract):
    """The object that ``jobstats -j`` prints."""

    form = FORMAT
    sample = SAMPLE


class TestJobstatsComment(FormatContract):
    """The same in Slurm's AdminComment."""

    form = FORMAT
    sample = packed(SAMPLE) + b"\n"


def test_each_gpu_has_a_row_in_base_units():
    """Percent become a ratio; keys stay device minors, which a note says; an honest 0 stays 0."""
    summary = reader_of(SAMPLE).summary

    assert [dict(row) for row in summary.rows] == [
        {
            "host": "n1",
            "device_minor": "1",
            "gpu_util_ratio": 0.91,
            "memory_used_bytes": 7e9,
            "memory_total_bytes": 8e10,
            "duration_seconds": 3600.0,
        },
        {
            "host": "n1",
            "device_minor": "6",
            "gpu_util_ratio": 0.0,
            "memory_used_bytes": 0.0,
            "memory_total_bytes": 8e10,
            "duration_seconds": 3600.0,
        },
    ]
    assert codes(summary.findings) == {"device-minor"}


def test_a_comment_holds_the_same_as_the_object():
    """``JS1:``, base64, gzip, JSON."""
    assert reader_of(packed(SAMPLE)).summary.rows == reader_of(SAMPLE).summary.rows


@pytest.mark.parametrize("comment", [b"JS1:Short", b"JS1:None\n"])
def test_a_job_without_data_has_no_row(comment: bytes):
    """Nothing was measured: no row, and a finding."""
    summary = reader_of(comment).summary

    assert summary.rows == ()
    assert codes(summary.findings) == {"unmeasured"}


def test_a_gpu_without_a_figure_has_none_in_its_place():
    """Blank, impossible and negative figures are no answer, never 0."""
    log = (
        b'{"gpus": 1, "nodes": {"n1": {"gpu_used_memory": {"0": null}, '
        b'"gpu_utilization": {"0": 5000}, "gpu_total_memory": {"0": -1}}}}'
    )

    (row,) = reader_of(log).summary.rows

    assert (row["gpu_util_ratio"], row["memory_used_bytes"], row["memory_total_bytes"]) == (None, None, None)
    assert row["duration_seconds"] is None


def test_a_count_that_does_not_fit_the_figures_is_told():
    """GPUs that are missing from the figures are named."""
    assert "gpu-count" in codes(reader_of(SAMPLE.replace(b'"gpus": 2', b'"gpus": 8')).summary.findings)


@pytest.mark.parametrize(
    "data",
    [
        b"JS1:????",
        b"JS1:" + base64.b64encode(b"no gzip"),
        b"JS1:" + base64.b64encode(gzip.compress(b"x" * 99)[:-20]),
        packed(b" " * (MOST_BYTES + 1)),
        b'{"nodes": 3, "gpu_utilization": {}}',
    ],
)
def test_a_damaged_comment_is_refused_in_one_line(data: bytes):
    """No base64, no gzip, a stream that has no end or unpacks to more than any job has."""
    with pytest.raises(BadInputError):
        _ = reader_of(data).summary
