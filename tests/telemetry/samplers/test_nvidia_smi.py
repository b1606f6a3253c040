"""``nvidia-smi``: the last resort; older drivers refuse newer names."""

from pathlib import Path

import numpy as np
import pytest

from contracts.sampler import SamplerContract
from flopwitness.telemetry.samplers.nvidia_smi import SmiLines, smi_sampler
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.programs import Programs

SMI = r"""
wanted = sys.argv[1].partition("=")[2].split(",")
if "OLD" in state() and "clocks_event_reasons.active" in wanted:
    print('Field "clocks_event_reasons.active" is not a valid field to query.')
    sys.exit(2)
while True:
    for uuid, watts in state().items():
        cells = {"uuid": uuid, "name": "NVIDIA H200", "clocks.sm": "1755", "utilization.gpu": "97",
                 "power.draw": "[N/A]" if watts is None else f"{watts:.2f}",
                 "clocks_event_reasons.active": "0x0000000000000004"}
        if uuid != "OLD":
            print(", ".join(cells.get(name, "[Not Supported]") for name in wanted), flush=True)
    if "-lms" not in sys.argv:
        sys.exit(0)
    time.sleep(0.02)
"""


class SmiRig(Programs):
    """Two GPUs behind a fake ``nvidia-smi``."""

    power_channel = "power_watts"
    uuids = ("GPU-a", "GPU-b")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {"GPU-a": 300.0, "GPU-b": 300.0})
        self.add("nvidia-smi", SMI)
        self.sampler = smi_sampler(host="n1")
        self.sampler._patience_seconds = 0.5


class TestSmi(SamplerContract):
    """``nvidia-smi`` keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> SmiRig:
        """Start a fake ``nvidia-smi``."""
        return SmiRig(folder)


def test_an_older_driver_is_asked_by_older_names(tmp_path: Path):
    """One name that it does not know would cost the whole answer."""
    tools = Programs(tmp_path, {"GPU-a": 300.0, "OLD": 0.0})
    tools.add("nvidia-smi", SMI)

    sampler = smi_sampler()
    (trace,) = sampler.sample()
    sampler.close()
    tools.stop()

    assert "power_instant_watts" not in trace
    assert trace["power_watts"].tolist() == [300.0]


def test_a_program_that_ends_loses_its_devices(tmp_path: Path):
    """The reason is told; nothing is made up."""
    tools = Programs(tmp_path, {"GPU-a": 300.0})
    tools.add("nvidia-smi", SMI.replace("time.sleep(0.02)", "sys.exit(0)"))

    sampler = smi_sampler()
    while sampler.sample():
        pass
    sampler.close()
    tools.stop()

    assert sampler.lost == {"GPU-a": "nvidia-smi ended"}


def test_a_mask_is_hexadecimal_and_blanks_are_nan():
    """The words of nvidia-smi for "no answer" are no zero."""
    lines = SmiLines(("clocks_event_reasons.active", "power.draw", "memory.used"), "")

    (reading,) = lines("GPU-a, NVIDIA H200, 0x0000000000000104, [Unknown Error], 3")

    assert reading.values["throttle_reasons_mask"] == 0x104
    assert np.isnan(reading.values["power_watts"])
    assert reading.values["memory_used_bytes"] == 3 * 2**20


@pytest.mark.parametrize("line", ["GPU-a, NVIDIA H200, [GPU is lost]", "GPU-a, NVIDIA", "", "No devices"])
def test_a_lost_gpu_or_a_cut_line_gives_no_reading(line: str):
    """One lost GPU is absent, not blank."""
    assert SmiLines(("power.draw",), "")(line) == []


def test_no_program_is_an_unavailable_source():
    """Its name is told."""
    with pytest.raises(SourceUnavailableError, match="there is no program nvidia-smi here"):
        smi_sampler()
