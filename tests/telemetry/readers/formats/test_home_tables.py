"""Small CSV logs that people write for themselves: one contract for each that is known."""

from datetime import UTC, timedelta, timezone

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.formats.home_tables import FORMATS

SECOND = 1_000_000_000
BY_NAME = {form.name: form for form in FORMATS}
FROM_START = Asked(start_ns=START_NS)

RUNS = b"""\
run_id,timestamp,time_relative_s,gpu_id,power_w,sm_clock_mhz,gpu_util_pct,memory_util_pct,memory_used_mb,memory_total_mb,temperature_c,stage
r1,2026-02-03T04:05:06.7Z,0.000,0,412.1,1755,97,41,70000,81559,61,train
r1,2026-02-03T04:05:06.703Z,0.003,1,74.2,345,0,0,,,,
"""
TICKS = b"""\
timestamp,gpu_index,temperature_C,utilization_gpu_percent,power_W
2026-02-03T04:05:06.487Z,0, 61, 97, 412.10
2026-02-03T04:05:06.487Z,1, 33, 0, 74.20
"""
POWER = b"timestamp,power_draw_W\n2026-02-03T04:05:06.5+00:00,412.1\n2026-02-03T05:05:07.5+01:00,413.0\n"
WIDE = b"timestamp,GPU0,GPU1\n1770091506.0,412.1,74.2\n1770091507.0,413.0,\n"
NODES = b"""\
timestamp,n1_watts,n2_watts,total_watts
2026-02-02 23:05:06,5120.0,4800.0,9920.0
2026-02-02 23:05:07,5130.0,4810.0,9940.0
"""
UTILISATION = b"""\
timestamp,gpu_utilization,memory_used,memory_total
1770091506, 97, 1024, 81559
1770091507, 98, 1024, 81559
"""
ELAPSED = b"""\
elapsed_sec,gpu_util_pct,mem_used_mb,mem_total_mb,temp_c,power_w
0.0,97,1000,24000,61,231.5
0.5,98,1000,24000,61,"31.5
0"
1.0,99,1000,24000,62,233.0
"""
MILLIWATTS = b"Timestamp (s),Power (mW)\n0.0,5120\n0.1,5200\n"
FAST = b"""\
ts,gpu_idx,gpu_util,mem_util,mem_used_mb,mem_total_mb,power_w,temp_c,sm_clock_mhz,mem_clock_mhz,gr_engine_active,nvlink_rx_mb,nvlink_tx_mb,pcie_rx_mb,pcie_tx_mb,ecc_errors,power_ratio,thermal_headroom_C,energy_J
1770091506.00,0,97,41,1000,81559,412.1,61,1755,2619,97,1,1,1,1,0,0.58,20,100
1770091506.05,0,97,41,1000,81559,412.1,61,1755,2619,97,1,1,1,1,0,0.58,20,100
"""
ALIBABA = b"value,timestamp_anon,container_ip\n0,500000,c2\n97.5,500060,c1\n98.5,500120,c1\n"
PHILLY = b"""\
time,machineId,gpu0_util,gpu1_util,gpu2_util
2026-02-03 04:05:00 PDT,m1,97.0,0.0,NA,
2026-02-03 04:05:00 PDT,m2,50.0,NA,NA,
2026-02-03 04:06:00 PDT,m1,98.0,1.0,NA,
"""


class TestRunLog(FormatContract):
    """Stamps with one to three decimals, blanks in the last columns."""

    form = BY_NAME["run-log-csv"]
    sample = RUNS


class TestTickLog(FormatContract):
    """Blanks after commas, one stamp a tick."""

    form = BY_NAME["tick-log-csv"]
    sample = TICKS


class TestPowerLog(FormatContract):
    """One GPU, offsets in the stamps."""

    form = BY_NAME["power-log-csv"]
    sample = POWER


class TestWideGpus(FormatContract):
    """One column a GPU."""

    form = BY_NAME["wide-gpu-csv"]
    sample = WIDE


class TestNodeWatts(FormatContract):
    """One column a node, stamps without zone."""

    form = BY_NAME["node-watts-csv"]
    sample = NODES
    asked = Asked(zone=timezone(timedelta(hours=-5)))
    needs_zone = True


class TestUtilisationLog(FormatContract):
    """No power at all."""

    form = BY_NAME["utilisation-log-csv"]
    sample = UTILISATION


class TestElapsedLog(FormatContract):
    """A quoted cell with a line break."""

    form = BY_NAME["elapsed-log-csv"]
    sample = ELAPSED
    asked = FROM_START


class TestMilliwattLog(FormatContract):
    """Relative seconds under a header that says so."""

    form = BY_NAME["milliwatt-log-csv"]
    sample = MILLIWATTS
    asked = FROM_START


class TestFastLog(FormatContract):
    """Twenty rows a second."""

    form = BY_NAME["fast-log-csv"]
    sample = FAST


class TestAlibaba(FormatContract):
    """Shifted seconds, one container a device."""

    form = BY_NAME["alibaba-gpu-csv"]
    sample = ALIBABA
    asked = FROM_START


class TestPhilly(FormatContract):
    """Letters for the zone, a comma at the end of rows."""

    form = BY_NAME["philly-gpu-csv"]
    sample = PHILLY


def channels_of(data: bytes, asked: Asked = NOTHING_ASKED) -> dict[str, dict[str, list[float]]]:
    """Read bytes; return each device's channels."""
    prefix = "some-upload:"
    return {
        trace.device.uuid.removeprefix(prefix): {n: c.tolist() for n, c in trace.channels.items()}
        for trace in recording_of_bytes(data, asked).traces
    }


