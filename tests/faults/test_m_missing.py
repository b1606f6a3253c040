"""Missing values: carried as missing or quarantined with a reason, never 0, a limit or an old value.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import numpy as np
import pytest

from contracts.format import reader_of
from flopwitness.core.finding import Severity
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.estimate.energy import EnergyMethod, energy_joules
from flopwitness.estimate.features.row import SessionFeatures, session_features
from flopwitness.estimate.features.steps import session_steps
from scrapes_made import H100, IN_UTC, SCRAPED, START_NS, counted, findings, metric, only, scraped, smi_log

SECOND = 10**9


def test_m1_a_power_that_is_not_available_is_missing_and_counted():
    """One set of tokens means missing: anderskm/gputil#5, netdata/netdata#4892, influxdata/telegraf#6258."""
    recording = smi_log("uuid, power.draw [W], clocks.sm [MHz]", "GPU-a, [N/A], 345 MHz")

    assert "power_watts" not in only(recording)
    assert only(recording)["sm_clock_hertz"].tolist() == [3.45e8]
    assert counted(recording, "missing-values") == 1


@pytest.mark.parametrize("token", ["[Not Supported]", "N/A", "[Unknown Error]", "ERR!", "-", "", "NaN"])
def test_m1_every_token_of_the_tools_is_missing(token: str):
    """responsibleproblemsolving/energy-usage#1: the number parser fell over each in turn."""
    recording = smi_log("uuid, power.draw [W], clocks.sm [MHz]", f"GPU-a, {token}, 345 MHz")

    assert "power_watts" not in only(recording)
    assert counted(recording, "missing-values") == 1


def test_m2_an_unknown_error_costs_its_cell_alone():
    """The row stays: enkore/i3pystatus#850, Quake4/MindMiner#627."""
    trace = only(smi_log("uuid, power.draw [W], clocks.sm [MHz]", "GPU-a, 228.82 W, [Unknown Error]"))

    assert trace["power_watts"].tolist() == [228.82]
    assert "sm_clock_hertz" not in trace


def test_m3_a_value_that_is_no_number_costs_one_line_of_a_scrape():
    """The rest of the scrape counts: microsoft/pai#949."""
    recording = scraped('power_draw{gpu="0"} N/A', 'power_draw{gpu="1"} 300')

    assert only(recording)["power_watts"].tolist() == [300.0]
    assert counted(recording, "bad-row") == 1


def test_m4_a_blank_of_dcgm_is_missing_neither_nothing_nor_all():
    """Tensor activity is neither 0 nor 100 %: guilbaults/slurm-job-exporter#30."""
    recording = scraped(
        'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="1",UUID="GPU-b"} 140737488355328',
        'DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 300',
    )

    assert set(only(recording).channels) == {"power_watts"}
    assert counted(recording, "missing-values") == 1


