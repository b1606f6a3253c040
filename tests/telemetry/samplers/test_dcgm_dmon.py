"""``dcgmi dmon``: read by column name, whatever the order; identity by UUID."""

from pathlib import Path

import numpy as np
import pytest

from contracts.sampler import SamplerContract
from flopwitness.core.device import Device
from flopwitness.telemetry.samplers.dcgm_dmon import DmonLines, dmon_sampler
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.programs import Programs

DCGMI = r"""
if sys.argv[1] == "discovery":
    for place, uuid in enumerate(("GPU-a", "GPU-b")):
        print(f"| {place}      | Name: NVIDIA H200                                  |")
        print(f"|        | PCI Bus ID: 00000000:07:00.0                       |")
        print(f"|        | Device UUID: {uuid}                                |")
    sys.exit(0)
while True:
    print("#Entity   SMCLK   POWER   TENSO")
    print("ID                W            ")
    for uuid, watts in reversed(state().items()):
        number = {"GPU-a": 0, "GPU-b": 1}[uuid]
        print(f"GPU {number}     1755    {'N/A' if watts is None else watts}    0.405", flush=True)
    time.sleep(0.02)
"""


class DmonRig(Programs):
    """Two GPUs behind a fake ``dcgmi``."""

    power_channel = "power_watts"
    uuids = ("GPU-a", "GPU-b")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {"GPU-a": 300.0, "GPU-b": 300.0})
        self.add("dcgmi", DCGMI)
        self.sampler = dmon_sampler(host="n1")
        self.sampler._patience_seconds = 0.5


class TestDmon(SamplerContract):
    """``dcgmi dmon`` keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> DmonRig:
        """Start a fake ``dcgmi``."""
        return DmonRig(folder)


def lines_of(*lines: str) -> dict[str, float]:
    """Return the values of the last line, for a GPU 0."""
    parse = DmonLines({0: Device("GPU-a")})
    found = [reading for line in lines for reading in parse(line)]
    return dict(found[-1].values) if found else {}


def test_columns_are_known_by_name_and_converted():
    """Millijoules, percent, MHz and MiB come in base units; what nobody knows is left out."""
    found = lines_of("#Entity   NBWLT  TOTEC  GPUTL  MMCLK  FBUSD", "GPU 0  7  5000  97  3201  2")

    assert found == {
        "energy_joules_total": 5.0,
        "gpu_util_ratio": 0.97,
        "mem_clock_hertz": 3.201e9,
        "memory_used_bytes": 2 * 2**20,
    }


def test_a_header_may_come_again_in_another_order():
    """The last header counts."""
    found = lines_of("#Entity   SMACT   TENSO", "#Entity   TENSO   SMACT", "GPU 0   0.4   0.7")

    assert found == {"tensor_active_ratio": 0.4, "sm_active_ratio": 0.7}


@pytest.mark.parametrize("cell", ["N/A", "9223372036854775794", "140737488355328"])
def test_a_blank_is_nan(cell: str):
    """DCGM has a word and several numbers for "no answer"."""
    found = lines_of("#Entity   POWER   TENSO", f"GPU 0   {cell}   0.4")

    assert np.isnan(found["power_watts"])
    assert found["tensor_active_ratio"] == 0.4


@pytest.mark.parametrize("row", ["GPU 0   300", "GPU 7   300  0.4", "GPU-I 0   300   0.4", "ID   W   ", ""])
def test_a_row_that_is_cut_or_of_a_slice_or_unknown_is_left_out(row: str):
    """A bad row costs itself; a slice is no device."""
    assert lines_of("#Entity   POWER   TENSO", row) == {}


def test_a_row_without_header_is_left_out():
    """Without names nobody knows what the numbers are."""
    assert lines_of("GPU 0   300") == {}


def test_no_host_engine_is_an_unavailable_source(tmp_path: Path):
    """What ``dcgmi`` says when it fails is passed on."""
    tools = Programs(tmp_path, {})
    tools.add("dcgmi", "sys.stderr.write('unable to connect to host engine'); sys.exit(1)")

    with pytest.raises(SourceUnavailableError, match="unable to connect to host engine"):
        dmon_sampler()
    tools.stop()


def test_no_program_is_an_unavailable_source():
    """Its name is told."""
    with pytest.raises(SourceUnavailableError, match="there is no program dcgmi here"):
        dmon_sampler()
