"""Jetson: ``tegrastats`` and the rails of the INA3221."""

from pathlib import Path

import numpy as np
import pytest

from contracts.sampler import SamplerContract
from flopwitness.core.device import Device
from flopwitness.telemetry.samplers.jetson import TegraLines, jetson_sampler
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.programs import Programs

TEGRASTATS = r"""
while True:
    for uuid, watts in state().items():
        print("RAM 9000/60000MB GR3D_FREQ 71%@[1755,0] gpu@45.5C", flush=True)
    time.sleep(0.02)
"""
NOWHERE = Path("nowhere")


def rails(folder: Path, milliwatts: float | None) -> Path:
    """Write the files of a rail monitor: 5 V on the GPU's rail."""
    place = folder / "1-0040" / "hwmon" / "hwmon3"
    place.mkdir(parents=True, exist_ok=True)
    for number, label in ((1, "VDD_IN"), (2, "VDD_CPU_GPU_CV")):
        (place / f"in{number}_label").write_text(f"{label}\n")
        (place / f"in{number}_input").write_text("5000\n")
        (place / f"curr{number}_input").write_text("" if milliwatts is None else f"{milliwatts / 5}\n")
    return folder


class JetsonRig(Programs):
    """One board with its rail monitor."""

    power_channel = "power_instant_watts"
    uuids = ("jetson:orin",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {"jetson:orin": 300.0})
        self._folder = folder
        self.add("tegrastats", TEGRASTATS)
        model = folder / "model"
        model.write_text("NVIDIA Jetson Orin Nano Developer Kit\0")
        self.sampler = jetson_sampler(rails=rails(folder, 300_000.0), model=model, host="orin")
        self.sampler._patience_seconds = 0.5

    def show(self, uuid: str, watts: float | None) -> None:  # noqa: ARG002  one board
        """Write another current, or an empty file."""
        rails(self._folder, None if watts is None else watts * 1000)


class TestJetson(SamplerContract):
    """A board keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> JetsonRig:
        """Start a fake ``tegrastats``."""
        return JetsonRig(folder)


@pytest.mark.parametrize(
    ("line", "channel", "value"),
    [
        ("GR3D_FREQ 71%", "gpu_util_ratio", 0.71),
        ("GR3D_FREQ 71%@900", "sm_clock_hertz", 9e8),
        ("GR3D_FREQ @[494,494,494]", "sm_clock_hertz", 4.94e8),
        ("GR3D_FREQ @[494,494,494]", "gpu_util_ratio", np.nan),
        ("EMC_FREQ 20%@2133", "mem_util_ratio", 0.2),
        ("EMC_FREQ 20%@2133", "mem_clock_hertz", 2.133e9),
        ("RAM 9000/60000MB (lfb 3x4MB)", "memory_used_bytes", 9000 * 2**20),
        ("GPU@-256C", "temperature_celsius", np.nan),
        ("VDD_GPU_SOC 2800mW/2650mW VIN_SYS_5V0 3300mW/3290mW", "power_instant_watts", 2.8),
        ("POM_5V_IN 4000/3100 POM_5V_GPU 1200/800", "power_instant_watts", 1.2),
        ("VDD_SYS_GPU 182/182", "power_instant_watts", 0.182),
    ],
)
def test_every_form_of_a_line_is_read(line: str, channel: str, value: float):
    """Releases print loads, clocks and rails in several forms; a load that is missing is not 0."""
    (reading,) = TegraLines(Device("jetson:a"), NOWHERE)(line)

    np.testing.assert_allclose(reading.values[channel], value)


def test_a_line_that_says_nothing_gives_no_reading():
    """A line without a field that we know is no sample."""
    assert TegraLines(Device("jetson:a"), NOWHERE)("SWAP 0/30000MB") == []


def test_the_chip_is_known_by_the_board(tmp_path: Path):
    """The device tree names the board, the table its chip."""
    rig = JetsonRig(tmp_path)
    (device,) = rig.sampler.devices
    rig.sampler.close()
    rig.stop()

    assert device == Device("jetson:orin", chip="Jetson-Orin-Nano", host="orin")


def test_another_board_is_an_unavailable_source(tmp_path: Path):
    """A device tree alone makes no Jetson."""
    (tmp_path / "model").write_text("Raspberry Pi 5")

    with pytest.raises(SourceUnavailableError, match="no Jetson"):
        jetson_sampler(model=tmp_path / "model")
    with pytest.raises(SourceUnavailableError, match="no Jetson"):
        jetson_sampler(model=NOWHERE)