def test_a_run_log_arrives_in_base_units():
    """A GPU without memory figures has none, not 0."""
    found = channels_of(RUNS)

    assert found["0"] == {
        "power_watts": [412.1],
        "sm_clock_hertz": [1.755e9],
        "gpu_util_ratio": [0.97],
        "mem_util_ratio": [0.41],
        "memory_used_bytes": [7e10],
        "temperature_celsius": [61.0],
    }
    assert found["1"].keys() == {"power_watts", "sm_clock_hertz", "gpu_util_ratio", "mem_util_ratio"}


def test_a_tick_log_arrives_in_base_units():
    """Both GPUs of a tick have its stamp."""
    first, second = recording_of_bytes(TICKS).traces

    assert first["power_watts"].tolist() == [412.1]
    assert first.time_ns.tolist() == second.time_ns.tolist() == [START_NS + 487_000_000]


def test_offsets_in_stamps_are_heeded():
    """The same instant under two offsets is one instant."""
    (trace,) = recording_of_bytes(POWER).traces

    assert trace.time_ns.tolist() == [START_NS + SECOND // 2, START_NS + 3 * SECOND // 2]


def test_a_wide_log_has_one_device_a_column():
    """An empty cell is a missing sample of its device."""
    found = channels_of(WIDE)

    assert found["0"] == {"power_watts": [412.1, 413.0]}
    assert str(found["1"]) == "{'power_watts': [74.2, nan]}"


def test_the_total_of_a_node_log_is_no_third_node():
    """It is the sum of the others."""
    asked = Asked(zone=timezone(timedelta(hours=-5)))
    recording = recording_of_bytes(NODES, asked)

    assert [trace.device.host for trace in recording.traces] == ["n1", "n2"]
    assert recording.traces[0]["node_power_watts"].tolist() == [5120.0, 5130.0]
    assert recording.traces[0].time_ns.tolist() == [START_NS, START_NS + SECOND]


def test_a_log_of_utilisation_alone_has_no_power():
    """Neither 0 nor a guess."""
    assert channels_of(UTILISATION) == {
        "0": {"gpu_util_ratio": [0.97, 0.98], "memory_used_bytes": [1024 * 1048576.0] * 2}
    }


def test_a_cell_with_a_line_break_costs_itself():
    """The cell is bad, the row stays, the rows behind it are read."""
    recording = recording_of_bytes(ELAPSED, FROM_START)

    (trace,) = recording.traces
    assert str(trace["power_watts"].tolist()) == "[231.5, nan, 233.0]"
    assert trace["gpu_util_ratio"].tolist() == [0.97, 0.98, 0.99]
    assert "bad-cell" in codes(recording.findings)


def test_relative_seconds_need_a_start():
    """The line names the option."""
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(ELAPSED)


def test_milliwatts_are_milliwatts():
    """Not watts."""
    assert channels_of(MILLIWATTS, FROM_START) == {"0": {"power_watts": [5.12, 5.2]}}


def test_the_cells_of_a_milliwatt_log_tell_its_clock():
    """Under the same header one file has relative seconds, another date and time without zone."""
    dated = b"Timestamp (s),Power (mW)\n2026-02-03 04:05:06,5120\n2026-02-03 04:05:07,5200\n"

    (trace,) = recording_of_bytes(dated, Asked(zone=UTC)).traces

    assert trace.time_ns.tolist() == [START_NS, START_NS + SECOND]
    with pytest.raises(BadInputError, match="--tz"):
        recording_of_bytes(dated)


def test_a_copy_of_the_utilisation_is_no_engine_activity():
    """``gr_engine_active`` of this log is no measurement of the engine."""
    found = channels_of(FAST)

    assert "gr_engine_active_ratio" not in found["0"]
    assert found["0"]["power_watts"] == [412.1, 412.1]


def test_shifted_seconds_are_put_at_the_start():
    """The earliest sample of the whole file is the first, wherever it stands."""
    log = b"value,timestamp_anon,container_ip\n97.5,500060,c1\n0,500000,c2\n98.5,500120,c1\n"

    first, second = recording_of_bytes(log, FROM_START).traces

    assert first.device.uuid == "some-upload:c1"
    assert first.time_ns.tolist() == [START_NS + 60 * SECOND, START_NS + 120 * SECOND]
    assert second.time_ns.tolist() == [START_NS]
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(log)


def test_a_machine_with_fewer_gpus_has_fewer_devices():
    """``NA`` is no GPU; the letters of a zone are heeded."""
    recording = recording_of_bytes(PHILLY)

    assert [(trace.device.uuid, trace.device.host) for trace in recording.traces] == [
        ("some-upload:m1:0", "m1"),
        ("some-upload:m2:0", "m2"),
        ("some-upload:m1:1", "m1"),
    ]
    assert recording.traces[0].time_ns.tolist()[0] == START_NS + (7 * 3600 - 6) * SECOND
    assert recording.traces[0]["gpu_util_ratio"].tolist() == [0.97, 0.98]


def test_letters_that_mean_several_zones_are_no_time():
    """``CST`` is China, Cuba or Chicago."""
    with pytest.raises(BadInputError, match="no usable time"):
        recording_of_bytes(PHILLY.replace(b"PDT", b"CST"))


def test_a_column_that_is_gone_is_a_finding():
    """Nobody should take it for measured and empty."""
    recording = recording_of_bytes(b"timestamp,gpu_index,power_W\n2026-02-03T04:05:06Z,0,412.1\n")

    assert [found.subject for found in recording.findings if found.code == "missing-column"] == [
        "temperature_c",
        "utilization_gpu_percent",
    ]


def test_every_order_of_columns_reads_the_same():
    """Columns are found by name."""
    cells = [line.split(b",") for line in TICKS.splitlines()]
    turned = b"\n".join(b",".join(reversed(row)) for row in cells) + b"\n"

    assert channels_of(turned) == channels_of(TICKS)
