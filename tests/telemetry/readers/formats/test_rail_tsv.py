"""Tables of a Jetson board's rails."""

import pytest

from contracts.format import START_NS, FormatContract, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.rail_tsv import FORMAT

ASKED = Asked(start_ns=START_NS)
SAMPLE = b"TIME\tTOTAL\tSOC\tCPU\tGPU\tDDR\n.5000000000\t5000\t1\t2\t1200\t3\n1.0000000000\t5100\t1\t2\t\t3\n"


class TestRailTsv(FormatContract):
    """Seconds since the log began."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED


def test_milliwatts_and_seconds_without_a_zero():
    """The GPU's rail and the whole board; an empty cell is missing."""
    (trace,) = recording_of_bytes(SAMPLE, ASKED).traces

    assert trace.time_ns.tolist() == [START_NS + 500_000_000, START_NS + 1_000_000_000]
    assert str(trace["power_instant_watts"].tolist()) == "[1.2, nan]"
    assert trace["node_power_watts"].tolist() == [5.0, 5.1]


def test_the_start_is_never_invented():
    """The log does not say it."""
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(SAMPLE)
