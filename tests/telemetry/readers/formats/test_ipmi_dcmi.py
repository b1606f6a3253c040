"""IPMI DCMI: power of a node, unless measuring is off or the clock was never set."""

from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.ipmi_dcmi import FORMAT

IN_UTC = Asked(zone=UTC)
BLOCK = """
    Instantaneous power reading:                   {watts} Watts
    Minimum during sampling period:                 14 Watts
    Maximum during sampling period:                617 Watts
    Average power reading over sample period:      440 Watts
    IPMI timestamp:                           {stamp}
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   {state}

"""


def log_of(*blocks: tuple[object, str, str]) -> bytes:
    """Return readings as ipmitool prints them: watts, stamp, state."""
    return "".join(BLOCK.format(watts=w, stamp=t, state=s) for w, t, s in blocks).encode()


SAMPLE = log_of(
    (512, "Tue Feb  3 04:05:06 2026", "activated"),
    (77, "Tue Feb  3 04:05:07 2026", "deactivated"),
    (530, "Tue Feb  3 04:05:08 2026", "activated"),
    (999, "Thu Jan  1 00:01:00 1970", "activated"),
)


class TestIpmiDcmi(FormatContract):
    """Four readings, one with measuring off, one by a clock that was never set."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


def test_readings_that_are_none_are_missing():
    """The power of a controller that does not measure is not the node's."""
    recording = recording_of_bytes(SAMPLE, IN_UTC)

    (node,) = recording.traces
    assert node.time_ns.tolist() == [START_NS, START_NS + 10**9, START_NS + 2 * 10**9]
    assert str(node["node_power_watts"].tolist()) == "[512.0, nan, 530.0]"
    assert "missing-values" in codes(recording.findings)


def test_a_stamp_that_says_utc_needs_no_zone():
    """Newer releases of ipmitool print it."""
    log = log_of((512, "02/03/2026 04:05:06 UTC", "activated"))

    assert recording_of_bytes(log).traces[0].time_ns.tolist() == [START_NS]


def test_lines_of_power_alone_need_start_and_period():
    """A loop that keeps one line a reading has no stamps."""
    log = b"Instantaneous power reading: 512 Watts\nInstantaneous power reading: 530 Watts\n"

    with pytest.raises(BadInputError, match="--start"):
        _ = reader_of(log).recording
    with pytest.raises(BadInputError, match="--period"):
        _ = reader_of(log, Asked(start_ns=START_NS)).recording
    (node,) = recording_of_bytes(log, Asked(start_ns=START_NS, period_seconds=2.0)).traces

    assert node.time_ns.tolist() == [START_NS, START_NS + 2 * 10**9]
    assert node["node_power_watts"].tolist() == [512.0, 530.0]


def test_freeipmi_says_the_same_in_other_words():
    """``ipmi-dcmi --get-system-power-statistics``."""
    log = (
        b"Current Power                        : 512 Watts\n"
        b"Time Stamp                           : 02/03/2026 - 04:05:06\n"
        b"Power Measurement                    : Active\n"
    )

    (node,) = recording_of_bytes(log, IN_UTC).traces

    assert (node.time_ns.tolist(), node["node_power_watts"].tolist()) == ([START_NS], [512.0])
