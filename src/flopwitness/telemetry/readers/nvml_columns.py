"""What each column of the recording CSV is: its channel, its unit, and which values are impossible.

Sources: NVML API reference for the device queries and field values, ``nvmlGpmMetricId_t`` for the GPM
metrics; GPM gives percent and MiB/s.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding
from flopwitness.telemetry.readers.fields import (
    BYTES_PER_KIBIBYTE,
    BYTES_PER_MEBIBYTE,
    HERTZ_PER_MEGAHERTZ,
    MILLIJOULES_PER_JOULE,
    PERCENT_PER_RATIO,
    possible,
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: value in base units = cell x ``multiplier`` / ``divisor``."""

    name: str
    channel: str
    multiplier: float = 1.0
    divisor: float = 1.0

    @property
    def possible(self) -> tuple[float, float]:
        """Least and largest value in base units that can be a measurement."""
        return possible(self.channel)


def _plain(name: str, channel: str) -> Column:
    return Column(name, channel)


def _percent(name: str, channel: str) -> Column:
    return Column(name, channel, divisor=PERCENT_PER_RATIO)


def _mebibytes(name: str, channel: str) -> Column:
    return Column(name, channel, multiplier=BYTES_PER_MEBIBYTE)


def _kibibytes(name: str, channel: str) -> Column:
    return Column(name, channel, multiplier=BYTES_PER_KIBIBYTE)


def _megahertz(name: str, channel: str) -> Column:
    return Column(name, channel, multiplier=HERTZ_PER_MEGAHERTZ)


COLUMNS = {
    column.name: column
    for column in (
        _plain("power_w", "power_watts"),
        _plain("power_inst_w", "power_instant_watts"),
        Column("energy_mj", "energy_joules_total", divisor=MILLIJOULES_PER_JOULE),
        _percent("util", "gpu_util_ratio"),
        _percent("mem_util", "mem_util_ratio"),
        _megahertz("sm_mhz", "sm_clock_hertz"),
        _megahertz("mem_mhz", "mem_clock_hertz"),
        _plain("temp_c", "temperature_celsius"),
        _plain("throttle", "throttle_reasons_mask"),
        _kibibytes("nvl_tx_kib", "nvlink_tx_bytes_total"),
        _kibibytes("nvl_rx_kib", "nvlink_rx_bytes_total"),
        _percent("gr", "gr_engine_active_ratio"),
        _percent("sm", "sm_active_ratio"),
        _percent("occ", "sm_occupancy_ratio"),
        _percent("int", "int_active_ratio"),
        _percent("tensor", "tensor_active_ratio"),
        _percent("dfma", "dfma_active_ratio"),
        _percent("hmma", "hmma_active_ratio"),
        _percent("imma", "imma_active_ratio"),
        _percent("dram", "dram_active_ratio"),
        _percent("fp64", "fp64_active_ratio"),
        _percent("fp32", "fp32_active_ratio"),
        _percent("fp16", "fp16_active_ratio"),
        _mebibytes("pcie_tx_mibs", "pcie_tx_bytes_per_second"),
        _mebibytes("pcie_rx_mibs", "pcie_rx_bytes_per_second"),
        _mebibytes("nvl_rx_mibs", "nvlink_rx_bytes_per_second"),
        _mebibytes("nvl_tx_mibs", "nvlink_tx_bytes_per_second"),
        _plain("cyc_elapsed", "sm_cycles_total"),
        _plain("cyc_active", "sm_active_cycles_total"),
        _plain("cyc_mma", "tensor_active_cycles_total"),
        _plain("cyc_hmma", "hmma_active_cycles_total"),
        _plain("cyc_imma", "imma_active_cycles_total"),
        _plain("cyc_dfma", "dfma_active_cycles_total"),
        _plain("cyc_int", "int_active_cycles_total"),
        _plain("cyc_fp64", "fp64_active_cycles_total"),
        _plain("cyc_fp32", "fp32_active_cycles_total"),
        _plain("cyc_fp16", "fp16_active_cycles_total"),
    )
}
"""Every column but ``t`` and ``gpu``, by name."""

OPTIONAL_COLUMNS = frozenset(name for name in COLUMNS if name.startswith("cyc_"))
"""Columns that only newer recorders write; their absence is no finding."""


def in_base_units(column: Column, cells: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[Finding]]:
    """Convert a column; what cannot be a measurement becomes NaN and is reported, never clamped.

    Parameters
    ----------
    column : Column
        What the cells are.
    cells : ndarray of shape (n_samples,), float64
        Finite or NaN, in the unit of the source.

    Returns
    -------
    values : ndarray of shape (n_samples,), float64
        In base units, finite or NaN.
    findings : list of Finding
        ``quarantined``, where there is something to say.

    Examples
    --------
    >>> values, findings = in_base_units(COLUMNS["tensor"], np.array([44.0, 101.0, 150.0]))
    >>> values.tolist(), [finding.code for finding in findings]
    ([0.44, 1.01, nan], ['quarantined'])
    """
    with np.errstate(over="ignore"):  # an overflow is infinite, hence impossible
        values = cells * column.multiplier / column.divisor
    least, largest = column.possible
    is_impossible = (values < least) | (values > largest)
    if not is_impossible.any():
        return values, []
    worst = float(values[is_impossible][0])
    values[is_impossible] = np.nan
    message = (
        f"{int(is_impossible.sum())} of {len(values)} values of {column.channel} are impossible"
        f" (the first is {worst:g}) and were taken out"
    )
    return values, [Finding("quarantined", message, subject=column.channel)]
