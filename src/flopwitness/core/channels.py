"""The names of signals: one name, one base unit, one meaning, whatever source gave it.

Source of each meaning: NVML API reference (device queries, field values, GPM metrics) and DCGM's field list.
"""

from dataclasses import dataclass
from enum import StrEnum

UNIT_SUFFIXES = (
    "_watts",
    "_joules_total",
    "_ratio",
    "_hertz",
    "_celsius",
    "_bytes",
    "_bytes_total",
    "_bytes_per_second",
    "_mask",
    "_flag",
    "_cycles_total",
    "_code",
    "_seconds",
)
"""A channel's name ends in one of these; ``_total`` marks a counter that only grows."""


class Kind(StrEnum):
    """How a channel's numbers behave between samples."""

    GAUGE = "gauge"
    COUNTER = "counter"
    MASK = "mask"


@dataclass(frozen=True, slots=True)
class Channel:
    """What a canonical channel is: its behaviour and its meaning in one sentence."""

    name: str
    kind: Kind
    meaning: str


def _gauge(name: str, meaning: str) -> Channel:
    return Channel(name, Kind.GAUGE, meaning)


def _counter(name: str, meaning: str) -> Channel:
    return Channel(name, Kind.COUNTER, meaning)


PIPE_CHANNELS = (
    "tensor_active_ratio",
    "hmma_active_ratio",
    "imma_active_ratio",
    "dfma_active_ratio",
    "dmma_active_ratio",
    "fp64_active_ratio",
    "fp32_active_ratio",
    "fp16_active_ratio",
    "int_active_ratio",
)
"""Shares of SM cycles in which an arithmetic pipe was busy."""

CANONICAL = {
    channel.name: channel
    for channel in (
        _gauge("power_watts", "board power, a mean over about 1 s where the chip averages"),
        _gauge("power_instant_watts", "board power at the last sensor reading"),
        _gauge("power_limit_watts", "the limit that the board's power is held to"),
        _gauge("node_power_watts", "power of a whole node: GPUs, host, fans, losses of the supply"),
        _counter("energy_joules_total", "energy drawn since the driver was loaded"),
        _gauge("gpu_util_ratio", "share of time with at least one kernel running; no measure of work"),
        _gauge("mem_util_ratio", "share of time device memory was read or written"),
        _gauge("gr_engine_active_ratio", "share of time the graphics or compute engine was busy"),
        _gauge("sm_active_ratio", "share of SM cycles with at least one warp assigned"),
        _gauge("sm_occupancy_ratio", "resident warps against the most that could be resident"),
        _gauge("tensor_active_ratio", "share of SM cycles in which any tensor pipe was active"),
        _gauge("hmma_active_ratio", "same, half-precision matrix pipe; FP8 and TF32 run on it too"),
        _gauge("imma_active_ratio", "same, integer matrix pipe"),
        _gauge("dfma_active_ratio", "same, the DFMA tensor pipe (FP64 matrix work on Hopper)"),
        _gauge("dmma_active_ratio", "same, double-precision matrix pipe"),
        _gauge("dram_active_ratio", "share of cycles in which device memory moved data"),
        _gauge("fp64_active_ratio", "share of cycles of the plain FP64 pipe"),
        _gauge("fp32_active_ratio", "share of cycles of the plain FP32 pipe"),
        _gauge("fp16_active_ratio", "share of cycles of the plain FP16 pipe; matrix work excluded"),
        _gauge("int_active_ratio", "share of cycles of the integer pipe"),
        _gauge("sm_clock_hertz", "clock of the SMs at the reading"),
        _gauge("mem_clock_hertz", "clock of device memory at the reading"),
        _gauge("temperature_celsius", "core temperature"),
        _gauge("mem_temperature_celsius", "memory temperature"),
        _gauge("memory_used_bytes", "device memory in use"),
        _counter("nvlink_tx_bytes_total", "bytes sent over all NVLinks"),
        _counter("nvlink_rx_bytes_total", "bytes received over all NVLinks"),
        _counter("pcie_tx_bytes_total", "bytes sent over PCIe"),
        _counter("pcie_rx_bytes_total", "bytes received over PCIe"),
        _gauge("nvlink_tx_bytes_per_second", "mean rate sent over all NVLinks since the last sample"),
        _gauge("nvlink_rx_bytes_per_second", "mean rate received over all NVLinks since the last sample"),
        _gauge("pcie_tx_bytes_per_second", "mean rate sent over PCIe since the last sample"),
        _gauge("pcie_rx_bytes_per_second", "mean rate received over PCIe since the last sample"),
        Channel("throttle_reasons_mask", Kind.MASK, "bit mask of why the clock is held down"),
        Channel("xid_code", Kind.MASK, "code of the last driver error; an event where it changes"),
        _counter("sm_cycles_total", "SM cycles that passed"),
        _counter("sm_active_cycles_total", "SM cycles with at least one warp assigned"),
        _counter("tensor_active_cycles_total", "SM cycles in which any tensor pipe was active"),
        _counter("hmma_active_cycles_total", "same, half-precision matrix pipe"),
        _counter("imma_active_cycles_total", "same, integer matrix pipe"),
        _counter("dfma_active_cycles_total", "same, DFMA tensor pipe"),
        _counter("int_active_cycles_total", "cycles of the integer pipe"),
        _counter("fp64_active_cycles_total", "cycles of the plain FP64 pipe"),
        _counter("fp32_active_cycles_total", "cycles of the plain FP32 pipe"),
        _counter("fp16_active_cycles_total", "cycles of the plain FP16 pipe"),
    )
}
"""Every canonical channel by name."""


def has_unit(name: str) -> bool:
    """Say whether a channel's name ends in a unit.

    Examples
    --------
    >>> has_unit("power_watts"), has_unit("power")
    (True, False)
    """
    return name.endswith(UNIT_SUFFIXES)
