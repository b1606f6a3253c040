"""Steps that are known: levels of a GPU at work and idle, marks of sessions, memory readings."""

from collections.abc import Mapping

import numpy as np

from contracts.detector import GPU_A, START_NS
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.memory import MemoryRuns
from flopwitness.detect.jobs.signature import SIGNALS

SECOND = 1_000_000_000
GIB = 2.0**30

DENSE = {
    "power_instant_watts": 600.0,
    "tensor_active_ratio": 0.5,
    "dram_active_ratio": 0.3,
    "fp32_active_ratio": 0.03,
    "int_active_ratio": 0.05,
    "sm_active_ratio": 0.9,
    "sm_occupancy_ratio": 0.2,
    "nvlink_tx_bytes_per_second": 5e9,
}
"""A training step of a dense transformer, as an H200 shows it."""

SPARSE = DENSE | {"tensor_active_ratio": 0.25, "fp32_active_ratio": 0.08, "nvlink_tx_bytes_per_second": 1e9}
"""Another program's step."""

IDLE = dict.fromkeys(DENSE, 0.0) | {"power_instant_watts": 80.0}

Level = Mapping[str, float]


def stretches_of(
    *stretches: tuple[Level, float, float], device: Device = GPU_A, start_ns: int = START_NS, seed: int = 0
) -> Trace:
    """Return a trace at 10 Hz of (levels, seconds, memory in GiB), each sample off by 1 % or so."""
    counts = [round(10 * seconds) for _, seconds, _ in stretches]
    noise = np.random.default_rng(seed).normal(1.0, 0.01, sum(counts))
    columns = {
        name: noise * np.repeat([levels[name] for levels, _, _ in stretches], counts) for name in DENSE
    }
    columns["memory_used_bytes"] = GIB * np.repeat([memory for _, _, memory in stretches], counts)
    return Trace(device, start_ns + SECOND // 10 * np.arange(1, sum(counts) + 1), columns)


def mark_at(
    start: float,
    stop: float,
    *,
    devices: tuple[Device, ...] = (GPU_A,),
    shift: float = 0.0,
    gib: float | None = 40.0,
) -> Mark:
    """Return the mark of a session at these seconds; ``shift`` moves every level of its signature."""
    ends = round(start * SECOND), round(stop * SECOND)
    return Mark(
        f"{start:g}-{stop:g}",
        *ends,
        {device.uuid: device.host for device in devices},
        np.full(len(SIGNALS), shift),
        {device.uuid: gib * GIB for device in devices} if gib is not None else {},
    )


def held(*runs: tuple[float, float, float]) -> MemoryRuns:
    """Return memory runs of (first second, last second, GiB)."""
    table = np.array(runs, dtype=np.float64).reshape(-1, 3)
    first, last = (np.round(table[:, :2].T * SECOND)).astype(np.int64)
    return MemoryRuns(first, last, table[:, 2] * GIB)
