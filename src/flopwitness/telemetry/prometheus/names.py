"""Which metrics speak of GPUs: dcgm-exporter's, by our table of fields and not by type lines, and our own.

Sources: NVIDIA DCGM 4.6.0, ``dcgmlib/dcgm_fields.h``; names of dcgm-exporter 1.x as in
github.com/NVIDIA/gpu-monitoring-tools; ``power_draw`` as Open PAI's exporter writes it
(github.com/microsoft/pai).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flopwitness.core.channels import CANONICAL
from flopwitness.telemetry.samplers.dcgm_fields import BY_NAME, MEBIBYTE, MEGAHERTZ, MILLI, PERCENT

OWN_PREFIX = "flopwitness_gpu_"
"""Our own gauges and counters are the canonical channels behind this, in base units."""

DCGM, OWN = "dcgm", "flopwitness"

KIBIBYTE = 1024.0

UNCLEAR_CHANNEL = "nvlink_unclear_bytes_per_second"
"""Of field 449: no canonical channel, so that nothing is estimated from it."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What a metric is: value in base units of ``channel`` = number x ``factor``; ``family`` says whose."""

    family: str
    channel: str
    factor: float = 1.0

    @property
    def is_ambiguous(self) -> bool:
        """Whether its unit is not sure."""
        return self.channel == UNCLEAR_CHANNEL


def _dcgm(channel: str, *names: str, factor: float = 1.0) -> dict[str, Signal]:
    return {name: Signal(DCGM, channel, factor) for name in names}


FIRST_EXPORTERS = (
    _dcgm("power_watts", "dcgm_power_usage", "power_draw")
    | _dcgm("energy_joules_total", "dcgm_total_energy_consumption", factor=MILLI)
    | _dcgm("gpu_util_ratio", "dcgm_gpu_utilization", factor=PERCENT)
    | _dcgm("mem_util_ratio", "dcgm_mem_copy_utilization", factor=PERCENT)
    | _dcgm("sm_clock_hertz", "dcgm_sm_clock", factor=MEGAHERTZ)
    | _dcgm("mem_clock_hertz", "dcgm_memory_clock", factor=MEGAHERTZ)
    | _dcgm("temperature_celsius", "dcgm_gpu_temp")
    | _dcgm("mem_temperature_celsius", "dcgm_memory_temp")
    | _dcgm("memory_used_bytes", "dcgm_fb_used", factor=MEBIBYTE)
    | _dcgm("xid_code", "dcgm_xid_errors")
)
"""Names before DCGM's own became the metrics' names."""

BESIDE_DMON = (
    _dcgm("xid_code", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR")
    | _dcgm(
        "power_limit_watts",
        "DCGM_FI_DEV_ENFORCED_POWER_LIMIT",
        "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
    )
    | _dcgm("pcie_tx_bytes_total", "DCGM_FI_DEV_PCIE_TX_BYTES_TOTAL")
    | _dcgm("pcie_rx_bytes_total", "DCGM_FI_DEV_PCIE_RX_BYTES_TOTAL")
    | _dcgm("sm_cycles_total", "DCGM_FI_PROF_SM_CYCLES_ELAPSED_TOTAL")
    | _dcgm("sm_active_cycles_total", "DCGM_FI_PROF_SM_CYCLES_ACTIVE_TOTAL")
    | _dcgm("tensor_active_cycles_total", "DCGM_FI_PROF_MMA_CYCLES_ACTIVE_TOTAL")
    | {
        name: signal
        for pipe in ("hmma", "imma", "dfma", "int", "fp64", "fp32", "fp16")
        for name, signal in _dcgm(
            f"{pipe}_active_cycles_total", f"DCGM_FI_PROF_{pipe.upper()}_CYCLES_ACTIVE_TOTAL"
        ).items()
    }
)
"""Fields that ``dcgmi dmon`` is not asked for."""

AMBIGUOUS = _dcgm(
    UNCLEAR_CHANNEL,
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL",
    factor=1000 * KIBIBYTE,
)
"""Field 449: a rate in 1000 KiB/s under a counter's name (DCGM source).

github.com/NVIDIA/dcgm-exporter/issues/472. It is reported, flagged and never billed from.
"""

SIGNALS: Mapping[str, Signal] = (
    {name: Signal(DCGM, field.channel, field.factor) for name, field in BY_NAME.items()}
    | FIRST_EXPORTERS
    | BESIDE_DMON
    | AMBIGUOUS
    | {f"{OWN_PREFIX}{channel}": Signal(OWN, channel) for channel in CANONICAL}
)
"""Every metric that is a channel, by name: DCGM's old names, its names since 4.6, and ours."""


def signal_named(name: str) -> Signal | None:
    """Return what a metric is, or None where it is no channel; some libraries append ``_total`` to counters.

    Examples
    --------
    >>> signal_named("DCGM_FI_PROF_TENSOR_UTIL_RATIO").channel
    'tensor_active_ratio'
    >>> signal_named("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total").factor
    0.001
    """
    return SIGNALS.get(name) or SIGNALS.get(name.removesuffix("_total"))
