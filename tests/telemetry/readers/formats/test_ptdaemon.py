"""Power meter logs of SPEC PTDaemon."""

from dataclasses import replace
from datetime import UTC
from zoneinfo import ZoneInfo

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.ptdaemon import FORMAT

IN_UTC = Asked(zone=UTC)
SAMPLE = b"""\
Time,02-03-2026 04:05:06.789,Watts,2411.500000,Volts,239.100000,Amps,3.400000,PF,0.964000,Mark,2026-02-02_20-05-01_testing,Ch1,Watts,800.100000,Volts,239.1
Time,02-03-2026 04:05:07.789,Watts,2412.500000,Volts,239.100000,Amps,3.400000,PF,0.964000,Mark,2026-02-02_20-05-01_testing,Ch1,Watts,801.100000,Volts,239.1
Time,02-03-2026 04:05:08.789,Volts,239.1,Watts,nan,Amps,3.4,PF,0.964000,Mark,notset,Ch1,Watts,802.100000,Volts,239.1
"""  # noqa: E501


class TestPtdaemon(FormatContract):
    """A node behind three channels."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


def test_the_first_group_is_the_node_and_channels_are_not_added():
    """Month before day; the mark's own stamp is of another clock."""
    recording = recording_of_bytes(SAMPLE, IN_UTC)

    (trace,) = recording.traces
    assert trace.time_ns[0] == START_NS + 789_000_000
    assert str(trace["node_power_watts"].tolist()) == "[2411.5, 2412.5, nan]"
    assert "channels-not-added" in codes(recording.findings)


def test_the_zone_that_is_given_counts():
    """Five hours west of Greenwich in winter."""
    (trace,) = recording_of_bytes(SAMPLE, replace(IN_UTC, zone=ZoneInfo("America/New_York"))).traces

    assert trace.time_ns[0] == START_NS + 5 * 3600 * 10**9 + 789_000_000


def test_a_line_of_another_shape_costs_itself():
    """It is counted; a row without the node's own watts has none."""
    recording = recording_of_bytes(
        SAMPLE + b"Time,garbage\nTime,02-03-2026 04:05:09.0,Ch1,Watts,5,\n", IN_UTC
    )

    assert len(recording.traces[0]) == 3
    assert "bad-row" in codes(recording.findings)
