"""System metrics of W&B as JSON lines."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.wandb_events import FORMAT

SAMPLE = b"""\
{"_timestamp": 1770091506.1, "system.gpu.0.powerWatts": 201.0, "system.gpu.0.gpu": 95.0, "system.gpu.0.temp": 55.0}
{"_timestamp": 1770091507.1, "system.cpu": 12.5, "system.memory_percent": 40.0}
{"_timestamp": 1770091521.1, "system.gpu.0.powerWatts": "NaN", "system.gpu.0.gpu": 96.0, "system.gpu.0.powerPercent": 104.0}
"""  # noqa: E501


class TestWandbEvents(FormatContract):
    """GPU and CPU in separate records."""

    form = FORMAT
    sample = SAMPLE


def test_records_of_a_gpu_are_its_rows():
    """A record of the CPU alone is none."""
    (trace,) = recording_of_bytes(SAMPLE).traces

    assert trace.device.uuid == "some-upload:0"
    assert [each - START_NS for each in trace.time_ns.tolist()] == [100_000_000, 15_100_000_000]
    assert str({name: column.tolist() for name, column in trace.channels.items()}) == str(
        {
            "gpu_util_ratio": [0.95, 0.96],
            "power_watts": [201.0, float("nan")],
            "temperature_celsius": [55.0, float("nan")],
        }
    )


def test_a_gpu_that_always_reads_no_power_beside_another_is_part_of_the_cpu():
    """It is left out and told; alone, it stays."""
    other = b'{"_timestamp": 1770091506.1, "system.gpu.1.powerWatts": 0.0, "system.gpu.1.gpu": 0.0}\n'

    recording = recording_of_bytes(SAMPLE + other)

    assert [trace.device.uuid for trace in recording.traces] == ["some-upload:0"]
    assert "integrated-gpu" in codes(recording.findings)
    assert [trace.device.uuid for trace in recording_of_bytes(other).traces] == ["some-upload:1"]


@pytest.mark.parametrize(("first", "second"), [("50.0", "0.5"), ("0.5", "0.005")])
def test_profiling_metrics_are_in_percent_where_one_passes_one(first: str, second: str):
    """The unit is told from the whole file, and that is said."""
    key = "system.gpu.0.pipeTensorActive"
    log = "".join(
        f'{{"_timestamp": {1770091506 + place}, "{key}": {value}}}\n'
        for place, value in enumerate((first, second))
    )

    recording = recording_of_bytes(log.encode())

    assert recording.traces[0]["tensor_active_ratio"].tolist() == [0.5, 0.005]
    assert "unit-inferred" in codes(recording.findings)


def test_a_record_that_counts_from_the_start_of_its_run_needs_that():
    """It is not guessed."""
    log = b'{"_runtime": 1.5, "system.gpu.0.powerWatts": 201.0}\n'

    assert recording_of_bytes(log, Asked(start_ns=START_NS)).traces[0].time_ns.tolist() == [
        START_NS + 1_500_000_000
    ]
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(log)


def test_what_is_no_number_and_no_record_is_counted():
    """Each costs itself."""
    log = SAMPLE + b'{"_timestamp": 1770091536.1, "system.gpu.0.powerWatts": "x"}\nnonsense\n[1]\n'

    assert {"bad-cell", "bad-row"} <= codes(recording_of_bytes(log).findings)
