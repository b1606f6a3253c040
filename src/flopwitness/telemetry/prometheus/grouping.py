"""Whose series are whose: by UUID and channel, whatever other labels came and went."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flopwitness.telemetry.prometheus.losses import Losses
from flopwitness.telemetry.prometheus.names import Signal, signal_named
from flopwitness.telemetry.prometheus.series import Series
from flopwitness.telemetry.prometheus.slices import share_of

UUID_LABELS = ("uuid", "gpu_uuid")
CHIP_LABELS = ("modelname", "model_name", "chip")
HOST_LABELS = ("hostname",)
SLICE_LABEL, PROFILE_LABEL = "gpu_i_id", "gpu_i_profile"
"""Labels in lower case; exporters spell them ``UUID`` or ``uuid``, ``Hostname`` or ``hostname``."""

NOT_OF_SLICED = ("gpu_util_ratio", "mem_util_ratio")
"""NVML does not offer utilisation in MIG mode; exporters print 0 or nothing.

github.com/NVIDIA/dcgm-exporter/issues/216 and 561.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Samples of one channel; ``factor`` brings them to base units.

    Attributes
    ----------
    slice_id : str
        Number of the MIG slice that they are of; empty for a whole GPU.
    share : float or None
        What the slice's activity counts for in that of its GPU; None where the samples are of the board.
    """

    series: Series
    factor: float
    slice_id: str = ""
    share: float | None = None


@dataclass(slots=True)
class Found:
    """What the series say of one device.

    Attributes
    ----------
    families : mapping of str to mapping of str to list of Part
        By whose exporter and by channel.
    chips, hosts : list of str
        Product names and machines, in the order of the series; more than one host is a contradiction.
    """

    families: dict[str, dict[str, list[Part]]] = field(default_factory=dict)
    chips: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)


def grouped(series: Iterable[Series], losses: Losses) -> dict[str, Found]:
    """Deal series out to devices by UUID; what is no channel of a GPU is counted and left out."""
    devices: dict[str, Found] = {}
    for each in series:
        labels = {name.casefold(): value for name, value in each.labels.items()}
        signal, uuid = signal_named(each.name), _first(labels, UUID_LABELS)
        if signal is None:
            losses.add("unknown-column", each.name, 1)
            continue
        part = Part(each, signal.factor, labels.get(SLICE_LABEL, ""), _share(signal, labels))
        if why := _unusable(signal, uuid, part):
            losses.add(why, each.name, 1)
            continue
        if signal.is_ambiguous:
            losses.add("unit-ambiguous", each.name, 1)
        found = devices.setdefault(uuid, Found())
        found.families.setdefault(signal.family, {}).setdefault(signal.channel, []).append(part)
        _note_labels(found, each.labels)
    for found in devices.values():
        _drop_utilisation_of_sliced(found, losses)
    return devices


def _note_labels(found: Found, labels: Mapping[str, str]) -> None:
    """Keep what a series says of its GPU; ``Hostname`` and ``hostname`` may both be there and differ."""
    for name, value in labels.items():
        for kept, wanted in ((found.chips, CHIP_LABELS), (found.hosts, HOST_LABELS)):
            if value and name.casefold() in wanted and value not in kept:
                kept.append(value)


def _drop_utilisation_of_sliced(found: Found, losses: Losses) -> None:
    """Leave out utilisation of a GPU in MIG mode: the driver does not offer it, and exporters print 0."""
    for columns in found.families.values():
        if any(part.slice_id for parts in columns.values() for part in parts):
            for channel in NOT_OF_SLICED:
                losses.add("not-applicable", channel, len(columns.pop(channel, ())))


def _share(signal: Signal, labels: Mapping[str, str]) -> float | None:
    """Return what a slice's activity counts for; rates of slices add up as they are."""
    if not labels.get(SLICE_LABEL) or not _is_activity(signal.channel):
        return None
    if signal.channel.endswith("_per_second"):
        return 1.0
    return share_of(labels.get(PROFILE_LABEL, ""), _first(labels, CHIP_LABELS))


def _is_activity(channel: str) -> bool:
    return channel.endswith(("_ratio", "_per_second", "_cycles_total"))


def _unusable(signal: Signal, uuid: str, part: Part) -> str:
    """Return why a part cannot be used; empty where it can."""
    if not uuid:
        return "uuid-missing"
    if not part.slice_id or not _is_activity(signal.channel):
        return ""
    if signal.channel in NOT_OF_SLICED:
        return "not-applicable"
    is_share_known = part.share is not None and not signal.channel.endswith("_total")
    return "" if is_share_known else "slice-activity"


def _first(labels: Mapping[str, str], wanted: Sequence[str]) -> str:
    return next((labels[name] for name in wanted if labels.get(name)), "")
