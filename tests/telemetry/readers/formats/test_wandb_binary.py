"""Run files of W&B."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.wandb_binary import FORMAT
from telemetry.readers.wandb_files import HEAD, field, history_record, run_file, stats_record

SECOND = 10**9
START_SECONDS = START_NS // SECOND
RECORDS = [
    field(17, b"a run: host, mail, paths"),
    stats_record(START_SECONDS, 500_000_000, {"gpu.0.powerWatts": 201.0, "gpu.0.gpu": 95, "cpu": 5.0}),
    history_record(),
    stats_record(START_SECONDS + 1, 0, {"cpu": 5.0}),
    stats_record(START_SECONDS + 15, 0, {"system.gpu.0.powerWatts": 202.5, "gpu.0.gpu": "NaN"}),
]
SAMPLE = run_file(RECORDS)


class TestWandbBinary(FormatContract):
    """System metrics among other records."""

    form = FORMAT
    sample = SAMPLE
    is_binary = True


def test_system_metrics_are_read_and_nothing_else():
    """History is set aside and counted."""
    recording = recording_of_bytes(SAMPLE)

    (trace,) = recording.traces
    assert [each - START_NS for each in trace.time_ns.tolist()] == [SECOND // 2, 15 * SECOND]
    assert trace["power_watts"].tolist() == [201.0, 202.5]
    assert str(trace["gpu_util_ratio"].tolist()) == "[0.95, nan]"
    assert "history-aside" in codes(recording.findings)


def test_a_head_alone_is_refused():
    """A run that wrote nothing leaves seven bytes."""
    with pytest.raises(BadInputError, match="head alone"):
        recording_of_bytes(HEAD)


def test_records_that_cross_blocks_are_joined():
    """A record may be longer than a block of 32 KiB."""
    long = field(17, b"x" * 80_000)

    (trace,) = recording_of_bytes(run_file([long, RECORDS[1], long, RECORDS[4]])).traces

    assert trace["power_watts"].tolist() == [201.0, 202.5]


def test_a_damaged_record_costs_itself():
    """Its checksum tells."""
    damaged = bytearray(SAMPLE)
    damaged[damaged.index(b"201.0")] ^= 1

    recording = recording_of_bytes(bytes(damaged))

    assert recording.traces[0]["power_watts"].tolist() == [202.5]
    assert "bad-row" in codes(recording.findings)


def test_a_file_that_is_cut_keeps_what_came_before():
    """A killed run."""
    recording = recording_of_bytes(SAMPLE[:-3])

    assert recording.traces[0]["power_watts"].tolist() == [201.0]
    assert "bad-row" in codes(recording.findings)
