"""dcgm-exporter's HPC map: a folder of files named by GPU index, each with the jobs that hold that GPU now.

A file is named ``<index>`` or ``<index>.<GPU instance>`` and holds one job id a line (dcgm-exporter's
documentation, "How to include HPC jobs in metric labels"). Its index is NVML's, which is PCI order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 65_536
"""A file of job ids is small; of a larger one the rest is not read."""


@dataclass(frozen=True, slots=True)
class Holding:
    """That a job is said to hold the GPU of an index, by a file that was written at some instant."""

    job_id: str
    index: int
    written_ns: int


def holdings(folder: Path) -> tuple[Holding, ...]:
    """Return what the folder says now; a file that goes while it is read says nothing."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return ()
    return tuple(holding for path in paths for holding in _of_file(path))


def uuid_at(index: int, pci_uuids: Sequence[str]) -> str | None:
    """Return the GPU of an index; None where the order of the GPUs is not known that far."""
    return pci_uuids[index] if index < len(pci_uuids) else None


def _of_file(path: Path) -> list[Holding]:
    index = _index(path.name)
    if index is None:
        return []
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode(errors="replace")
            written_ns = path.stat().st_mtime_ns
    except OSError:
        return []
    ids = dict.fromkeys(line.strip() for line in text.splitlines())
    return [Holding(job_id, index, written_ns) for job_id in ids if job_id]


def _index(name: str) -> int | None:
    """Return the GPU's index in a file's name; None of any other file.

    Examples
    --------
    >>> _index("3"), _index("3.1"), _index(".3.tmp"), _index("jobs.jsonl")
    (3, 3, None, None)
    """
    first, dot, instance = name.partition(".")
    is_index = (
        first.isascii() and first.isdigit() and (not dot or (instance.isascii() and instance.isdigit()))
    )
    return int(first) if is_index and len(first) <= 4 else None
