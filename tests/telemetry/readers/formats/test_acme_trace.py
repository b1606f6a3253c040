"""AcmeTrace: one metric a file, one column a server."""

from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.acme_trace import FORMAT

ASKED = Asked(zone=UTC, name="GPU_UTIL")
SAMPLE = b"""\
Time,10.0.0.1,10.0.0.2
2026-02-03 04:05:06,97.0,
2026-02-03 04:05:21,98.0,12.5
"""


class TestAcmeTrace(FormatContract):
    """Two servers, one blank."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED
    needs_zone = True


def test_the_name_of_the_capture_says_what_was_measured():
    """Nothing in the file does; a finding says so."""
    recording = recording_of_bytes(SAMPLE, ASKED)

    first, second = recording.traces
    assert (first.device.host, first["gpu_util_ratio"].tolist()) == ("10.0.0.1", [0.97, 0.98])
    assert first.time_ns.tolist() == [START_NS, START_NS + 15_000_000_000]
    assert str(second["gpu_util_ratio"].tolist()) == "[nan, 0.125]"
    assert "metric-inferred" in codes(recording.findings)


def test_a_name_that_is_no_metric_is_refused():
    """The line says how to name it."""
    with pytest.raises(BadInputError, match="DCGM field"):
        recording_of_bytes(SAMPLE, Asked(zone=UTC))
