"""How schedulers and CUDA name GPUs, resolved to UUIDs. What can mean two is refused."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from flopwitness.core.errors import BadInputError

SOURCE = "CUDA_VISIBLE_DEVICES"
NOTHING = frozenset({"", "NoDevFiles", "void", "none"})
"""What stands there where a job has no GPU: the second by Slurm, the last two by NVIDIA's containers."""

MIG_OF_GPU = re.compile(r"MIG-(GPU-[^/]+)/\d+/\d+")
"""A slice as drivers before R470 named it: its GPU, GPU instance and compute instance."""

GPU_COUNT = re.compile(r"gres/gpu(?::([^=]+))?=(\d+)")
"""GPUs among what Slurm calls trackable resources: in all, or of one type."""


class DeviceOrder(StrEnum):
    """How CUDA numbers GPUs: the values of ``CUDA_DEVICE_ORDER``, and not knowing."""

    FASTEST_FIRST = "FASTEST_FIRST"
    PCI_BUS_ID = "PCI_BUS_ID"
    UNKNOWN = ""


def gpus_allocated(tres: str) -> int:
    """Return how many GPUs an ``AllocTRES`` or ``tres-alloc`` names.

    The plain count is all of them, those by type are a part of it; where there is no plain one, types add up.
    What was asked for (``ReqTRES``, ``--gpus-per-node``) may be another number: it is not looked at.

    Examples
    --------
    >>> gpus_allocated("cpu=8,gres/gpu=4"), gpus_allocated("cpu=8,gres/gpu:h200=2,gres/gpu=2")
    (4, 2)
    """
    found = [match for part in tres.split(",") if (match := GPU_COUNT.fullmatch(part.strip()))]
    plain = [int(match[2]) for match in found if match[1] is None]
    return plain[0] if plain else sum(int(match[2]) for match in found)


def alike_groups(
    order: DeviceOrder, pci_uuids: Sequence[str], speeds: Mapping[str, float]
) -> tuple[tuple[str, ...], ...]:
    """Return GPUs in CUDA's order, those together that nothing tells apart.

    Parameters
    ----------
    order : DeviceOrder
        The job's; by PCI each GPU has its own place, by speed those of one speed share theirs, and where the
        order is unknown all share one.
    pci_uuids : sequence of str
        GPUs of the host by PCI bus address, which is NVML's order too.
    speeds : mapping of str to float
        Peak rate of each; one that is not there makes the order by speed unknown.

    Examples
    --------
    >>> alike_groups(DeviceOrder.FASTEST_FIRST, ("GPU-slow", "GPU-fast"), {"GPU-slow": 1, "GPU-fast": 2})
    (('GPU-fast',), ('GPU-slow',))
    """
    if order is DeviceOrder.PCI_BUS_ID or len(pci_uuids) == 1:
        return tuple((uuid,) for uuid in pci_uuids)
    if order is DeviceOrder.FASTEST_FIRST and all(uuid in speeds for uuid in pci_uuids):
        fastest = sorted({speeds[uuid] for uuid in pci_uuids}, reverse=True)
        return tuple(tuple(uuid for uuid in pci_uuids if speeds[uuid] == speed) for speed in fastest)
    return (tuple(pci_uuids),) if pci_uuids else ()


def visible_uuids(value: str, groups: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return which GPUs a ``CUDA_VISIBLE_DEVICES`` names, sorted.

    It may hold indexes, UUIDs of GPUs (or how one begins) and of MIG slices. A slice in the old form is
    its GPU; one in the new form stays as it is. An index is the GPU in its place; of GPUs that nothing tells
    apart an index means one only where the value names as many of their places as there are.

    Parameters
    ----------
    value : str
        As it stands in the environment.
    groups : sequence of sequences of str
        GPUs in CUDA's order, as ``alike_groups`` gives them.

    Raises
    ------
    BadInputError
        When an entry names no GPU, or could name several.

    Examples
    --------
    >>> visible_uuids("1,MIG-GPU-c/7/0", [("GPU-a",), ("GPU-b",)])
    ('GPU-b', 'GPU-c')
    """
    entries = () if value.strip() in NOTHING else tuple(entry.strip() for entry in value.split(","))
    indexes = {int(entry) for entry in entries if _is_index(entry)}
    named = [_named(entry, groups) for entry in entries if not _is_index(entry)]
    return tuple(sorted({*named, *_at(indexes, groups)}))


def has_index(value: str) -> bool:
    """Say whether a ``CUDA_VISIBLE_DEVICES`` names any GPU by its place.

    Examples
    --------
    >>> has_index("GPU-a,1"), has_index("GPU-a")
    (True, False)
    """
    return any(_is_index(entry.strip()) for entry in value.split(","))


def _is_index(entry: str) -> bool:
    return entry.isascii() and entry.isdigit()


def _named(entry: str, groups: Iterable[Sequence[str]]) -> str:
    if old := MIG_OF_GPU.fullmatch(entry):
        return old[1]
    if re.fullmatch(r"MIG-\S+", entry):
        return entry
    found = [uuid for group in groups for uuid in group if entry and uuid.startswith(entry)]
    if entry in found:
        return entry
    if len(found) == 1:
        return found[0]
    got = f"{entry!r}, which {'several have' if found else 'none has'}"
    raise BadInputError(SOURCE, "", expected="indexes, or how one GPU's UUID begins", got=got)


def _at(indexes: set[int], groups: Sequence[Sequence[str]]) -> list[str]:
    """Return the GPUs at some places; of a group all or none, where it has several."""
    found: list[str] = []
    first, asked = 0, set(indexes)
    for group in groups:
        places = set(range(first, first + len(group)))
        first += len(group)
        if not places & asked:
            continue
        if not places <= asked:
            got = f"{sorted(places & asked)}, any of {', '.join(group)}"
            raise BadInputError(SOURCE, "", expected="indexes that mean one GPU each", got=got)
        asked -= places
        found += group
    if asked:
        raise BadInputError(SOURCE, "", expected=f"indexes of {first} GPUs, from 0 on", got=str(min(asked)))
    return found
