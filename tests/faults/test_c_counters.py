"""Counters: every drop, jump and standstill has a named cause; where doubt is left, the answer is no pick.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com. What energy makes of
counters stands in ``test_c_energy``.
"""

import numpy as np
import pytest

from contracts.format import START_NS, reader_of, recording_of_bytes
from flopwitness.estimate.energy import counter_watts, energy_joules
from flopwitness.physics.counters import counter_faults, difference, is_underflow, most_per_second
from flopwitness.telemetry.readers.rules.sums import conservation_findings, summed_watts
from plain_traces import plain_trace
from scrapes_made import H100, IN_UTC, SCRAPED, counted, findings, metric, only, scraped, smi_log

SECOND = 10**9
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"


def test_c2_a_counter_that_wraps_at_a_known_range_goes_on():
    """-250769 J: hubblo-org/scaphandre#280, joular/powerjoular#45, RRZE-HPC/likwid#646."""
    moved = difference(262_143_000_000, 500, counter_range=262_143_328_850)

    assert moved / 1e6 == pytest.approx(0.32935)


def test_c2_a_drop_without_a_known_range_is_missing_never_negative():
    """The range cannot be read: tdurieux/EnergiBridge#17, mlco2/codecarbon#1321. Files say so."""
    assert np.isnan(difference(262_143_000_000, 500))

    recording = scraped(*metric(ENERGY, f'UUID="GPU-a",{H100}', [262_143_000, 262_143_300, 0.5]))

    energy = energy_joules(only(recording))
    assert energy.joules == pytest.approx(0.3 + 0.0005)
    assert energy.unobserved_seconds == 1.0
    assert counted(recording, "counter-reset") == 1


def test_c3_an_unsigned_underflow_is_no_energy():
    """More than the device can draw: sustainable-computing-io/kepler#53. 2^64 less 262,094,848."""
    delta = 18446744073447456768

    assert delta == 2**64 - 262_094_848
    assert is_underflow(np.array([float(delta)])).all()
    assert delta > most_per_second("energy_joules_total") * 1e6


def test_c3_an_underflow_in_a_file_is_taken_out_and_named():
    """The readings on either side of it are one counter: sustainable-computing-io/kepler#53."""
    recording = scraped(*metric(ENERGY, f'UUID="GPU-a",{H100}', [1_000_000, 18446744073447456768, 1_600_000]))

    assert np.isnan(only(recording)["energy_joules_total"][1])
    assert counted(recording, "underflow") == 1
    assert energy_joules(only(recording)).joules == 600.0


def test_c4_a_power_of_all_ones_is_missing():
    """4294967295000 uW: sustainable-computing-io/kepler#1049."""
    log = (
        "timestamp, uuid, power.draw [uW]\n"
        "2026/02/03 04:05:06.789, GPU-a, 4294967295000\n"
        "2026/02/03 04:05:07.789, GPU-a, 65000000\n"
    )
    recording = recording_of_bytes(log.encode(), IN_UTC)

    assert str(only(recording)["power_watts"].tolist()) == "[nan, 65.0]"
    assert counted(recording, "quarantined") == 1


def test_c4_power_beyond_the_boards_limit_is_quarantined():
    """9 kW from a board of 70 W: sustainable-computing-io/kepler#1344."""
    recording = smi_log(
        "uuid, power.draw [W], power.limit [W]", "GPU-a, 9000.00 W, 70.00 W", "GPU-a, 65.00 W, 70.00 W"
    )

    assert str(only(recording)["power_watts"].tolist()) == "[nan, 65.0]"
    assert counted(recording, "quarantined") == 1


def test_c4_a_short_excess_over_the_limit_is_real():
    """907 W was read on a board of 700 W: plausible is what a board can do, not what it is held to."""
    recording = smi_log("uuid, name, power.draw [W]", "GPU-a, NVIDIA H200, 907.00 W")

    assert only(recording)["power_watts"].tolist() == [907.0]


def test_c7_two_reads_within_one_step_of_the_counter_are_not_0_watts():
    """It steps every 10 ms and more: gpuopenanalytics/pynvml#18. At 1 kHz most reads are equal."""
    seconds = np.arange(200) / 1000
    joules = 5000 + np.floor(seconds / 0.05 + 1e-9) * 15  # 300 W in steps of 50 ms
    trace = plain_trace(seconds, energy_joules_total=joules)

    watts = counter_watts(trace, window_seconds=0.001)

    assert np.isnan(watts[:100]).all()
    assert not (watts[100:] == 0).any()
    assert np.isnan(energy_joules(trace.between(0, 2)).joules)


def test_c11_a_series_that_is_gone_from_a_scrape_has_ended():
    """A GPU that no longer existed kept its 174 W in the sum: sustainable-computing-io/kepler#1926."""
    name = "DCGM_FI_DEV_POWER_USAGE"
    recording = scraped(*metric(name, 'UUID="GPU-a"', [700] * 5), *metric(name, 'UUID="GPU-b"', [174] * 2))

    watts = summed_watts(recording.traces, START_NS + np.arange(5) * SECOND)

    assert watts.tolist() == [874.0, 874.0, 700.0, 700.0, 700.0]


def test_c11_sources_of_one_node_are_compared():
    """1898 W against 1559 W went unseen: aitra-ai/aitra-meter#103."""
    gpu = plain_trace(range(5), power_watts=1898)
    node = plain_trace(range(5), uuid="node", node_power_watts=1559)

    (finding,) = conservation_findings([gpu], node)

    assert finding.code == "not-conserved"
    assert "1898 W of 1559 W" in finding.message


def test_c12_a_second_die_without_readings_is_no_second_board():
    """The first die shows the sum of both: ROCm/rocm_smi_lib#160."""
    text = (
        "GPU[0]\t\t: Average Graphics Package Power (W): 400.0\n"
        "GPU[1]\t\t: Average Graphics Package Power (W): N/A\n"
    )
    recording = reader_of(text.encode(), SCRAPED).recording

    assert only(recording)["power_watts"].tolist() == [400.0]
    assert len(findings(recording, "gpu-silent")) == 1


def test_a_dip_that_recovers_is_a_glitch_and_a_drop_that_stays_is_a_reset():
    """The general rule behind the rows, whatever the counter."""
    seconds = np.arange(8.0)
    dip = np.array([9e5, 9e5 + 300, 0, 9e5 + 900, 9e5 + 1200, 9e5 + 1500, 9e5 + 1800, 9e5 + 2100])
    drop = np.array([9e5, 9e5 + 300, 0, 300, 600, 900, 1200, 1500])

    found = [counter_faults(seconds, values, 1050.0) for values in (dip, drop)]

    assert [np.flatnonzero(each.is_glitch).tolist() for each in found] == [[2], []]
    assert [np.flatnonzero(each.is_reset).tolist() for each in found] == [[], [2]]
