"""GPU metrics of Weights & Biases: what a key means, and rows of each GPU to readings.

Keys are ``system.gpu.<index>.<metric>``. GPUs and the CPU come in separate records, each with its own
instant, so a GPU's rows are those records that speak of it. Profiling metrics are ratios of DCGM that some
versions write in percent: a file in which one of them passes 1 is in percent. ``powerPercent`` may pass 100
and ``memoryAllocated`` is a share of a memory that the file does not tell, so neither is used.

Source: docs.wandb.ai/ref/python/experiments/system-metrics.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.columns import note_columns, numeric_channels
from flopwitness.telemetry.readers.fields import RATIO_SLACK, Field, megahertz, percent, plain
from flopwitness.telemetry.readers.reading import Context, Readings

KEY = re.compile(r"^(?:system[./])?gpu\.(?P<index>\d{1,4})\.(?P<metric>\w+)$")

ACTIVITY = {
    "smActive": "sm_active_ratio",
    "smOccupancy": "sm_occupancy_ratio",
    "pipeTensorActive": "tensor_active_ratio",
    "pipeTensorHmmaActive": "hmma_active_ratio",
    "dramActive": "dram_active_ratio",
    "pipeFp64Active": "fp64_active_ratio",
    "pipeFp32Active": "fp32_active_ratio",
    "pipeFp16Active": "fp16_active_ratio",
}
"""Profiling metrics, in percent or not."""

FIELDS: Mapping[str, Field] = {
    "gpu": percent("gpu_util_ratio"),
    "memory": percent("mem_util_ratio"),
    "memoryReadWriteActivity": percent("mem_util_ratio"),
    "memoryAllocatedBytes": plain("memory_used_bytes"),
    "powerWatts": plain("power_watts"),
    "enforcedPowerLimitWatts": plain("power_limit_watts"),
    "smClock": megahertz("sm_clock_hertz"),
    "memoryClock": megahertz("mem_clock_hertz"),
    "temp": plain("temperature_celsius"),
    "pcieTxBytes": plain("pcie_tx_bytes_per_second"),
    "pcieRxBytes": plain("pcie_rx_bytes_per_second"),
    "nvlinkTxBytes": plain("nvlink_tx_bytes_per_second"),
    "nvlinkRxBytes": plain("nvlink_rx_bytes_per_second"),
}
UNUSED = (
    "powerPercent",
    "memoryAllocated",
    "memoryOverDrive",
    "fanSpeed",
    "encoderUtilization",
    "correctedMemoryErrors",
    "uncorrectedMemoryErrors",
)
KNOWN = dict.fromkeys((*FIELDS, *ACTIVITY, *UNUSED))
POWER = "powerWatts"


@dataclass(frozen=True, slots=True, eq=False)
class GpuRows:
    """Rows of one GPU.

    Attributes
    ----------
    time_ns : ndarray of shape (n_rows,), int64
        UTC nanoseconds.
    columns : mapping of str to ndarray of shape (n_rows,), float64
        By metric, in the file's unit; NaN where there is no number.
    lines : ndarray of shape (n_rows,), int64
        Where each row stands.
    """

    time_ns: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float64]]
    lines: NDArray[np.int64]

    @property
    def is_powerless(self) -> bool:
        """Whether it always reads 0 W."""
        power = self.columns.get(POWER)
        return power is not None and bool((power == 0.0).any()) and not bool((power > 0).any())


@dataclass(slots=True)
class GpuRecords:
    """Records as they come, dealt out to GPUs."""

    _rows: dict[str, list[tuple[int, int, Mapping[str, float]]]] = field(default_factory=dict)

    def add(self, time_ns: int, numbers: Mapping[str, float], *, line: int) -> None:
        """Keep the GPU metrics of a record, by full key."""
        by_gpu: dict[str, dict[str, float]] = {}
        for key, number in numbers.items():
            if found := KEY.match(key):
                by_gpu.setdefault(found["index"], {})[found["metric"]] = number
        for index, metrics in by_gpu.items():
            self._rows.setdefault(index, []).append((time_ns, line, metrics))

    def rows(self) -> dict[str, GpuRows]:
        """Return the rows of each GPU."""
        return {index: _stacked(rows) for index, rows in self._rows.items()}


def gpu_readings(context: Context, gpus: Mapping[str, GpuRows]) -> Iterator[Readings]:
    """Yield the readings of each GPU; one that always reads 0 W beside others that do not is left out.

    Parameters
    ----------
    context : Context
        Takes the notes.
    gpus : mapping of str to GpuRows
        By their label in the file.
    """
    fields = {**FIELDS, **_activity_fields(context, gpus)}
    note_columns(context, sorted({name for rows in gpus.values() for name in rows.columns}), KNOWN)
    has_power = any((rows.columns.get(POWER, np.zeros(1)) > 0).any() for rows in gpus.values())
    for label in sorted(gpus, key=lambda each: (len(each), each)):
        rows = gpus[label]
        if has_power and rows.is_powerless:
            message = f"GPU {label} always reads 0 W: it is part of the CPU, and was left out"
            context.notes.say(Finding("integrated-gpu", message, Severity.NOTE, label))
            continue
        channels = numeric_channels(context, rows.columns, fields, rows.lines)
        index = np.zeros(len(rows.time_ns), dtype=np.int64)
        if channels:
            yield Readings({0: context.device(label)}, index, rows.time_ns, channels)


def _activity_fields(context: Context, gpus: Mapping[str, GpuRows]) -> Mapping[str, Field]:
    """Return how profiling metrics are written: in percent where one passes 1."""
    found = [rows.columns[name] for rows in gpus.values() for name in ACTIVITY if name in rows.columns]
    if not found:
        return {}
    is_percent = any((column > 1.0 + RATIO_SLACK).any() for column in found)
    unit = "in percent: one passes 1" if is_percent else "from 0 to 1: none passes 1"
    message = f"profiling metrics were taken to be {unit}"
    context.notes.say(Finding("unit-inferred", message, Severity.NOTE))
    return {name: percent(channel) if is_percent else plain(channel) for name, channel in ACTIVITY.items()}


def _stacked(rows: list[tuple[int, int, Mapping[str, float]]]) -> GpuRows:
    names = dict.fromkeys(name for _, _, metrics in rows for name in metrics)
    columns = {
        name: np.array([metrics.get(name, np.nan) for _, _, metrics in rows], dtype=np.float64)
        for name in names
    }
    time_ns = np.array([time_ns for time_ns, _, _ in rows], dtype=np.int64)
    return GpuRows(time_ns, columns, np.array([line for _, line, _ in rows], dtype=np.int64))
