"""VictoriaMetrics exports: a JSON object a line."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.victoria_lines import FORMAT

SECOND = 10**9
SAMPLE = b"""\
{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"GPU-aaaa"},"values":[412.1,null],"timestamps":[1770091506100,1770091507100]}
{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","UUID":"GPU-aaaa"},"values":[97,98],"timestamps":[1770091506100,1770091507100]}
{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"GPU-aaaa"},"values":[414],"timestamps":[1770091508100]}
"""


class TestVictoriaLines(FormatContract):
    """One series in two lines, with a stale mark."""

    form = FORMAT
    sample = SAMPLE


def test_pieces_of_a_series_are_one_and_null_is_missing():
    """Milliseconds since 1970."""
    (trace,) = recording_of_bytes(SAMPLE).traces

    assert [(each - START_NS) / SECOND for each in trace.time_ns.tolist()] == [0.1, 1.1, 2.1]
    assert str(trace["power_watts"].tolist()) == "[412.1, nan, 414.0]"
    assert str(trace["gpu_util_ratio"].tolist()) == "[0.97, 0.98, nan]"


def test_a_line_that_is_no_series_costs_itself():
    """It is counted."""
    recording = recording_of_bytes(SAMPLE + b"oops\n")

    assert len(recording.traces[0]) == 3
    assert "bad-row" in codes(recording.findings)


def test_an_export_without_a_series_is_refused():
    """There is nothing to read."""
    with pytest.raises(BadInputError, match="samples"):
        recording_of_bytes(b'{"metric":{"__name__":1}}\n')
