"""Jetson boards: ``tegrastats`` for load and clocks, the INA3221 rail monitor for power."""

import re
import socket
from pathlib import Path

from flopwitness.core.device import Device
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, device_of, number
from flopwitness.telemetry.samplers.stream import Reading, StreamSampler

SOURCE = "jetson"
RAILS = Path("/sys/bus/i2c/drivers/ina3221")
MODEL = Path("/proc/device-tree/model")
GPU_RAILS = ("VDD_GPU", "VDD_GPU_SOC", "VDD_CPU_GPU_CV", "VDD_SYS_GPU", "POM_5V_GPU")
"""Rails that feed the GPU, some with CPU or SoC parts, the purest first (NVIDIA, tegrastats reference)."""

MEBIBYTE, MEGAHERTZ, PERCENT, MICRO = 1048576.0, 1e6, 0.01, 1e-6
OFF_CELSIUS = -256.0
"""What ``tegrastats`` prints for a sensor without power."""

LOAD = re.compile(r"\bGR3D_FREQ\s+(?:(\d+)%)?(?:@\[?(\d+))?")
MEMORY_LOAD = re.compile(r"\bEMC_FREQ\s+(?:(\d+)%)?(?:@(\d+))?")
USED = re.compile(r"\bRAM\s+(\d+)/\d+MB")
TEMPERATURE = re.compile(r"\bgpu@(-?[\d.]+)C", re.IGNORECASE)
RAIL = re.compile(r"\b([A-Z][A-Z0-9_]+)\s+(\d+)(?:mW)?/\d+(?:mW)?")


def jetson_sampler(
    *, rails: Path = RAILS, model: Path = MODEL, host: str | None = None, interval_ms: int = 100
) -> StreamSampler:
    """Return a sampler of this board's one GPU.

    Parameters
    ----------
    rails : Path
        Folder of the INA3221 driver; ``tegrastats`` gives the rails where it is missing.
    model : Path
        File with the board's name.
    host : str or None
        Name of this machine, which is the GPU's identity too: a board has no UUID.
    interval_ms : int
        What to ask ``tegrastats`` for, > 0.

    Raises
    ------
    SourceUnavailableError
        When this is no Jetson, or has no ``tegrastats``.
    """
    if not model.is_file():
        raise SourceUnavailableError(SOURCE, "this is no Jetson board")
    name = model.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    if "jetson" not in name.casefold():
        raise SourceUnavailableError(SOURCE, f"this board is a {name}, no Jetson")
    machine = socket.gethostname() if host is None else host
    device = device_of(f"jetson:{machine}", name, host=machine)
    return StreamSampler(
        SOURCE,
        ("tegrastats", "--interval", str(interval_ms)),
        parse=TegraLines(device, rails),
        devices=(device,),
        patience_seconds=max(2.0, 3 * interval_ms / 1000),
    )


class TegraLines:
    """Turn lines of ``tegrastats`` into readings, each with the rail's power at that moment.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> lines = TegraLines(Device("jetson:a"), Path("nowhere"))
    >>> dict(lines("GR3D_FREQ 71%@[900,0] VDD_GPU_SOC 2800mW/2650mW")[0].values)
    {'gpu_util_ratio': 0.71, 'sm_clock_hertz': 900000000.0, 'power_instant_watts': 2.8}
    """

    def __init__(self, device: Device, rails: Path) -> None:
        self._device = device
        self._rail = _gpu_rail(rails)

    def __call__(self, line: str) -> list[Reading]:
        """Return the reading of a line; none where it names nothing that we know."""
        values: dict[str, float] = {}
        for pattern, ratio, clock in (
            (LOAD, "gpu_util_ratio", "sm_clock_hertz"),
            (MEMORY_LOAD, "mem_util_ratio", "mem_clock_hertz"),
        ):
            if found := pattern.search(line):
                values |= _scaled(ratio, found.group(1), PERCENT)
                values |= _scaled(clock, found.group(2), MEGAHERTZ)
        if found := USED.search(line):
            values |= _scaled("memory_used_bytes", found.group(1), MEBIBYTE)
        if found := TEMPERATURE.search(line):
            celsius = float(found.group(1))
            values["temperature_celsius"] = float("nan") if celsius <= OFF_CELSIUS else celsius
        values |= self._power(line)
        return [Reading(self._device, values)] if values else []

    def _power(self, line: str) -> dict[str, float]:
        if self._rail is not None:
            return {"power_instant_watts": _product(*self._rail) * MICRO}
        printed = {name: float(milliwatts) / 1000 for name, milliwatts in RAIL.findall(line)}
        rail = next((name for name in GPU_RAILS if name in printed), None)
        return {} if rail is None else {"power_instant_watts": printed[rail]}


def _scaled(channel: str, text: str | None, factor: float) -> dict[str, float]:
    """Return a value, NaN where its place in the line is empty: a load that is not printed is not 0."""
    return {channel: float("nan") if text is None else float(text) * factor}


def _gpu_rail(rails: Path) -> tuple[Path, Path] | None:
    """Return the files with the millivolts and milliamperes of the GPU's rail, or None."""
    labels = {_text(path).strip(): path for path in sorted(rails.glob("*/hwmon/hwmon*/in*_label"))}
    for name in GPU_RAILS:
        if name in labels:
            place = labels[name]
            channel = place.name.removeprefix("in").removesuffix("_label")
            return place.with_name(f"in{channel}_input"), place.with_name(f"curr{channel}_input")
    return None


def _product(volts: Path, amperes: Path) -> float:
    return number(_text(volts)) * number(_text(amperes))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
