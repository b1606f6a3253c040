"""``nvidia-smi dmon``: columns held apart by blanks, headers again and again, mostly no time."""

from dataclasses import replace
from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.nvidia_smi_dmon import FORMAT

SECOND = 1_000_000_000
ASKED = Asked(start_ns=START_NS, period_seconds=2.0)
SAMPLE = b"""\
# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
# Idx     W     C     C     %     %     %     %   MHz   MHz
    0    301     52     61     88     41      0      0   2619   1740
    1     74     33      -      0      0      0      0   2619    345
# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
# Idx     W     C     C     %     %     %     %   MHz   MHz
    0    305     53     62     90     42      0      0   2619   1755
    1     75     33     40      0      0      0      0   2619    345
"""
DATED = b"""\
#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %      %      %    MHz    MHz
 20260203   04:05:06      0    301     52     61     88     41      0      0      0      0   2619   1740
 20260203   04:05:07      0    305     53     62     90     42      0      0      0      0   2619   1755
"""


class TestNvidiaSmiDmon(FormatContract):
    """Two GPUs, two screenfuls."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED


class TestNvidiaSmiDmonDated(FormatContract):
    """With ``-o DT``: local date and time."""

    form = FORMAT
    sample = DATED
    asked = Asked(zone=UTC)
    needs_zone = True


def test_every_cell_arrives_in_base_units():
    """``pclk`` is the SM clock, ``mclk`` the memory's; a dash is missing."""
    first, second = recording_of_bytes(SAMPLE, ASKED).traces

    assert first.time_ns.tolist() == [START_NS, START_NS + 2 * SECOND]
    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [301.0, 305.0],
        "temperature_celsius": [52.0, 53.0],
        "mem_temperature_celsius": [61.0, 62.0],
        "gpu_util_ratio": [0.88, 0.9],
        "mem_util_ratio": [0.41, 0.42],
        "mem_clock_hertz": [2.619e9, 2.619e9],
        "sm_clock_hertz": [1.74e9, 1.755e9],
    }
    assert str(second["mem_temperature_celsius"].tolist()) == "[nan, 40.0]"


@pytest.mark.parametrize(
    "header",
    [
        "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk",
        "# gpu   pwr gtemp mtemp    sm   mem   enc   dec rxpci txpci",
        "# gpu pwr temp sm mem enc dec mclk pclk pviol tviol fb bar1 sbecc dbecc pci rxpci txpci",
        "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk",
    ],
)
def test_headers_of_every_driver_are_known(header: str):
    """No column is a surprise; each value is found by its name."""
    n_columns = len(header.split()) - 2
    log = f"{header}\n    0 {' '.join(['10'] * n_columns)}\n".encode()

    recording = recording_of_bytes(log, ASKED)

    (trace,) = recording.traces
    assert (trace["power_watts"].tolist(), trace["gpu_util_ratio"].tolist()) == ([10.0], [0.1])
    assert "unknown-column" not in codes(recording.findings)


def test_a_header_that_changes_midway_changes_the_columns():
    """A log of two runs: each row is read by the header above it."""
    log = SAMPLE + b"# gpu    sm   pwr\n# Idx     %     W\n    0     50   400\n    1     0    70\n"

    first, _ = recording_of_bytes(log, ASKED).traces

    assert first["power_watts"].tolist() == [301.0, 305.0, 400.0]
    assert str(first["sm_clock_hertz"].tolist()) == "[1740000000.0, 1755000000.0, nan]"


def test_the_echoed_command_says_the_period():
    """``-d 5`` in the first line, blank lines and comments are no rows."""
    log = b"> nvidia-smi dmon -d 5\n\n# somebody's remark\n" + SAMPLE

    recording = recording_of_bytes(log, replace(ASKED, period_seconds=None))

    assert recording.traces[0].time_ns.tolist() == [START_NS, START_NS + 5 * SECOND]
    assert "period-assumed" in codes(recording.findings)
    assert "bad-row" not in codes(recording.findings)


def test_without_a_start_a_log_is_refused():
    """It holds no time at all."""
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(SAMPLE)


def test_dates_and_times_are_read_in_the_zone_that_was_given():
    """No start, no period is needed."""
    (trace,) = recording_of_bytes(DATED, Asked(zone=UTC)).traces

    assert trace.time_ns.tolist() == [START_NS, START_NS + SECOND]


def test_times_of_day_pass_midnight():
    """With ``-o T`` the day comes from the start; behind 23:59:59 it is the next."""
    log = b"#Time      gpu   pwr\n#HH:MM:SS  Idx     W\n 23:59:59    0    70\n 00:00:01    0    71\n"
    midnight_ns = START_NS - (4 * 3600 + 5 * 60 + 6) * SECOND

    (trace,) = recording_of_bytes(log, Asked(zone=UTC, start_ns=midnight_ns - 2 * SECOND)).traces

    assert trace.time_ns.tolist() == [midnight_ns - SECOND, midnight_ns + SECOND]


def test_traffic_beyond_any_link_is_quarantined():
    """Millions of MB/s over PCIe are no measurement, and no limit either."""
    log = b"# gpu   pwr rxpci txpci\n# Idx     W  MB/s  MB/s\n    0   300  4194304  12\n    0   300  50  12\n"

    recording = recording_of_bytes(log, ASKED)

    assert str(recording.traces[0]["pcie_rx_bytes_per_second"].tolist()) == "[nan, 50000000.0]"
    assert recording.traces[0]["pcie_tx_bytes_per_second"].tolist() == [1.2e7, 1.2e7]
    assert "quarantined" in codes(recording.findings)


def test_rows_of_a_mig_card_cost_no_other_card():
    """A sub-line or a card of dashes: eight cards are read (github.com/bigstack-oss/cubecos/pull/1228)."""
    cards = "".join(f"    {n}    {'-' if n == 2 else 300}     50\n" for n in range(8))
    log = f"# gpu   pwr    sm\n# Idx     W     %\n{cards}      MIG 1g.10gb  0\n".encode()

    recording = recording_of_bytes(log, ASKED)

    assert len(recording.traces) == 8
    assert "power_watts" not in recording.traces[2]