def test_m4_a_ratio_out_of_range_is_quarantined_not_clamped():
    """Two per cent beyond are rounding, more is no measurement: guilbaults/slurm-job-exporter#30."""
    recording = scraped(*metric("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 'UUID="GPU-b"', [1.01, 1.03, 0.5]))

    assert only(recording)["tensor_active_ratio"].tolist() == [1.01, 0.5]
    assert counted(recording, "quarantined") == 1


def test_m5_an_enormous_rate_of_a_slice_is_no_data():
    """MIG with DCGM 4.4: guilbaults/slurm-job-exporter#52."""
    slice_3 = 'gpu="0",UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="1g.10gb"'
    recording = scraped(
        f"DCGM_FI_PROF_PCIE_TX_BYTES{{{slice_3}}} 9223372036854775792",
        f"DCGM_FI_DEV_POWER_USAGE{{{slice_3}}} 300",
    )

    assert set(only(recording).channels) == {"power_watts"}


def test_m6_what_does_not_apply_lowers_no_confidence():
    """PCIe is not offered on MIG by design: NVIDIA/DCGM#88. No finding speaks of it, no interval widens."""
    slice_3 = f'UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="7g.80gb",{H100}'
    lines = [
        line
        for name, values in (
            ("DCGM_FI_DEV_POWER_USAGE", [300] * 20),
            ("DCGM_FI_DEV_SM_CLOCK", [1755] * 20),
            ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", [0.5] * 20),
        )
        for line in metric(name, slice_3, values)
    ]
    pcie = metric("DCGM_FI_PROF_PCIE_TX_BYTES", f'UUID="GPU-a",{H100}', [1e6] * 20)

    recording, other = scraped(*lines), scraped(*lines, *pcie)

    assert not [found for found in recording.findings if "pcie" in found.message.lower()]
    assert not [found for found in recording.findings if found.severity is not Severity.NOTE]
    unobserved = [_features(each).unobserved_ratio for each in (only(recording), only(other))]
    assert unobserved == [0.0, 0.0]


def test_m7_without_an_energy_counter_power_is_integrated_and_labelled():
    """0 kWh for a whole run, silently: mlco2/codecarbon#1316 and #1319, ai-dynamo/aiperf#1350."""
    blanks = metric("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 'UUID="GPU-a"', ["9223372036854775794"] * 3601)
    trace = only(scraped(*metric("DCGM_FI_DEV_POWER_USAGE", 'UUID="GPU-a"', [250] * 3601), *blanks))

    energy = energy_joules(trace)

    assert energy.joules == 900_000.0
    assert energy.method is EnergyMethod.POWER
    assert str(energy.method) == "power-integrated"
    assert energy.warning == "no energy counter: power was integrated"


def test_m8_a_power_of_none_is_unmeasured():
    """An average power of None was reported as 0.000000 kWh: saintslab/carbontracker#33."""
    summary = reader_of(b"Average power usage (W) for gpu: None\n", IN_UTC).summary

    (row,) = summary.rows
    assert (row["power_watts"], row["energy_joules"]) == (None, None)
    assert [finding.code for finding in summary.findings] == ["unmeasured"]


def test_m9_blanks_after_a_restart_are_missing_and_not_scored():
    """Tens of NaN, or huge values, then sane ones: geopm/geopm#3550."""
    huge = metric("DCGM_FI_PROF_SM_ACTIVE", f'UUID="GPU-a",{H100}', [1e17] * 30 + [0.9] * 30)
    tensor = metric("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", f'UUID="GPU-a",{H100}', ["NaN"] * 30 + [0.5] * 30)
    clock = metric("DCGM_FI_DEV_SM_CLOCK", f'UUID="GPU-a",{H100}', [1755] * 60)
    trace = only(scraped(*tensor, *clock, *huge))
    minute = Session(
        START_NS - SECOND, START_NS + 59 * SECOND, (trace,)
    )  # a value describes the second before it

    steps = session_steps(minute, trace)
    tensor_seconds = steps.integrated(steps.mean_of("tensor_active_ratio"))

    assert tensor_seconds.unobserved_seconds == 30.0
    assert np.nanmean(trace["tensor_active_ratio"]) == 0.5
    assert tensor_seconds.total / 60 == pytest.approx(0.5)
    assert np.isnan(trace["sm_active_ratio"][:30]).all()
    (finding,) = findings(scraped(*tensor, *clock), "profiling-unavailable")
    assert finding.message.startswith("29 s without")  # from the first sample on


def test_m10_of_amds_two_powers_the_one_that_is_a_number_counts():
    """The average is blank on MI300, the current value on others.

    mostlygeek/llama-swap#1154, microsoft/superbenchmark#794, ROCm/pytorch#1457.
    """
    text = (
        "GPU[0]\t\t: Average Graphics Package Power (W): 17.0\n"
        "GPU[0]\t\t: Current Socket Graphics Package Power (W): N/A\n"
    )
    recording = reader_of(text.encode(), SCRAPED).recording

    assert only(recording)["power_watts"].tolist() == [17.0]
    assert "power_instant_watts" not in only(recording)
    (finding,) = findings(recording, "power-kind")
    assert finding.message == "power is the mean that the board keeps"


def _features(trace: Trace) -> SessionFeatures:
    return session_features(Session(int(trace.time_ns[0]), int(trace.time_ns[-1]), (trace,)), {})
