"""``dcgmi dmon``: entities in any order, short names, no time."""

from dataclasses import replace

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.dcgmi_dmon import FORMAT

SECOND = 1_000_000_000
ASKED = Asked(start_ns=START_NS, period_seconds=1.0)
SAMPLE = b"""\
#Entity   SMACT   TENSO   POWER   TOTEC
ID                        W       mJ
GPU 1     N/A     N/A     98.200  5000120
GPU 0     0.712   0.405   611.300 7000450
GPU 1     0.000   0.000   98.100  5098220
GPU 0     0.700   0.400   610.000 7611750
"""


class TestDcgmiDmon(FormatContract):
    """Two GPUs, the second first."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED


def test_every_cell_arrives_in_base_units():
    """Ratios as they are, mJ to J; ``N/A`` is missing; a round ends where an entity comes again."""
    second, first = recording_of_bytes(SAMPLE, ASKED).traces

    assert first.device.uuid == "some-upload:0"
    assert first.time_ns.tolist() == [START_NS, START_NS + SECOND]
    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [611.3, 610.0],
        "energy_joules_total": [7000.45, 7611.75],
        "sm_active_ratio": [0.712, 0.7],
        "tensor_active_ratio": [0.405, 0.4],
    }
    assert str(second["tensor_active_ratio"].tolist()) == "[nan, 0.0]"


def test_the_echoed_command_says_period_and_columns():
    """``-d`` is in milliseconds; without a header the ``-e`` list says what columns are."""
    rows = SAMPLE.split(b"\n", 2)[2]
    log = b"dcgmi dmon -i 0,1 -e 1002,1004,155,156 -d 100\n" + rows

    recording = recording_of_bytes(log, replace(ASKED, period_seconds=None))

    _, first = recording.traces
    assert first["tensor_active_ratio"].tolist() == [0.405, 0.4]
    assert first.time_ns.tolist() == [START_NS, START_NS + SECOND // 10]
    assert "period-assumed" in codes(recording.findings)


def test_without_header_and_command_a_log_is_refused():
    """Nobody can tell its columns."""
    with pytest.raises(BadInputError, match="-e list"):
        recording_of_bytes(SAMPLE.split(b"\n", 2)[2], ASKED)


def test_an_annotated_cell_is_read_up_to_the_bracket():
    """People write remarks into logs."""
    log = b"#Entity   NVLTX   NVLRX\nID\nGPU 0     20000000000(18.63GB/s)   5\n"

    (trace,) = recording_of_bytes(log, ASKED).traces

    assert trace["nvlink_tx_bytes_per_second"].tolist() == [2e10]


def test_a_field_that_nobody_asked_for_is_found_by_name():
    """Columns may be added and put in another order."""
    log = b"# Entity  XIDER  POWER  DRAMA\n      Id             \n    GPU 0  0  300.000  0.250\n"

    recording = recording_of_bytes(log, ASKED)

    assert recording.traces[0]["dram_active_ratio"].tolist() == [0.25]
    assert "unknown-column" not in codes(recording.findings)


def test_power_of_a_slice_is_set_aside():
    """It is that of the board, and would count once for each slice; activity is the slice's own."""
    log = b"#Entity GRACT POWER\nID            W\nGPU-I 3 0.500 611.300\nGPU 0   0.250 611.300\n"

    recording = recording_of_bytes(log, ASKED)

    slice_of_it, board = recording.traces
    assert slice_of_it.device.uuid == "some-upload:GPU-I 3"
    assert "power_watts" not in slice_of_it
    assert slice_of_it["gr_engine_active_ratio"].tolist() == [0.5]
    assert board["power_watts"].tolist() == [611.3]
    assert "slice-of-board" in codes(recording.findings)
