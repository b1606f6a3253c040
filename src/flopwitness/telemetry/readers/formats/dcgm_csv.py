"""CSV of DCGM's fields with a column ``phase`` (20 columns), and the same from NVML (13 columns).

Times are seconds since 1970, one value for all GPUs of a tick. ``*_active`` is 0..1, rates are bytes a
second, ``energy_mj`` a counter. Cells of ratios and rates may be empty, and floats are written in several
styles in one file. ``pcie_*_kib`` of the NVML form is NVML's throughput over one window of 20 ms, no mean
between samples.

Sources: the headers; NVIDIA DCGM, field list; NVML API reference, ``nvmlDeviceGetPcieThroughput``.
"""

from flopwitness.telemetry.readers.fields import Field, mebibytes, megahertz, milli, percent, plain
from flopwitness.telemetry.readers.formats.home_csv import format_of
from flopwitness.telemetry.readers.sheet import Clock, Sheet

DCGM = Sheet(
    name="dcgm-csv",
    title="CSV of DCGM fields and phases",
    time="timestamp",
    clock=Clock.EPOCH,
    gpu="gpu",
    product="gpu_model",
    fields={
        "power_w": plain("power_watts"),
        "temp_c": plain("temperature_celsius"),
        "mem_used_mib": mebibytes("memory_used_bytes"),
        "gpu_util_pct": percent("gpu_util_ratio"),
        "mem_util_pct": percent("mem_util_ratio"),
        "sm_active": plain("sm_active_ratio"),
        "tensor_active": plain("tensor_active_ratio"),
        "dram_active": plain("dram_active_ratio"),
        "fp16_active": plain("fp16_active_ratio"),
        "pcie_tx_bytes_s": plain("pcie_tx_bytes_per_second"),
        "pcie_rx_bytes_s": plain("pcie_rx_bytes_per_second"),
        "nvlink_tx_bytes_s": plain("nvlink_tx_bytes_per_second"),
        "nvlink_rx_bytes_s": plain("nvlink_rx_bytes_per_second"),
        "throttle_reasons": plain("throttle_reasons_mask"),
        "energy_mj": milli("energy_joules_total"),
    },
    aside=("phase", "mem_total_mib"),
    signature=frozenset({"timestamp", "gpu", "power_w", "sm_active"}),
    remark="column 'phase' is somebody's label, and its 'warmup' is training already: it was set aside; "
    "fp16_active is 0 for matrix work",
)

NVML = Sheet(
    name="nvml-phase-csv",
    title="CSV of NVML readings and phases",
    time="timestamp",
    clock=Clock.EPOCH,
    gpu="gpu",
    fields={
        "power_w": plain("power_watts"),
        "sm_util_pct": percent("gpu_util_ratio"),
        "mem_util_pct": percent("mem_util_ratio"),
        "mem_used_mib": mebibytes("memory_used_bytes"),
        "temp_c": plain("temperature_celsius"),
        "pcie_tx_kib": Field("pcie_tx_bytes_per_second", multiplier=1024.0),
        "pcie_rx_kib": Field("pcie_rx_bytes_per_second", multiplier=1024.0),
        "clock_sm_mhz": megahertz("sm_clock_hertz"),
        "clock_mem_mhz": megahertz("mem_clock_hertz"),
    },
    aside=("phase", "mem_total_mib"),
    signature=frozenset({"timestamp", "gpu", "power_w", "sm_util_pct"}),
    remark="PCIe rates are of one window of 20 ms, no means; column 'phase' was set aside",
)

FORMATS = (format_of(DCGM), format_of(NVML))
"""Registered in ``flopwitness.telemetry.readers.known``."""
