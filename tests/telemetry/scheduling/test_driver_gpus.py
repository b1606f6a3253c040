"""The kernel driver's list: all GPUs by bus address, or none where one cannot be told."""

from pathlib import Path

from flopwitness.telemetry.scheduling.driver_gpus import minor_uuids, pci_uuids

INFORMATION = (
    "Model: \t\t NVIDIA H200\nIRQ:   \t\t 139\nGPU UUID: \t {}\nBus Location: \t {}\nDevice Minor: \t {}\n"
)


def listed(folder: Path, *gpus: tuple[str, str]) -> Path:
    """Return such a folder; minors run against the bus, as on some hosts."""
    for minor, (bus, uuid) in enumerate(gpus):
        (folder / bus).mkdir()
        (folder / bus / "information").write_text(INFORMATION.format(uuid, bus, minor), encoding="utf-8")
    return folder


def test_gpus_come_by_bus_address_not_by_minor(tmp_path: Path):
    """Minor 0 may be any GPU."""
    folder = listed(tmp_path, ("0000:83:00.0", "GPU-b"), ("0000:19:00.0", "GPU-a"))

    assert pci_uuids(folder) == ("GPU-a", "GPU-b")


def test_one_that_was_never_opened_makes_all_unknown(tmp_path: Path):
    """The driver prints question marks for its UUID: those behind it would move up."""
    folder = listed(tmp_path, ("0000:19:00.0", "GPU-????????-????"), ("0000:83:00.0", "GPU-b"))

    assert pci_uuids(folder) == ()


def test_a_machine_without_the_driver_has_none(tmp_path: Path):
    """As where this test runs."""
    assert pci_uuids(tmp_path / "none") == ()


def test_a_minor_is_mapped_to_its_uuid(tmp_path: Path):
    """It is neither the place by bus address nor any other index; a GPU that hides its UUID is left out."""
    folder = listed(
        tmp_path, ("0000:83:00.0", "GPU-b"), ("0000:19:00.0", "GPU-a"), ("0000:99:00.0", "GPU-??")
    )

    assert minor_uuids(folder) == {0: "GPU-b", 1: "GPU-a"}
    assert minor_uuids(tmp_path / "nowhere") == {}
