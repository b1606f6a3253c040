"""``nvidia-smi -q -x``: a tree that every few drivers rename."""

from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.nvidia_smi_xml import FORMAT

IN_UTC = Asked(zone=UTC)
GPU = """\
<gpu id="{bus}"><product_name>NVIDIA H200</product_name><uuid>{uuid}</uuid>
 <mig_mode><current_mig>Disabled</current_mig></mig_mode>
 <fb_memory_usage><total>143771 MiB</total><used>1024 MiB</used></fb_memory_usage>
 <utilization><gpu_util>97 %</gpu_util><memory_util>N/A</memory_util></utilization>
 <temperature><gpu_temp>61 C</gpu_temp><memory_temp>70 C</memory_temp></temperature>
 {power}
 <clocks><sm_clock>1755 MHz</sm_clock><mem_clock>3201 MHz</mem_clock></clocks>
 <clocks_event_reasons><clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
  <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap></clocks_event_reasons>
</gpu>
"""
POWER = """<gpu_power_readings><average_power_draw>412.10 W</average_power_draw>
 <instant_power_draw>420.00 W</instant_power_draw></gpu_power_readings>"""
HEADER = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
"""


def document(second: int, *gpus: str) -> str:
    """Return one answer of the tool."""
    stamp = f"<timestamp>Tue Feb  3 04:05:{second:02d} 2026</timestamp>"
    return f"{HEADER}<nvidia_smi_log>\n{stamp}\n{''.join(gpus)}</nvidia_smi_log>\n"


def gpu(uuid: str, power: str = POWER) -> str:
    """Return one GPU of it."""
    return GPU.format(bus="00000000:1A:00.0", uuid=uuid, power=power)


SAMPLE = (
    document(6, gpu("GPU-aaaa"), gpu("GPU-bbbb")) + document(7, gpu("GPU-aaaa"), gpu("GPU-bbbb"))
).encode()


class TestNvidiaSmiXml(FormatContract):
    """Two documents in a row, as ``-l`` writes them."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


def test_every_field_arrives_in_base_units():
    """Average and instant power are two channels; reasons become the driver's mask."""
    first, second = recording_of_bytes(SAMPLE, IN_UTC).traces

    assert (first.device.uuid, first.device.chip, second.device.uuid) == ("GPU-aaaa", "H200-SXM", "GPU-bbbb")
    assert first.time_ns.tolist() == [START_NS, START_NS + 1_000_000_000]
    assert {name: column.tolist()[0] for name, column in first.channels.items()} == {
        "power_watts": 412.1,
        "power_instant_watts": 420.0,
        "gpu_util_ratio": 0.97,
        "sm_clock_hertz": 1.755e9,
        "mem_clock_hertz": 3.201e9,
        "temperature_celsius": 61.0,
        "mem_temperature_celsius": 70.0,
        "memory_used_bytes": 1024 * 1048576.0,
        "throttle_reasons_mask": 4.0,
    }


@pytest.mark.parametrize(
    "power",
    [
        "<power_readings><power_draw>412.10 W</power_draw></power_readings>",
        "<gpu_power_readings><power_draw>412.10 W</power_draw></gpu_power_readings>",
        "<gpu_power_readings><average_power_draw>412.10 W</average_power_draw></gpu_power_readings>",
    ],
)
def test_power_is_found_under_every_name_it_had(power: str):
    """github.com/influxdata/telegraf/issues/16569: before R535, from R535, from R570."""
    (trace,) = recording_of_bytes(document(6, gpu("GPU-a", power)).encode(), IN_UTC).traces

    assert trace["power_watts"].tolist() == [412.1]


def test_power_under_a_name_that_nobody_knows_is_a_finding():
    """The next rename is seen: the column is missing, not 0."""
    new = "<gpu_power_readings><mean_draw>412.10 W</mean_draw></gpu_power_readings>"

    recording = recording_of_bytes(document(6, gpu("GPU-a", new)).encode(), IN_UTC)

    assert "power_watts" not in recording.traces[0]
    assert [found.subject for found in recording.findings if found.code == "missing-column"] == [
        "power_watts"
    ]


def test_memory_of_a_slice_is_not_that_of_its_board():
    """One card in MIG mode, eight cards read."""
    slices = """<mig_devices><mig_device><index>0</index>
     <fb_memory_usage><used>7 MiB</used></fb_memory_usage></mig_device></mig_devices>"""
    cards = [gpu(f"GPU-{n}", POWER + slices if n == 2 else POWER) for n in range(8)]

    recording = recording_of_bytes(document(6, *cards).encode(), IN_UTC)

    assert [trace["memory_used_bytes"].tolist() for trace in recording.traces] == [[1024 * 1048576.0]] * 8


def test_a_lost_gpu_hides_no_other():
    """It is named, the other is read."""
    lost = gpu("GPU-b").replace("412.10 W", "GPU is lost").replace("420.00 W", "GPU is lost")

    recording = recording_of_bytes(document(6, gpu("GPU-a"), lost).encode(), IN_UTC)

    assert [trace.device.uuid for trace in recording.traces] == ["GPU-a"]
    assert [found.subject for found in recording.findings if found.code == "gpu-lost"] == ["GPU-b"]


def test_entities_are_refused():
    """A text that unfolds into gigabytes is not begun."""
    bomb = b'<!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaa">]><nvidia_smi_log>&a;</nvidia_smi_log>'

    with pytest.raises(BadInputError, match="entities"):
        recording_of_bytes(bomb, IN_UTC)


def test_a_document_that_is_cut_keeps_the_gpus_before_the_cut():
    """It is said."""
    cut = SAMPLE[: SAMPLE.index(b"GPU-bbbb")]

    recording = recording_of_bytes(cut, IN_UTC)

    assert [trace.device.uuid for trace in recording.traces] == ["GPU-aaaa"]
    assert "truncated" in codes(recording.findings)


def test_a_mask_with_a_reason_without_answer_is_missing():
    """Half a mask would read as fewer reasons."""
    document_of_old = document(6, gpu("GPU-a").replace("Not Active", "N/A")).encode()

    assert "throttle_reasons_mask" not in recording_of_bytes(document_of_old, IN_UTC).traces[0]
