"""The small CSV logs that are known: their columns, units and quirks, as data.

Seen in public repositories; each was somebody's own script, so the header is all that tells what a column is.
"""

import re

from flopwitness.telemetry.readers.fields import (
    Field,
    mebibytes,
    megabytes,
    megahertz,
    milli,
    percent,
    plain,
)
from flopwitness.telemetry.readers.formats.home_csv import format_of
from flopwitness.telemetry.readers.sheet import Clock, Sheet

GPU_COLUMN = re.compile(r"^gpu(\d{1,4})$")
NODE_COLUMN = re.compile(r"^([a-z0-9][a-z0-9._-]{0,62})_watts$")
PHILLY_COLUMN = re.compile(r"^gpu(\d{1,2})_util$")


def _gpu_watts(name: str) -> tuple[str, Field] | None:
    found = GPU_COLUMN.match(name)
    return (found.group(1), plain("power_watts")) if found else None


def _node_watts(name: str) -> tuple[str, Field] | None:
    found = NODE_COLUMN.match(name)
    return (found.group(1), plain("node_power_watts")) if found else None


def _philly_util(name: str) -> tuple[str, Field] | None:
    found = PHILLY_COLUMN.match(name)
    return (found.group(1), percent("gpu_util_ratio")) if found else None


SHEETS = (
    Sheet(
        name="run-log-csv",
        title="CSV of runs and stages, one row a GPU",
        time="timestamp",
        clock=Clock.ISO,
        gpu="gpu_id",
        fields={
            "power_w": plain("power_watts"),
            "sm_clock_mhz": megahertz("sm_clock_hertz"),
            "gpu_util_pct": percent("gpu_util_ratio"),
            "memory_util_pct": percent("mem_util_ratio"),
            "memory_used_mb": megabytes("memory_used_bytes"),
            "temperature_c": plain("temperature_celsius"),
        },
        aside=("run_id", "time_relative_s", "memory_total_mb", "stage"),
        signature=frozenset({"timestamp", "gpu_id", "power_w", "gpu_util_pct"}),
    ),
    Sheet(
        name="tick-log-csv",
        title="CSV of temperature, utilisation and power, one stamp a tick",
        time="timestamp",
        clock=Clock.ISO,
        gpu="gpu_index",
        fields={
            "temperature_c": plain("temperature_celsius"),
            "utilization_gpu_percent": percent("gpu_util_ratio"),
            "power_w": plain("power_watts"),
        },
        signature=frozenset({"timestamp", "gpu_index", "power_w"}),
        remark="the stamp of a tick was taken before the driver was asked: values are milliseconds later",
    ),
    Sheet(
        name="power-log-csv",
        title="CSV of one GPU's power",
        time="timestamp",
        clock=Clock.ISO,
        fields={"power_draw_w": plain("power_watts")},
    ),
    Sheet(
        name="wide-gpu-csv",
        title="CSV of power, one column a GPU",
        time="timestamp",
        clock=Clock.EPOCH,
        wide=_gpu_watts,
    ),
    Sheet(
        name="node-watts-csv",
        title="CSV of node power, one column a node",
        time="timestamp",
        clock=Clock.ISO,
        wide=_node_watts,
        is_node_a_column=True,
        aside=("total_watts",),
        remark="column 'total_watts' is the sum of the others and was set aside",
    ),
    Sheet(
        name="utilisation-log-csv",
        title="CSV of utilisation and memory",
        time="timestamp",
        clock=Clock.EPOCH,
        fields={
            "gpu_utilization": percent("gpu_util_ratio"),
            "memory_used": mebibytes("memory_used_bytes"),
        },
        aside=("memory_total",),
        signature=frozenset({"timestamp", "gpu_utilization", "memory_used"}),
    ),
    Sheet(
        name="elapsed-log-csv",
        title="CSV of one GPU by elapsed seconds",
        time="elapsed_sec",
        clock=Clock.RELATIVE,
        fields={
            "gpu_util_pct": percent("gpu_util_ratio"),
            "mem_used_mb": megabytes("memory_used_bytes"),
            "temp_c": plain("temperature_celsius"),
            "power_w": plain("power_watts"),
        },
        aside=("mem_total_mb",),
        signature=frozenset({"elapsed_sec", "power_w"}),
        may_break_lines=True,
    ),
    Sheet(
        name="milliwatt-log-csv",
        title="CSV of power in milliwatts",
        time="timestamp (s)",
        clock=Clock.BY_CELLS,
        fields={"power (mw)": milli("power_watts")},
    ),
    Sheet(
        name="fast-log-csv",
        title="CSV at 20 Hz, one row a GPU",
        time="ts",
        clock=Clock.BY_CELLS,
        gpu="gpu_idx",
        fields={
            "gpu_util": percent("gpu_util_ratio"),
            "mem_util": percent("mem_util_ratio"),
            "mem_used_mb": megabytes("memory_used_bytes"),
            "power_w": plain("power_watts"),
            "temp_c": plain("temperature_celsius"),
            "sm_clock_mhz": megahertz("sm_clock_hertz"),
            "mem_clock_mhz": megahertz("mem_clock_hertz"),
        },
        aside=(
            *("mem_total_mb", "gr_engine_active", "nvlink_rx_mb", "nvlink_tx_mb", "pcie_rx_mb", "pcie_tx_mb"),
            *("ecc_errors", "power_ratio", "thermal_headroom_c", "energy_j"),
        ),
        signature=frozenset({"ts", "gpu_idx", "power_w"}),
        remark="gr_engine_active is a copy of gpu_util, and nobody says whether MB and J are totals or per "
        "sample: these columns were set aside; power refreshes at half the rate of the rows",
    ),
    Sheet(
        name="alibaba-gpu-csv",
        title="Alibaba cluster trace of GPU duty cycles (github.com/alibaba/clusterdata)",
        time="timestamp_anon",
        clock=Clock.SHIFTED,
        gpu="container_ip",
        fields={"value": percent("gpu_util_ratio")},
        remark="a device is a container here: how many GPUs it has is not said",
    ),
    Sheet(
        name="philly-gpu-csv",
        title="Philly trace of GPU utilisation (github.com/msr-fiddle/philly-traces)",
        time="time",
        clock=Clock.NAMED_ZONE,
        wide=_philly_util,
        host="machineid",
        aside=("machineid",),
        missing=("NA",),
    ),
)

FORMATS = tuple(format_of(sheet) for sheet in SHEETS)
"""Registered in ``flopwitness.telemetry.readers.known``."""
