"""DCGM's fields: each by its old name, its name since 4.6, and its short name in ``dcgmi dmon``.

Sources: NVIDIA DCGM 4.6.0, ``dcgmlib/dcgm_fields.h`` and ``dcgmlib/src/dcgm_fields.cpp``. Ratios of ``PROF``
fields are 0..1 and rates bytes a second; ``DEV`` utilisation is 0..100, also under the name ``..._RATIO``.
"""

from dataclasses import dataclass

MEBIBYTE, MEGAHERTZ, PERCENT, MILLI = 1048576.0, 1e6, 0.01, 1e-3


@dataclass(frozen=True, slots=True)
class DcgmField:
    """One field: value in base units = number x ``factor``; ``names`` without ``DCGM_FI_``."""

    number: int
    channel: str
    short: str
    names: tuple[str, ...]
    factor: float = 1.0


def _prof(number: int, channel: str, short: str, *names: str) -> DcgmField:
    return DcgmField(number, channel, short, tuple(f"PROF_{name}" for name in names))


def _dev(number: int, channel: str, short: str, names: tuple[str, ...], factor: float = 1.0) -> DcgmField:
    return DcgmField(number, channel, short, tuple(f"DEV_{name}" for name in names), factor)


FIELDS = (
    _dev(155, "power_watts", "POWER", ("POWER_USAGE", "BOARD_POWER_WATTS")),
    _dev(157, "power_instant_watts", "POWINST", ("POWER_USAGE_INSTANT", "BOARD_POWER_RAW_WATTS")),
    _dev(156, "energy_joules_total", "TOTEC", ("TOTAL_ENERGY_CONSUMPTION",), MILLI),
    _dev(203, "gpu_util_ratio", "GPUTL", ("GPU_UTIL", "GPU_UTIL_RATIO"), PERCENT),
    _dev(204, "mem_util_ratio", "MCUTL", ("MEM_COPY_UTIL",), PERCENT),
    _dev(100, "sm_clock_hertz", "SMCLK", ("SM_CLOCK",), MEGAHERTZ),
    _dev(101, "mem_clock_hertz", "MMCLK", ("MEM_CLOCK",), MEGAHERTZ),
    _dev(150, "temperature_celsius", "TMPTR", ("GPU_TEMP", "GPU_TEMP_CELSIUS")),
    _dev(140, "mem_temperature_celsius", "MMTMP", ("MEMORY_TEMP", "MEMORY_TEMP_CELSIUS")),
    _dev(252, "memory_used_bytes", "FBUSD", ("FB_USED",), MEBIBYTE),
    _dev(112, "throttle_reasons_mask", "DVCCTR", ("CLOCK_THROTTLE_REASONS", "CLOCKS_EVENT_REASONS")),
    _prof(1001, "gr_engine_active_ratio", "GRACT", "GR_ENGINE_ACTIVE", "GR_ENGINE_UTIL_RATIO"),
    _prof(1002, "sm_active_ratio", "SMACT", "SM_ACTIVE", "SM_UTIL_RATIO"),
    _prof(1003, "sm_occupancy_ratio", "SMOCC", "SM_OCCUPANCY", "SM_OCCUPANCY_RATIO"),
    _prof(1004, "tensor_active_ratio", "TENSO", "PIPE_TENSOR_ACTIVE", "TENSOR_UTIL_RATIO"),
    _prof(1005, "dram_active_ratio", "DRAMA", "DRAM_ACTIVE", "DRAM_UTIL_RATIO"),
    _prof(1006, "fp64_active_ratio", "FP64A", "PIPE_FP64_ACTIVE", "FP64_UTIL_RATIO"),
    _prof(1007, "fp32_active_ratio", "FP32A", "PIPE_FP32_ACTIVE", "FP32_UTIL_RATIO"),
    _prof(1008, "fp16_active_ratio", "FP16A", "PIPE_FP16_ACTIVE", "FP16_UTIL_RATIO"),
    _prof(1013, "imma_active_ratio", "TIMMA", "PIPE_TENSOR_IMMA_ACTIVE", "IMMA_UTIL_RATIO"),
    _prof(1014, "hmma_active_ratio", "THMMA", "PIPE_TENSOR_HMMA_ACTIVE", "HMMA_UTIL_RATIO"),
    _prof(1015, "dfma_active_ratio", "TDFMA", "PIPE_TENSOR_DFMA_ACTIVE", "DFMA_UTIL_RATIO"),
    _prof(1016, "int_active_ratio", "INTAC", "PIPE_INT_ACTIVE", "INT_UTIL_RATIO"),
    _prof(1009, "pcie_tx_bytes_per_second", "PCITX", "PCIE_TX_BYTES"),
    _prof(1010, "pcie_rx_bytes_per_second", "PCIRX", "PCIE_RX_BYTES"),
    _prof(1011, "nvlink_tx_bytes_per_second", "NVLTX", "NVLINK_TX_BYTES"),
    _prof(1012, "nvlink_rx_bytes_per_second", "NVLRX", "NVLINK_RX_BYTES"),
)
"""Field 449 (NVLink bandwidth) is left out: its unit is ambiguous, it is a rate under a counter's name."""

BY_SHORT_NAME = {field.short: field for field in FIELDS}
BY_NAME = {f"DCGM_FI_{name}": field for field in FIELDS for name in field.names}
