"""Formats: fields by name, each optional with its own unit; a bad cell or row costs itself and is counted.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import pytest

from contracts.format import reader_of, recording_of_bytes
from scrapes_made import IN_UTC, SCRAPED, findings, only, scraped

STAMP = "02-03-2026 04:05:06"
PMON = (
    "# gpu        pid  type    sm   mem   enc   dec   command\n"
    "# Idx          #   C/G     %     %     %     %   name\n"
)


def test_f1_a_load_that_is_not_printed_is_missing():
    """Forms of tegrastats: rbonghi/jetson_stats#894, wendylabsinc/WendyOS#1316."""
    line = f"{STAMP} RAM 9000/60000MB GR3D_FREQ @[494,494,494] VDD_GPU 5299mW/5299mW\n"

    trace = only(recording_of_bytes(line.encode(), IN_UTC))

    assert "gpu_util_ratio" not in trace
    assert trace["sm_clock_hertz"].tolist() == [4.94e8]


@pytest.mark.parametrize(
    ("rail", "watts"), [("VDD_SYS_GPU 182/182", 0.182), ("VDD_GPU 5299mW/5299mW", 5.299)]
)
def test_f1_a_rail_is_in_milliwatts_with_its_unit_or_without(rail: str, watts: float):
    """Rails were renamed, units came later: henrygd/beszel#1631."""
    line = f"{STAMP} RAM 1900/3956MB EMC_FREQ 0% GR3D_FREQ 99% {rail}\n"

    trace = only(recording_of_bytes(line.encode(), IN_UTC))

    assert trace["power_instant_watts"].tolist() == [watts]
    assert trace["gpu_util_ratio"].tolist() == [0.99]


def xml_of(*gpus: str) -> bytes:
    """Return what nvidia-smi -q -x prints."""
    stamp = "<timestamp>Tue Feb  3 04:05:06 2026</timestamp>"
    return f'<?xml version="1.0" ?>\n<nvidia_smi_log>\n{stamp}\n{"".join(gpus)}</nvidia_smi_log>\n'.encode()


def test_f2_a_renamed_power_is_the_same_power():
    """R535 and R570 renamed it: influxdata/telegraf#16569, netdata/netdata#15755 and #19757."""
    power = "<gpu_power_readings><average_power_draw>412.10 W</average_power_draw></gpu_power_readings>"
    recording = recording_of_bytes(
        xml_of(f'<gpu id="00000000:1A:00.0"><uuid>GPU-a</uuid>{power}</gpu>\n'), IN_UTC
    )

    assert only(recording)["power_watts"].tolist() == [412.1]
    assert "power_instant_watts" not in only(recording)


def test_f2_a_power_that_vanished_is_a_finding():
    """Silently gone is the fault: netdata/netdata#19757."""
    load = "<utilization><gpu_util>97 %</gpu_util></utilization>"
    recording = recording_of_bytes(
        xml_of(f'<gpu id="00000000:1A:00.0"><uuid>GPU-a</uuid>{load}</gpu>\n'), IN_UTC
    )

    assert [each for each in findings(recording, "missing-column") if "power" in each.message]


def test_f3_a_command_may_hold_blanks():
    """They broke the columns: Breakend/experiment-impact-tracker#36 and #14."""
    pmon = f"{PMON}    0 105873 C 0 0 0 0 chrome --type=g\n"

    (row,) = reader_of(pmon.encode(), SCRAPED).summary.rows

    assert (row["pid"], row["command"]) == (105873, "chrome --type=g")


def test_f4_a_card_in_slices_hides_no_other_card():
    """One card gave two matches, the node was lost: bigstack-oss/cubecos#1228."""
    power = "<gpu_power_readings><average_power_draw>300.00 W</average_power_draw></gpu_power_readings>"
    mig = "<mig_device><index>0</index><gpu_instance_id>1</gpu_instance_id></mig_device>"
    sliced = f"<mig_devices>{mig}</mig_devices>"
    cards = [
        f'<gpu id="00000000:{n}A:00.0"><uuid>GPU-{n}</uuid>{sliced if n == 3 else ""}{power}</gpu>\n'
        for n in range(8)
    ]

    recording = recording_of_bytes(xml_of(*cards), IN_UTC)

    assert {trace.device.uuid for trace in recording.traces} == {f"GPU-{n}" for n in range(8)}
    assert all(trace["power_watts"].tolist() == [300.0] for trace in recording.traces)


def test_f5_an_infinite_number_costs_itself_alone():
    """Bare inf in JSON, negative durations: pytorch/kineto#105 and #646."""
    summary = reader_of(b'{"dur":0,"args":{"memory bandwidth (GB/s)": inf}}').summary

    (row,) = summary.rows
    assert row["n_events"] == 1
    (finding,) = [found for found in summary.findings if found.code == "infinite-value"]
    assert finding.message.startswith("1 ")


def test_f6_a_suffix_that_a_library_added_is_taken_off():
    """prometheus/client_python's text parser renames counters to ``*_total``."""
    trace = only(scraped('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total{UUID="GPU-a"} 5000'))

    assert trace["energy_joules_total"].tolist() == [5.0]
