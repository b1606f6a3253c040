"""System metrics of W&B as CSV."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.wandb_csv import FORMAT

SAMPLE = b"""\
_timestamp,_runtime,system.cpu,system.gpu.0.powerWatts,system.gpu.0.smClock,system.gpu.1.powerWatts,system.gpu.1.smClock
1770091506.1,1.0,,201.0,1755,70.0,345
1770091507.1,2.0,12.5,,,,
1770091521.1,16.0,,202.0,1740,,345
"""


class TestWandbCsv(FormatContract):
    """GPUs side by side, the CPU in rows of its own."""

    form = FORMAT
    sample = SAMPLE


def test_each_gpu_has_the_rows_that_speak_of_it():
    """An empty cell is missing; a row that is empty for a GPU is none of it."""
    first, second = recording_of_bytes(SAMPLE).traces

    assert [each - START_NS for each in first.time_ns.tolist()] == [100_000_000, 15_100_000_000]
    assert first["sm_clock_hertz"].tolist() == [1.755e9, 1.74e9]
    assert str(second["power_watts"].tolist()) == "[70.0, nan]"


def test_seconds_of_a_run_need_its_start():
    """Without a stamp there is only the time since then."""
    log = SAMPLE.replace(b"_timestamp", b"other")

    assert recording_of_bytes(log, Asked(start_ns=START_NS)).traces[0].time_ns[0] == START_NS + 10**9
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(log)


def test_bad_cells_and_rows_are_counted():
    """Each costs itself."""
    found = recording_of_bytes(SAMPLE + b"x,1,,1,1,1,1\n1770091530,1,,y,1,1e400,1\n").findings

    assert {"bad-row", "bad-cell"} <= codes(found)
