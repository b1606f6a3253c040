"""What AMD's tools call their signals: rocm-smi's labels and amd-smi's columns.

Power comes as a mean on Navi, MI200 and older, as the current value on MI300 and newer; the other one is
``N/A`` there. A member that a chip does not have is all ones. rocm-smi numbers cards; neither is a UUID.

Sources: ROCm, AMD SMI documentation (``amdsmi_power_info_t``, ``amdsmi_gpu_metrics_t``), rocm_smi_lib
(``rocm_smi.py``) and its issue 160; mostlygeek/llama-swap, issue 1154; microsoft/superbenchmark, pull
request 794.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.fields import Field, mebibytes, megahertz, percent, plain
from flopwitness.telemetry.readers.reading import Context

ALL_ONES = (65535.0, 4294967295.0, float(2**64))
"""UINT16_MAX, UINT32_MAX, and UINT64_MAX as a float64 has it: not supported."""


def _fields(fields: Mapping[str, Field]) -> dict[str, Field]:
    return {name: replace(field, blanks=(*field.blanks, *ALL_ONES)) for name, field in fields.items()}


LABELS = _fields(
    {
        "average graphics package power (w)": plain("power_watts"),
        "current socket graphics package power (w)": plain("power_instant_watts"),
        "current graphics package power (w)": plain("power_instant_watts"),
        "average socket power (w)": plain("power_watts"),
        "current socket power (w)": plain("power_instant_watts"),
        "max graphics package power (w)": plain("power_limit_watts"),
        "gpu use (%)": percent("gpu_util_ratio"),
        "gpu memory read/write activity (%)": percent("mem_util_ratio"),
        "temperature (sensor junction) (c)": plain("temperature_celsius"),
        "temperature (sensor edge) (c)": Field("temperature_celsius", is_minor=True),
        "temperature (sensor memory) (c)": plain("mem_temperature_celsius"),
        "vram total used memory (b)": plain("memory_used_bytes"),
        "accumulated energy (uj)": Field("energy_joules_total", divisor=1e6),
    }
)
"""Of rocm-smi, lower case."""

METRIC = _fields(
    {
        "average_socket_power": plain("power_watts"),
        "current_socket_power": plain("power_instant_watts"),
        "socket_power": Field("power_watts", is_minor=True),
        "power_usage": Field("power_watts", is_minor=True),
        "gfx_activity": percent("gpu_util_ratio"),
        "average_gfx_activity": percent("gpu_util_ratio"),
        "umc_activity": percent("mem_util_ratio"),
        "average_umc_activity": percent("mem_util_ratio"),
        "hotspot": plain("temperature_celsius"),
        "hotspot_temperature": plain("temperature_celsius"),
        "temperature_hotspot": plain("temperature_celsius"),
        "edge": Field("temperature_celsius", is_minor=True),
        "memory_temperature": plain("mem_temperature_celsius"),
        "temperature_mem": plain("mem_temperature_celsius"),
        "gfx_0_clk": megahertz("sm_clock_hertz"),
        "gfx_clk": megahertz("sm_clock_hertz"),
        "current_gfxclk": megahertz("sm_clock_hertz"),
        "mem_0_clk": megahertz("mem_clock_hertz"),
        "mem_clock": megahertz("mem_clock_hertz"),
        "current_uclk": megahertz("mem_clock_hertz"),
        "used_vram": mebibytes("memory_used_bytes"),
        "vram_used": mebibytes("memory_used_bytes"),
        "total_energy_consumption": plain("energy_joules_total"),
    }
)
"""Of amd-smi: ``metric`` and ``monitor``; what it calls MB of memory are bytes shifted by 20 bits."""

MONITOR = METRIC | _fields({"gfx": percent("gpu_util_ratio"), "mem": percent("mem_util_ratio")})
"""Of ``amd-smi monitor``, where ``mem`` is activity and no temperature."""

KINDS = {
    "power_watts": "power is the mean that the board keeps",
    "power_instant_watts": "power is the current value; whether the board averages it is not documented",
}
UNTOLD = "amd-smi prints one socket power and does not tell whether it is the mean or the current value"


def note_power(context: Context, names: Iterable[str], channels: Mapping[str, NDArray[np.float64]]) -> None:
    """Say which kind of power answered."""
    for channel, sentence in KINDS.items():
        if channel in channels and np.isfinite(channels[channel]).any():
            is_untold = channel == "power_watts" and {"socket_power", "power_usage"} & set(names)
            message = UNTOLD if is_untold else sentence
            context.notes.say(Finding("power-kind", message, Severity.NOTE, subject=channel))
