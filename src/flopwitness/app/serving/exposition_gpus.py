"""Metrics of each GPU: who it is, whether it answers, and its channels under their own names."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan

from flopwitness.app.serving.exposition_text import COUNTER, GAUGE, Family, gauge, info, labels
from flopwitness.app.serving.snapshot import DeviceNow
from flopwitness.core.channels import CANONICAL, Channel, Kind
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

PREFIX = "flopwitness_gpu_"
"""A channel's name says its base unit, and ``_total`` on a counter: what Prometheus' conventions ask for."""


def gpu_families(devices: tuple[DeviceNow, ...]) -> Iterator[Family]:
    """Yield the families of GPUs, joined by the label ``UUID``, spelled as dcgm-exporter spells it.

    Channels of a lost GPU are left out: an old value that is repeated would pass for a measurement.
    """
    known = [(labels(UUID=device.uuid), device) for device in devices]
    yield info(
        f"{PREFIX[:-1]}",
        "Who a GPU is.",
        (labels(UUID=each.uuid, chip=each.chip, hostname=each.host) for each in devices),
    )
    yield gauge(
        f"{PREFIX}up",
        "Whether a GPU still answers (1) or is lost (0).",
        ((label, float(not device.is_lost)) for label, device in known),
    )
    yield gauge(
        f"{PREFIX}busy",
        "Whether a workload is open on a GPU (1) or it is idle (0).",
        ((label, float(device.running_since_ns is not None)) for label, device in known),
    )
    yield gauge(
        f"{PREFIX}last_sample_timestamp_seconds",
        "When a GPU was last seen.",
        ((label, device.time_ns / NANOSECONDS_PER_SECOND) for label, device in known),
    )
    answering = [(label, device) for label, device in known if not device.is_lost]
    named, gauges = [label for label, _ in answering], [device.gauges for _, device in answering]
    yield from (_channel(channel, named, gauges) for channel in CANONICAL.values())


def _channel(channel: Channel, named: Sequence[str], gauges: Sequence[Mapping[str, float]]) -> Family:
    kind = COUNTER if channel.kind is Kind.COUNTER else GAUGE
    meaning = f"{channel.meaning[:1].upper()}{channel.meaning[1:]}."
    values = [each.get(channel.name, nan) for each in gauges]
    return Family(f"{PREFIX}{channel.name}".removesuffix("_total"), kind, meaning, named, values)
