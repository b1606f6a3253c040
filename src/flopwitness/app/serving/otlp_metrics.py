"""Metrics of a snapshot under OpenTelemetry's names: what they are called, their units, and who has a value.

Where the semantic conventions have a metric for hardware (``hw.*``), it is that one; everything else begins
with ``flopwitness.``. Meaning and base units are those of ``/metrics``. What is not known is not there.

Source: OpenTelemetry semantic conventions for hardware, "Semantic conventions for GPU metrics" and "Common
hardware metrics" (status: development); units as UCUM writes them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan

from flopwitness.app.serving.snapshot import Bounded, DeviceNow, Snapshot
from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.workload import Target

UNITS = {
    "_watts": "W",
    "_joules_total": "J",
    "_ratio": "1",
    "_hertz": "Hz",
    "_celsius": "Cel",
    "_bytes_total": "By",
    "_bytes_per_second": "By/s",
    "_bytes": "By",
    "_cycles_total": "{cycle}",
    "_mask": "1",
}
"""Unit of a channel by how its name ends; the longer ending comes first."""

CONVENTIONAL = {
    "energy_joules_total": "hw.energy",
    "gpu_util_ratio": "hw.gpu.utilization",
    "memory_used_bytes": "hw.gpu.memory.usage",
    "temperature_celsius": "hw.temperature",
}
"""Channels that are metrics of the conventions as they are."""

POWER = ("power_instant_watts", "power_watts")
"""``hw.power`` is the first that answered: a daemon asks for the mean seldom where there is the other."""

Value = tuple[float, Mapping[str, str]]
"""A value and its attributes."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One instrument.

    Attributes
    ----------
    name, unit, meaning : str
        As it is declared.
    is_counter : bool
        Whether it only grows.
    values : callable
        Gives the values of a snapshot; NaN never.
    """

    name: str
    unit: str
    meaning: str
    is_counter: bool
    values: Callable[[Snapshot], Iterable[Value]]


def metrics() -> Iterator[Metric]:
    """Yield every metric that there is."""
    yield from map(_channel_metric, CANONICAL)
    yield Metric("hw.power", "W", "Board power of a GPU.", is_counter=False, values=_power)
    yield Metric("hw.status", "1", "Whether a GPU answers.", is_counter=False, values=_status)
    yield Metric(
        "flopwitness.gpu.busy", "1", "Whether a workload is open on a GPU.", is_counter=False, values=_busy
    )
    yield Metric(
        "flopwitness.flop",
        "{flop}",
        "FLOP of all finished workloads, with bounds.",
        is_counter=True,
        values=lambda snapshot: _bounds(snapshot.totals, {}),
    )
    yield Metric(
        "flopwitness.running.flop",
        "{flop}",
        "FLOP so far of the workload that runs on this GPU first, with bounds.",
        is_counter=False,
        values=_running,
    )
    for name, unit, meaning, count in _COUNTS:
        yield Metric(f"flopwitness.{name}", unit, meaning, is_counter=True, values=partial(_count, count))


_COUNTS: tuple[tuple[str, str, str, Callable[[Snapshot], int]], ...] = (
    ("workloads.finished", "{workload}", "Workloads that have finished.", lambda one: one.n_finished),
    ("samples", "{sample}", "Samples taken, over all GPUs.", lambda one: one.n_samples),
    ("missed_ticks", "{tick}", "Rounds of samples that were missed.", lambda one: one.n_missed),
    (
        "ledger.entries",
        "{entry}",
        "Entries of the ledger.",
        lambda one: one.ledger.n_entries if one.ledger else 0,
    ),
)


def attributes_of(device: DeviceNow) -> dict[str, str]:
    """Return who a GPU is, as the conventions for hardware say it."""
    return {"hw.id": device.uuid, "hw.type": "gpu", "hw.model": device.chip, "host.name": device.host}


def _channel_metric(channel: str) -> Metric:
    suffix = next((end for end in UNITS if channel.endswith(end)), "")
    name = CONVENTIONAL.get(channel, f"flopwitness.gpu.{channel.removesuffix('_total')}")
    found = CANONICAL[channel]
    meaning = f"{found.meaning[:1].upper()}{found.meaning[1:]}."
    values = partial(_channel, channel)
    return Metric(name, UNITS.get(suffix, "1"), meaning, is_counter=found.kind is Kind.COUNTER, values=values)


def _answering(snapshot: Snapshot) -> Iterator[DeviceNow]:
    """Yield GPUs that are not lost: an old value that is repeated would pass for a measurement."""
    return (device for device in snapshot.devices if not device.is_lost)


def _channel(channel: str, snapshot: Snapshot) -> Iterator[Value]:
    for device in _answering(snapshot):
        value = device.gauges.get(channel, float("nan"))
        if not isnan(value):
            yield value, attributes_of(device)


def _power(snapshot: Snapshot) -> Iterator[Value]:
    for device in _answering(snapshot):
        known = (device.gauges.get(name, float("nan")) for name in POWER)
        watts = next((value for value in known if not isnan(value)), None)
        if watts is not None:
            yield watts, attributes_of(device)


def _status(snapshot: Snapshot) -> Iterator[Value]:
    for device in snapshot.devices:
        for state, is_now in (("ok", not device.is_lost), ("failed", device.is_lost)):
            yield float(is_now), attributes_of(device) | {"hw.state": state}


def _busy(snapshot: Snapshot) -> Iterator[Value]:
    for device in snapshot.devices:
        yield float(device.running_since_ns is not None), attributes_of(device)


def _running(snapshot: Snapshot) -> Iterator[Value]:
    for workload in snapshot.running:
        yield from _bounds(workload.flop, {"hw.id": workload.uuids[0]})


def _count(count: Callable[[Snapshot], int], snapshot: Snapshot) -> Iterator[Value]:
    yield float(count(snapshot)), {}


def _bounds(flop: Mapping[Target, Bounded], attributes: Mapping[str, str]) -> Iterator[Value]:
    """Yield three values a target; a high end that is not known is infinite, as on ``/metrics``."""
    for target, one in flop.items():
        ends = {"low": one.low_flop, "point": one.point_flop, "high": one.high_flop}
        for bound, value in ends.items():
            yield value, {**attributes, "target": target.value, "bound": bound}
