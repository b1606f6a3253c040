"""What ``nvidia-smi --query-gpu`` can be asked for: each field's channel and unit, and its other names.

Source: ``nvidia-smi --help-query-gpu``. ``power.draw`` is the mean over a second where the chip averages
(Ampere but GA100, and newer) and the latest reading elsewhere; ``power.draw.average`` has no answer there.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.telemetry.readers.fields import Field, in_unit, mebibytes, megahertz, percent, plain

HEADED = re.compile(r"^([a-z_.0-9]+)\s*(?:\[([^\]]+)\])?$", re.IGNORECASE)
"""A field as its header cell has it: a name and, for most, a unit."""

FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "power.draw.average": plain("power_watts"),
        "power.draw": Field("power_watts", is_minor=True),
        "power.draw.instant": plain("power_instant_watts"),
        "power.limit": Field("power_limit_watts", is_minor=True),
        "enforced.power.limit": plain("power_limit_watts"),
        "utilization.gpu": percent("gpu_util_ratio"),
        "utilization.memory": percent("mem_util_ratio"),
        "clocks.current.sm": megahertz("sm_clock_hertz"),
        "clocks.current.memory": megahertz("mem_clock_hertz"),
        "temperature.gpu": plain("temperature_celsius"),
        "temperature.memory": plain("mem_temperature_celsius"),
        "memory.used": mebibytes("memory_used_bytes"),
        "clocks_event_reasons.active": plain("throttle_reasons_mask"),
    }
)
"""By the name that today's driver prints."""

ALIASES = MappingProxyType(
    {
        "clocks.sm": "clocks.current.sm",
        "clocks.mem": "clocks.current.memory",
        "gpu.power.draw.average": "power.draw.average",
        "gpu.power.draw": "power.draw",
        "gpu.power.draw.instant": "power.draw.instant",
        "gpu.power.limit": "power.limit",
        "gpu_uuid": "uuid",
        "gpu_name": "name",
        "gpu_bus_id": "pci.bus_id",
        "gpu_serial": "serial",
    }
)
"""Other names of the same fields."""

IDENTITY = ("uuid", "pci.bus_id", "serial", "index")
"""What tells GPUs apart, the best first; an index can change at each boot."""

SET_ASIDE = re.compile(
    r"^(timestamp|name|count|uuid|serial|index|pstate|pci\..*|driver_.*|vbios_.*|inforom\..*|compute_.*|display_.*|"
    r"persistence_.*|accounting\..*|fan\..*|pcie\..*|memory\..*|ecc\..*|encoder\..*|clocks.*|power\..*|mig\..*|"
    r"module\..*|enforced\..*|utilization\..*|temperature\..*|gom\..*|retired_.*|remapped_.*|fabric\..*|gsp\..*|"
    r"c2c\..*|protected_.*|hostname|addressing_mode|gpu_.*)$"
)
"""Names that are nvidia-smi's own; those without a channel are no surprise."""


def name_of(cell: str) -> tuple[str, str] | None:
    """Return a header cell's field and unit, as today's driver calls it; None where it is no such cell.

    Examples
    --------
    >>> name_of(" clocks.sm [MHz]"), name_of("power_draw_W (x)")
    (('clocks.current.sm', 'MHz'), None)
    """
    found = HEADED.match(cell.strip())
    if found is None:
        return None
    name = found.group(1).lower()
    name = re.sub(r"^clocks_throttle_reasons\.", "clocks_event_reasons.", name)
    return ALIASES.get(name, name), (found.group(2) or "").strip()


def field_of(name: str, unit: str) -> Field | None:
    """Return a field in the unit that the header prints; None where nobody knows that unit."""
    field = FIELDS[name]
    if not unit:
        return field
    printed = in_unit(field.channel, unit)
    if printed is None:
        return None
    return Field(
        printed.channel, printed.multiplier, printed.divisor, is_minor=field.is_minor, unit=printed.unit
    )
