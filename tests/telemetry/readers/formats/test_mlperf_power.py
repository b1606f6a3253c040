"""Node power in MLPerf logs."""

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.formats.mlperf_power import FORMAT

SECOND = 10**9
START_MS = START_NS // 1_000_000


def line(ms: int, key: str, value: str, metadata: str = '""', *, event: str = "POINT_IN_TIME") -> str:
    """Return a line of a log."""
    return (
        f':::MLLOG {{"namespace": "", "time_ms": {START_MS + ms}, "event_type": "{event}",'
        f' "key": "{key}", "value": {value}, "metadata": {metadata}}}\n'
    )


SAMPLE = "".join(
    [
        line(0, "power_measurement_start", '"null"', event="INTERVAL_START").replace(": ", ":"),
        "0: " + line(2000, "power_reading", "5120.0", '{"lineno": 88, "host": "node_0"}'),
        line(4000, "power_reading", "5130", '{"host": "node_0"}'),
        line(4000, "power_reading", "5130", '{"host": "node_0"}'),
        line(6000, "power_reading", "null", '{"host": "node_0"}'),
        line(8000, "power_reading", "5140", '{"host": "node_0"}'),
        line(9000, "power_measurement_stop", "null", event="INTERVAL_END"),
    ]
).encode()


class TestMlperfPower(FormatContract):
    """A rank before a line, a repeated stamp, a blank."""

    form = FORMAT
    sample = SAMPLE


def test_a_node_is_a_device_with_power_at_its_supply():
    """The log names it; a reading without a number is missing; a line that is there twice counts once."""
    recording = recording_of_bytes(SAMPLE)

    (trace,) = recording.traces
    assert (trace.device.uuid, trace.device.host) == ("some-upload:node_0", "node_0")
    assert [(each - START_NS) // SECOND for each in trace.time_ns.tolist()] == [2, 4, 6, 8]
    assert str(trace["node_power_watts"].tolist()) == "[5120.0, 5130.0, nan, 5140.0]"
    assert {"node-power", "uuid-inferred", "repeated-rows", "missing-values"} <= codes(recording.findings)


def test_intervals_are_notes_with_their_stretch():
    """They say when the meter ran."""
    (found,) = [each for each in recording_of_bytes(SAMPLE).findings if each.code == "interval"]

    assert (found.subject, found.start_ns, found.stop_ns) == (
        "power_measurement",
        START_NS,
        START_NS + 9 * SECOND,
    )


def test_samples_more_seldom_than_the_rules_ask_are_told():
    """Every 2 s though one a second is asked for (training_results_v4.0 issue 4)."""
    log = "".join(line(ms, "power_reading", "5000") for ms in (0, 2000, 4000)).encode()

    recording = recording_of_bytes(log)

    assert recording.provenance.interval_seconds == 2.0
    assert "slow-sampling" in codes(recording.findings)
    assert "slow-sampling" not in codes(recording_of_bytes(_each_second()).findings)


def _each_second() -> bytes:
    return "".join(line(ms, "power_reading", "5000") for ms in (0, 1000, 2000)).encode()


def test_what_the_meter_saw_is_noted_and_changes_no_reading():
    """Direct current behind the supply is less than what the wall gives."""
    log = (
        line(0, "conversion_eff", "0.94", '{"measurement_type": "DC"}')
        + line(1000, "power_reading", "5000")
        + line(1500, "interconnect_power_est", "700")
    )

    recording = recording_of_bytes(log.encode() + _each_second())

    assert recording.traces[0]["node_power_watts"].tolist()[0] == 5000.0
    assert {"power-kind", "conversion-efficiency", "interconnect-power"} <= codes(recording.findings)


def test_two_nodes_in_one_log_are_two_devices():
    """The log tells them by host."""
    log = "".join(
        line(ms, "power_reading", "5000", f'{{"host": "node_{node}"}}') for ms in (0, 1000) for node in (0, 1)
    )

    assert [t.device.host for t in recording_of_bytes(log.encode()).traces] == ["node_0", "node_1"]
