"""Exporters: what they print is a claim; silence, repetition and a type line prove nothing.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import numpy as np
import pytest

from contracts.format import recording_of_bytes
from flopwitness.app.witnessing import witnessed
from flopwitness.core.session import Session, cut_session
from flopwitness.core.workload import Target
from flopwitness.estimate.energy import energy_joules
from flopwitness.estimate.features.row import session_features
from flopwitness.telemetry.readers.rules.events import xid_events
from flopwitness.telemetry.readers.rules.profiling import stretches_without_profiling
from scrapes_made import H100, IN_UTC, findings, metric, only, scraped, smi_log

N_BELIEVED = 5
"""Equal rows that are believed: a scraper may ask more often than a source refreshes."""

A = f'UUID="GPU-a",{H100}'
POWER, ENERGY, SM = (
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_PROF_SM_ACTIVE",
)


def test_e1_values_that_never_change_are_not_observed():
    """A stopped engine behind an exporter: NVIDIA/gpu-monitoring-tools#188, NVIDIA/dcgm-exporter#164."""
    recording = scraped(*metric(POWER, A, [400] * 20), *metric(ENERGY, A, [7_000_450] * 20))

    energy = energy_joules(only(recording))

    assert np.flatnonzero(np.isfinite(only(recording)["power_watts"])).tolist() == list(range(N_BELIEVED))
    assert energy.joules == (N_BELIEVED - 1) * 400.0
    assert energy.unobserved_seconds == 20 - N_BELIEVED
    assert len(findings(recording, "stale")) == 1


def test_e3_time_without_profiling_is_named_with_its_length():
    """A second profiler took the lock: NVIDIA/DCGM#56, #62 and #151. It is an evasion route."""
    tensor = [
        f"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{{A}}} 0.5 {1770091506000 + 1000 * n}"
        for n in range(660)
        if not 30 < n <= 630
    ]
    recording = scraped(*metric(POWER, A, [300 + n % 7 for n in range(660)]), *tensor)

    (stretch,) = stretches_without_profiling(only(recording))

    assert stretch.seconds == 600.0
    (finding,) = findings(recording, "profiling-unavailable")
    assert finding.message.startswith("600 s without profiling signals")


def test_e4_profiling_that_was_never_offered_is_a_note():
    """The module is not loaded: NVIDIA/dcgm-exporter#22 and #707, NVIDIA/DCGM#193. Power is what is left."""
    recording = scraped(*metric(POWER, A, [300, 310, 305]), *metric("DCGM_FI_DEV_SM_CLOCK", A, [1755] * 3))

    (finding,) = findings(recording, "profiling-not-offered")

    assert "FLOP can follow from power and clocks only" in finding.message
    session = cut_session(recording.traces, *(int(only(recording).time_ns[place]) for place in (0, -1)))
    (answer,) = witnessed(recording, (session,), None)
    assert set(answer.estimates[Target.EXECUTED]) >= {"power-envelope"}


def test_e5_a_code_that_stands_for_ever_is_one_event():
    """The gauge keeps its last code: NVIDIA/dcgm-exporter#500 and #190, NVIDIA/DCGM#277."""
    recording = scraped(*metric("DCGM_FI_DEV_XID_ERRORS", A, [31] * 1000))

    assert [event.code for event in xid_events(only(recording))] == [31]
    assert len(findings(recording, "xid")) == 1


def test_e6_a_lost_gpu_hides_none_of_the_others():
    """One crashed the tool for all eight: rossumai/nvgpu#6, NVIDIA/k8s-device-plugin#2038 (Xid 79)."""
    rows = [
        f"2026/02/03 04:05:0{tick}.78{gpu}, GPU-{gpu}, "
        + ("[GPU is lost], [GPU is lost]" if gpu == 5 and tick > 6 else "300.00 W, 90 %")
        for tick in range(6, 9)
        for gpu in range(8)
    ]
    header = "timestamp, uuid, power.draw [W], utilization.gpu [%]"
    recording = recording_of_bytes("\n".join([header, *rows, ""]).encode(), IN_UTC)

    lengths = {trace.device.uuid: len(trace) for trace in recording.traces}

    assert lengths == {f"GPU-{gpu}": 1 if gpu == 5 else 3 for gpu in range(8)}
    assert [finding.subject for finding in findings(recording, "gpu-lost")] == ["GPU-5"]


def test_e6_of_eight_gpus_seven_are_reported_and_one_is_lost():
    """In a single look: rossumai/nvgpu#6."""
    rows = [f"GPU-{gpu}, " + ("[GPU is lost]" if gpu == 5 else "300.00 W") for gpu in range(8)]
    recording = smi_log("uuid, power.draw [W]", *rows)

    assert len(recording.traces) == 7
    assert [finding.subject for finding in findings(recording, "gpu-lost")] == ["GPU-5"]


def test_e7_a_rate_under_a_counters_type_is_a_rate():
    """The type line is not believed: NVIDIA/dcgm-exporter#87."""
    name = "DCGM_FI_PROF_PCIE_TX_BYTES"
    trace = only(scraped(f"# TYPE {name} counter", *metric(name, A, ["5e8"] * 3)))

    rate = trace["pcie_tx_bytes_per_second"]

    assert rate.tolist() == [5e8] * 3
    assert float(np.sum(rate[1:] * np.diff(trace.seconds()))) == 1e9


def test_e8_a_unit_that_nobody_is_sure_of_is_flagged_and_never_used():
    """Field 449 is a rate in 1000 KiB/s: NVIDIA/dcgm-exporter#195 and #472, NVIDIA/DCGM#231."""
    recording = scraped(
        *metric("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", A, [1000] * 3),
        *metric("DCGM_FI_DEV_SM_CLOCK", A, [1755] * 3),
        *metric(POWER, A, [300, 310, 305]),
    )
    trace = only(recording)
    whole = Session(int(trace.time_ns[0]), int(trace.time_ns[-1]), (trace,))

    assert trace["nvlink_unclear_bytes_per_second"].tolist() == [1.024e9] * 3
    assert len(findings(recording, "unit-ambiguous")) == 1
    assert np.isnan(session_features(whole, {}).values["nvlink_bytes"])


@pytest.mark.parametrize("name", ["DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"])
def test_e9_a_constant_0_on_gpus_that_work_in_step_is_unknown(name: str):
    """NVLink read 0 on DGX A100 and on H100 with NVSwitch: NVIDIA/DCGM#149 and #236."""
    lines = [
        line
        for gpu in range(8)
        for metric_name, values in ((SM, [0.0] * 3 + [0.8] * 20), (name, [0] * 23))
        for line in metric(metric_name, f'UUID="GPU-{gpu}",{H100}', values)
    ]
    recording = scraped(*lines)

    channels = {channel for trace in recording.traces for channel in trace.channels}
    assert channels == {"sm_active_ratio"}
    (finding,) = findings(recording, "communication-unknown")
    assert "8 GPUs that work in step" in finding.message
