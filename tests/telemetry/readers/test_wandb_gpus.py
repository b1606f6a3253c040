"""What W&B's keys mean."""

import pytest

from contracts.format import codes
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.wandb_gpus import GpuRecords, gpu_readings


def readings_of(numbers: dict[str, float]) -> tuple[dict[str, list[float]], set[str]]:
    """Return the channels of GPU 0, and what was noted."""
    context, records = Context(Input.of_bytes(b"")), GpuRecords()
    records.add(0, numbers, line=1)
    (found,) = gpu_readings(context, records.rows())
    return {name: column.tolist() for name, column in found.channels.items()}, codes(context.notes.findings())


@pytest.mark.parametrize(
    ("key", "value", "channel", "expected"),
    [
        ("system.gpu.0.gpu", 95.0, "gpu_util_ratio", 0.95),
        ("system.gpu.0.memory", 40.0, "mem_util_ratio", 0.4),
        ("gpu.0.memoryAllocatedBytes", 1e9, "memory_used_bytes", 1e9),
        ("system/gpu.0.enforcedPowerLimitWatts", 700.0, "power_limit_watts", 700.0),
        ("system.gpu.0.smClock", 1755.0, "sm_clock_hertz", 1.755e9),
        ("system.gpu.0.dramActive", 37.0, "dram_active_ratio", 0.37),
        ("system.gpu.0.nvlinkTxBytes", 5e9, "nvlink_tx_bytes_per_second", 5e9),
    ],
)
def test_a_metric_is_its_channel_in_base_units(key: str, value: float, channel: str, expected: float):
    """By name, with or without the word before it."""
    assert readings_of({key: value})[0] == {channel: [expected]}


def test_keys_of_processes_and_unknown_metrics_are_set_aside():
    """The first double those of the GPU, the second are told."""
    channels, noted = readings_of(
        {"system.gpu.0.powerWatts": 300.0, "system.gpu.process.0.powerWatts": 1.0, "system.gpu.0.moon": 1.0}
    )

    assert channels == {"power_watts": [300.0]}
    assert "unknown-column" in noted
