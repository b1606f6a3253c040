"""tegrastats of Jetson boards, of several releases."""

from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.tegrastats import FORMAT

SECOND = 10**9
IN_UTC = Asked(zone=UTC)
COUNTED = Asked(start_ns=START_NS, period_seconds=0.5)
SAMPLE = b"""\
02-03-2026 04:05:06 RAM 9000/60000MB (lfb 3x4MB) SWAP 0/30000MB (cached 0MB) CPU [5%@1500,off] EMC_FREQ 20%@2133 GR3D_FREQ 71%@[900,0] gpu@45.5C VDD_GPU_SOC 2800mW/2650mW VIN_SYS_5V0 3300mW/3290mW
02-03-2026 04:05:07 RAM 9100/60000MB (lfb 3x4MB) SWAP 0/30000MB (cached 0MB) CPU [5%@1500,off] EMC_FREQ 21%@2133 GR3D_FREQ 72%@[0,910] gpu@-256C VDD_GPU_SOC 2900mW/2660mW VIN_SYS_5V0 3300mW/3290mW
"""  # noqa: E501


def columns(text: str, asked: Asked = COUNTED) -> dict[str, list[float]]:
    """Return the values of the one board."""
    (trace,) = recording_of_bytes(text.encode(), asked).traces
    return {name: column.tolist() for name, column in trace.channels.items()}


class TestTegrastats(FormatContract):
    """Lines with a local date and time."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


class TestWithoutTime(FormatContract):
    """An old release: no time, no units."""

    form = FORMAT
    sample = b"""RAM 1900/3956MB EMC_FREQ 0% GR3D_FREQ 99% POM_5V_IN 4000/3100 POM_5V_GPU 1200/800
RAM 1901/3956MB EMC_FREQ 1% GR3D_FREQ 98% POM_5V_IN 4100/3100 POM_5V_GPU 1300/800
"""
    asked = COUNTED


def test_each_field_is_read_where_it_stands():
    """A part without power has no temperature; of two clocks the higher is that of the part at work."""
    recording = recording_of_bytes(SAMPLE, IN_UTC)

    (trace,) = recording.traces
    assert trace.time_ns.tolist() == [START_NS, START_NS + SECOND]
    assert str({name: column.tolist() for name, column in trace.channels.items()}) == str(
        {
            "gpu_util_ratio": [0.71, 0.72],
            "sm_clock_hertz": [9e8, 9.1e8],
            "mem_util_ratio": [0.2, 0.21],
            "mem_clock_hertz": [2.133e9, 2.133e9],
            "memory_used_bytes": [9000 * 1048576.0, 9100 * 1048576.0],
            "temperature_celsius": [45.5, float("nan")],
            "power_instant_watts": [2.8, 2.9],
        }
    )
    assert "shared-rail" in codes(recording.findings)


def test_rails_without_a_unit_are_milliwatts():
    """The board's own rail is its node's power."""
    found = columns(TestWithoutTime.sample.decode())

    assert (found["power_instant_watts"], found["node_power_watts"]) == ([1.2, 1.3], [4.0, 4.1])


@pytest.mark.parametrize(
    ("fields", "channel", "value"),
    [
        ("GR3D_FREQ @[494,494,494]", "sm_clock_hertz", 4.94e8),
        ("GR3D_FREQ 71%@900", "gpu_util_ratio", 0.71),
        ("VDD_SYS_GPU 182/182", "power_instant_watts", 0.182),
        ("VDD_GPU 5299mW/5299mW", "power_instant_watts", 5.299),
        ("VDD_CPU_CV 7000mW/1mW VDD_GPU_SOC 3000mW/1mW VDD_GPU 2000mW/1mW", "power_instant_watts", 2.0),
    ],
)
def test_forms_of_all_releases_are_read(fields: str, channel: str, value: float):
    """The purest rail counts (jetson_stats pull request 894)."""
    assert columns(f"RAM 1/2MB {fields}\n")[channel] == [value]


def test_a_load_that_is_not_printed_is_missing():
    """It is not 0."""
    found = columns("RAM 1/2MB GR3D_FREQ @[494,494,494]\nRAM 1/2MB GR3D_FREQ 7%@[494,494,494]\n")

    assert str(found["gpu_util_ratio"]) == "[nan, 0.07]"
    assert "gpu_util_ratio" not in columns("GR3D_FREQ @[494,494,494]\n")


def test_time_comes_from_the_user_where_lines_have_none():
    """The tool's own period is used where nobody gave one, and that is said."""
    recording = recording_of_bytes(TestWithoutTime.sample, Asked(start_ns=START_NS))

    assert recording.traces[0].time_ns.tolist() == [START_NS, START_NS + SECOND]
    assert "period-assumed" in codes(recording.findings)
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(TestWithoutTime.sample)
