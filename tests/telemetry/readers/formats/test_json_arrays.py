"""One JSON object of arrays."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.formats.json_arrays import FORMAT

ASKED = Asked(start_ns=START_NS)
SAMPLE = b"""\
{"ts":[0.0,0.5],"pw":[190.1,710.2],"per_gpu":{"0":[120.1,640.2],"1":[70.0,null]},
 "phases":[{"phase":"loading","t_start":0.0,"t_end":0.5}],"run_id":"x"}
"""


class TestJsonArrays(FormatContract):
    """Two GPUs, one blank."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED


def test_each_gpu_has_its_powers():
    """The sum is no GPU; null is missing."""
    recording = recording_of_bytes(SAMPLE, ASKED)

    first, second = recording.traces
    assert first["power_watts"].tolist() == [120.1, 640.2]
    assert str(second["power_watts"].tolist()) == "[70.0, nan]"
    assert first.time_ns.tolist() == [START_NS, START_NS + 500_000_000]
    assert "sum-dropped" in codes(recording.findings)


def test_values_without_a_time_are_counted():
    """Arrays of different lengths are read as far as both go."""
    recording = recording_of_bytes(SAMPLE.replace(b"640.2]", b"640.2,1.0]"), ASKED)

    assert len(recording.traces[0]) == 2
    assert "bad-row" in codes(recording.findings)


@pytest.mark.parametrize(
    ("data", "asked", "match"),
    [
        (SAMPLE, NOTHING_ASKED, "--start"),
        (b'{"ts":[0.0],"pw":[190.1]}', ASKED, "per_gpu"),
        (b'{"ts":[' + b"[" * 100_000, ASKED, "nested too deep"),
        (b'{"ts":[' + b"9" * 100_000 + b"]}", ASKED, "no end"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(data: bytes, asked: Asked, match: str):
    """No start, a sum of unknown GPUs, a text made to harm."""
    with pytest.raises(BadInputError, match=match):
        recording_of_bytes(data, asked)
