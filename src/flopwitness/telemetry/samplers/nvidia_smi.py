"""The last resort on NVIDIA: ``nvidia-smi --query-gpu`` in a loop. No activities, no energy."""

from collections.abc import Sequence

from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, device_of, number
from flopwitness.telemetry.samplers.stream import Reading, StreamSampler, answer_of

SOURCE = "nvidia-smi"
MEBIBYTE, MEGAHERTZ, PERCENT = 1048576.0, 1e6, 0.01

COLUMNS = {
    "power.draw": ("power_watts", 1.0),
    "power.draw.instant": ("power_instant_watts", 1.0),
    "utilization.gpu": ("gpu_util_ratio", PERCENT),
    "utilization.memory": ("mem_util_ratio", PERCENT),
    "clocks.sm": ("sm_clock_hertz", MEGAHERTZ),
    "clocks.mem": ("mem_clock_hertz", MEGAHERTZ),
    "temperature.gpu": ("temperature_celsius", 1.0),
    "temperature.memory": ("mem_temperature_celsius", 1.0),
    "memory.used": ("memory_used_bytes", MEBIBYTE),
    "clocks_event_reasons.active": ("throttle_reasons_mask", 1.0),
    "clocks_throttle_reasons.active": ("throttle_reasons_mask", 1.0),
}
"""Query fields with ``nounits``: W, percent, MHz, degrees, MiB, a hexadecimal mask."""

NEWER = tuple(name for name in COLUMNS if name != "clocks_throttle_reasons.active")
OLDER = tuple(name for name in COLUMNS if name not in {"power.draw.instant", "clocks_event_reasons.active"})
"""A driver refuses a whole query for one name that it does not know."""

IDENTITY = ("uuid", "name")


def smi_sampler(*, host: str = "", interval_ms: int = 100) -> StreamSampler:
    """Return a sampler of what ``nvidia-smi`` prints every ``interval_ms`` milliseconds.

    Raises
    ------
    SourceUnavailableError
        When there is no ``nvidia-smi``, it fails or it shows no GPU.
    """
    columns, first = _understood()
    lines = SmiLines(columns, host)
    devices = tuple(reading.device for line in first.splitlines() for reading in lines(line))
    if not devices:
        raise SourceUnavailableError(SOURCE, "nvidia-smi shows no GPU")
    return StreamSampler(
        SOURCE,
        (*_query(columns), "-lms", str(interval_ms)),
        parse=lines,
        devices=devices,
        patience_seconds=max(2.0, 3 * interval_ms / 1000),
    )


class SmiLines:
    """Turn lines of a query into readings.

    Parameters
    ----------
    columns : sequence of str
        Query fields behind UUID and name, in order.
    host : str
        Name of this machine.

    Examples
    --------
    >>> lines = SmiLines(("power.draw", "clocks.sm"), "n1")
    >>> dict(lines("GPU-a, NVIDIA H200, [N/A], 345")[0].values)
    {'power_watts': nan, 'sm_clock_hertz': 345000000.0}
    """

    def __init__(self, columns: Sequence[str], host: str) -> None:
        self._columns = tuple(columns)
        self._host = host

    def __call__(self, line: str) -> list[Reading]:
        """Return the reading of a line; none where it is cut, or says that the GPU is lost."""
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(self._columns) + len(IDENTITY) or not cells[0].startswith("GPU-"):
            return []
        uuid, name = cells[:2]
        if all("lost" in cell.casefold() for cell in cells[2:]):
            return []
        device = device_of(uuid, name, host=self._host)
        values = {}
        for column, cell in zip(self._columns, cells[2:], strict=True):
            channel, factor = COLUMNS[column]
            values[channel] = number(cell) * factor
        return [Reading(device, values)]


def _understood() -> tuple[tuple[str, ...], str]:
    """Return the columns that this driver knows, and its first answer."""
    try:
        return NEWER, answer_of(SOURCE, _query(NEWER))
    except SourceUnavailableError as error:
        if "valid field" not in error.reason:
            raise
    return OLDER, answer_of(SOURCE, _query(OLDER))


def _query(columns: Sequence[str]) -> tuple[str, ...]:
    names = ",".join((*IDENTITY, *columns))
    return ("nvidia-smi", f"--query-gpu={names}", "--format=csv,noheader,nounits")
