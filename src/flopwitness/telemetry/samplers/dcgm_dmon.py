"""DCGM through its command line: ``dcgmi dmon``, read by column name."""

import re
from collections.abc import Iterable, Mapping

from flopwitness.core.device import Device
from flopwitness.telemetry.samplers.dcgm_fields import BY_SHORT_NAME, FIELDS
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, device_of, number
from flopwitness.telemetry.samplers.stream import Reading, StreamSampler, answer_of

SOURCE = "dcgmi"
FASTEST_MILLISECONDS = 100
"""DCGM's user guide: profiling fields refresh at most ten times a second."""

ROW = re.compile(r"^\s*GPU\s+(\d+)\s+(.*)$")
DISCOVERED = re.compile(r"\|\s*(\d+)\s*\|\s*Name:\s*(.*?)\s*\|.*?Device UUID:\s*(\S+)", re.DOTALL)


def dmon_sampler(*, host: str = "", interval_ms: int = FASTEST_MILLISECONDS) -> StreamSampler:
    """Return a sampler of what ``dcgmi dmon`` prints.

    Parameters
    ----------
    host : str
        Name of this machine.
    interval_ms : int
        What to ask DCGM for, at least 100.

    Raises
    ------
    SourceUnavailableError
        When there is no ``dcgmi``, no host engine answers it or it knows no GPU.
    """
    devices = _discovered(answer_of(SOURCE, ("dcgmi", "discovery", "-l")), host)
    if not devices:
        raise SourceUnavailableError(SOURCE, "DCGM knows no GPU", remedy="start the host engine as root")
    numbers = ",".join(str(field.number) for field in FIELDS)
    command = ("dcgmi", "dmon", "-e", numbers, "-d", str(max(interval_ms, FASTEST_MILLISECONDS)))
    patience = max(2.0, 3 * interval_ms / 1000)
    return StreamSampler(
        SOURCE,
        command,
        parse=DmonLines(devices),
        devices=tuple(devices.values()),
        patience_seconds=patience,
    )


class DmonLines:
    """Turn lines of ``dcgmi dmon`` into readings.

    Parameters
    ----------
    devices : mapping of int to Device
        By DCGM's own number, which is no identity elsewhere.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> lines = DmonLines({0: Device("GPU-a")})
    >>> _ = lines("#Entity   TENSO   TOTEC"), lines("ID                mJ")
    >>> dict(lines("GPU 0     0.405   7000450")[0].values)
    {'tensor_active_ratio': 0.405, 'energy_joules_total': 7000.45}
    """

    def __init__(self, devices: Mapping[int, Device]) -> None:
        self._devices = devices
        self._columns: tuple[str, ...] = ()

    def __call__(self, line: str) -> list[Reading]:
        """Return the reading of a row; none for a header, a slice, a device nobody knows or a cut row."""
        if line.lstrip().startswith("#"):
            self._columns = tuple(line.split()[1:])
            return []
        row = ROW.match(line)
        cells = row.group(2).split() if row else []
        device = self._devices.get(int(row.group(1))) if row else None
        if device is None or len(cells) != len(self._columns):
            return []
        return [Reading(device, _values(self._columns, cells))]


def _values(columns: Iterable[str], cells: Iterable[str]) -> dict[str, float]:
    return {
        field.channel: number(cell) * field.factor
        for name, cell in zip(columns, cells, strict=True)
        if (field := BY_SHORT_NAME.get(name))
    }


def _discovered(text: str, host: str) -> dict[int, Device]:
    return {int(index): device_of(uuid, name, host=host) for index, name, uuid in DISCOVERED.findall(text)}
