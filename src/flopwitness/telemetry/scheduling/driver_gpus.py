"""The GPUs as NVIDIA's kernel driver lists them under ``/proc``, in PCI order, without opening one."""

from pathlib import Path

DRIVER_FOLDER = Path("/proc/driver/nvidia/gpus")


def pci_uuids(folder: Path = DRIVER_FOLDER) -> tuple[str, ...]:
    """Return the UUIDs of all GPUs by PCI bus address; empty where one of them cannot be told.

    Source: the driver's README, "/proc/driver/nvidia/gpus/domain:bus:device.function/information".
    """
    try:
        found = [_uuid(path / "information") for path in sorted(folder.iterdir())]
    except OSError:
        return ()
    return tuple(found) if all(found) else ()


def minor_uuids(folder: Path = DRIVER_FOLDER) -> dict[int, str]:
    """Return the UUID of each device minor, which need not be the index of NVML or of CUDA.

    A GPU that does not tell both is left out. jobstats numbers GPUs by minor
    (github.com/PrincetonUniversity/jobstats/issues/34).
    """
    try:
        paths = [path / "information" for path in sorted(folder.iterdir())]
        found = [(_said(path, "Device Minor"), _said(path, "GPU UUID")) for path in paths]
    except OSError:
        return {}
    return {int(minor): uuid for minor, uuid in found if uuid and minor.isascii() and minor.isdigit()}


def _uuid(path: Path) -> str:
    return _said(path, "GPU UUID")


def _said(path: Path, wanted: str) -> str:
    """Return what a file says behind a name; empty where it says nothing or question marks."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == wanted and "?" not in value:
            return value.strip()
    return ""
