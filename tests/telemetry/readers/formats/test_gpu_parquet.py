"""Parquet of others."""

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.gpu_parquet import FORMAT

COLUMNS: dict[str, list[Any]] = {
    "timestamp_utc": ["2026-02-03T04:05:06", "2026-02-03T04:05:07"],
    "timestamp_epoch": [1770091506.0, 1770091507.0],
    "gpu_utilization_pct": [97, 98],
    "power_draw_w": [412.1, None],
    "temperature_c": [61, 62],
    "sm_clock_mhz": [1755, 1740],
    "pcie_tx_mbps": [1.0, 1.0],
    "fan_speed_pct": [-1, -1],
    "dcgm_power_usage": [411.0, 413.0],
    "workload_label": ["train", "train"],
    "gpu_name": ["NVIDIA H200", "NVIDIA H200"],
    "gpu_uuid": ["GPU-aaaa", "GPU-aaaa"],
}


def parquet(columns: dict[str, list[Any]]) -> bytes:
    """Return a table as a file."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


class TestGpuParquet(FormatContract):
    """NVML columns and DCGM's beside them."""

    form = FORMAT
    sample = parquet(COLUMNS)
    is_binary = True


def test_every_value_arrives_in_base_units():
    """DCGM's column fills the blank of NVML's, and no more."""
    (trace,) = recording_of_bytes(parquet(COLUMNS)).traces

    assert (trace.device.uuid, trace.device.chip) == ("GPU-aaaa", "H200-SXM")
    assert trace.time_ns.tolist() == [START_NS, START_NS + 1_000_000_000]
    assert {name: column.tolist() for name, column in trace.channels.items()} == {
        "gpu_util_ratio": [0.97, 0.98],
        "power_watts": [412.1, 413.0],
        "temperature_celsius": [61.0, 62.0],
        "sm_clock_hertz": [1.755e9, 1.74e9],
    }


@pytest.mark.parametrize("kind", [pa.string(), pa.timestamp("us", "UTC"), pa.timestamp("ms")])
def test_without_epoch_seconds_the_utc_column_is_read(kind: pa.DataType):
    """Its name says the zone, whatever type it has."""
    table = pa.table({name: column for name, column in COLUMNS.items() if name != "timestamp_epoch"})
    place = table.column_names.index("timestamp_utc")
    naive = table["timestamp_utc"].cast(pa.timestamp("ms"))
    stamps = table["timestamp_utc"] if kind == pa.string() else naive.cast(kind)
    sink = pa.BufferOutputStream()
    pq.write_table(table.set_column(place, "timestamp_utc", stamps), sink)

    (trace,) = recording_of_bytes(bytes(sink.getvalue())).traces

    assert trace.time_ns.tolist() == [START_NS, START_NS + 1_000_000_000]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (parquet({"a": [1]}), "timestamp_epoch"),
        (parquet(COLUMNS)[:-20], "whole Parquet file"),
        (b"PAR1", "whole Parquet file"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(data: bytes, match: str):
    """Another table, or half a file."""
    with pytest.raises(BadInputError, match=match):
        recording_of_bytes(data)


def test_a_table_without_a_uuid_is_of_one_gpu():
    """The column is missed, the rows are read."""
    recording = recording_of_bytes(parquet({name: c for name, c in COLUMNS.items() if name != "gpu_uuid"}))

    assert [trace.device.uuid for trace in recording.traces] == ["some-upload:0"]
    assert {"missing-column", "uuid-inferred"} <= codes(recording.findings)


def test_nested_columns_cost_themselves():
    """A list is no cell."""
    recording = recording_of_bytes(parquet({**COLUMNS, "temperature_c": [[1], [2]]}))

    assert "temperature_celsius" not in recording.traces[0] or "bad-cell" in codes(recording.findings)
    assert recording.traces[0]["gpu_util_ratio"].tolist() == [0.97, 0.98]
