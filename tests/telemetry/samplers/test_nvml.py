"""NVML: who the devices are, who is late or lost, what opening and closing take and give back."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contracts.sampler import SamplerContract
from flopwitness.core.trace import Trace, joined
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.fake_nvml import (
    DRIVER_NOT_LOADED,
    UNKNOWN,
    FakeGpu,
    FakeNvml,
)
from telemetry.samplers.opened_nvml import ALWAYS, opened, sampled


class FakeRig:
    """Two GPUs of a fake library."""

    power_channel = "power_watts"

    def __init__(self, folder: Path) -> None:
        self._gpus = {uuid: FakeGpu(uuid) for uuid in ("GPU-a", "GPU-b")}
        self.uuids = tuple(self._gpus)
        self.sampler = opened(folder, *self._gpus.values())

    def show(self, uuid: str, watts: float | None) -> None:
        """Set field 185, or have it fail."""
        gpu = self._gpus[uuid]
        if watts is None:
            gpu.codes[185] = UNKNOWN
        else:
            gpu.fields[185] = round(watts * 1000)

    def lose(self, uuid: str) -> None:
        """Answer every call with "GPU is lost"."""
        self._gpus[uuid].lost = True

    def stop(self) -> None:
        """Leave nothing behind."""


class TestNvml(SamplerContract):
    """NVML keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> FakeRig:
        """Open a fake library."""
        return FakeRig(folder)


def test_devices_carry_uuid_chip_and_host(tmp_path: Path):
    """Identity is the UUID; a product that nobody knows is unknown, not guessed."""
    sampler = opened(tmp_path, FakeGpu("GPU-a"), FakeGpu("GPU-b", name="Voodoo 2"))
    sampler.close()

    assert [(d.uuid, d.chip, d.host) for d in sampler.devices] == [
        ("GPU-a", "H200-SXM", "n1"),
        ("GPU-b", "unknown", "n1"),
    ]


def test_a_lost_gpu_is_reported_and_comes_back(tmp_path: Path):
    """It stops nobody, its reason is told, and its activity starts anew after the gap."""
    first, second = FakeGpu("GPU-a"), FakeGpu("GPU-b")
    sampler = opened(tmp_path, first, second)
    sampler.sample()

    first.lost = True
    without = [trace.device.uuid for trace in sampler.sample()]
    lost = dict(sampler.lost)
    first.lost = False
    again = {trace.device.uuid: trace for trace in sampler.sample()}
    after = dict(sampler.lost)
    sampler.close()

    assert without == ["GPU-b"]
    assert lost == {"GPU-a": "GPU is lost"}
    assert set(again) == {"GPU-a", "GPU-b"}
    assert np.isnan(again["GPU-a"]["tensor_active_ratio"][0])
    assert after == {}


def test_a_gpu_lost_at_the_start_is_probed_when_it_is_back(tmp_path: Path):
    """It was never asked what it offers: that comes first, over two rounds."""

    class LostLater(FakeNvml):
        """Loses its first GPU as soon as its name is known."""

        def nvmlDeviceGetName(self, handle: FakeGpu) -> str:  # noqa: N802
            """Return the name and lose the GPU."""
            handle.lost = handle.uuid == "GPU-a"
            return handle.name

    gpu = FakeGpu("GPU-a")
    sampler = NvmlSampler(LostLater(gpu, FakeGpu("GPU-b")), cadence=ALWAYS, host="n1", folder=tmp_path)
    lost_at_start = dict(sampler.lost)
    gpu.lost = False
    rounds = [[trace.device.uuid for trace in sampler.sample()] for _ in range(2)]
    sampler.close()

    assert lost_at_start == {"GPU-a": "GPU is lost"}
    assert rounds == [["GPU-b"], ["GPU-a", "GPU-b"]]


def test_a_slow_gpu_is_late_alone_and_its_sample_is_given_later(tmp_path: Path):
    """A round waits so long and no longer; a late sample keeps the instant at which it was taken."""
    slow, quick = FakeGpu("GPU-a"), FakeGpu("GPU-b")
    sampler = opened(tmp_path, slow, quick, cadence=Cadence(0.0, 0.0, patience_seconds=0.05))

    slow.delay_seconds = 0.2
    without = [trace.device.uuid for trace in sampler.sample()]
    reason = sampler.lost["GPU-a"]
    slow.delay_seconds = 0.0
    seen: set[str] = set()
    while "GPU-a" not in seen:
        seen |= {trace.device.uuid for trace in sampler.sample()}
    sampler.close()

    assert without == ["GPU-b"]
    assert reason == "no answer within 0.05 s"


def test_closing_gives_everything_back(tmp_path: Path):
    """Buffers are freed and the library is shut down, once."""
    library = FakeNvml(FakeGpu("GPU-a"), FakeGpu("GPU-b"))
    sampler = NvmlSampler(library, host="n1", folder=tmp_path)

    sampler.close()
    sampler.close()

    assert (library.n_open, library.n_buffers) == (0, 0)


def test_no_driver_is_an_unavailable_source(tmp_path: Path):
    """The reason and its code are told."""
    with pytest.raises(SourceUnavailableError, match=rf"Driver Not Loaded \(code {DRIVER_NOT_LOADED}\)"):
        NvmlSampler(FakeNvml(loaded=False), host="n1", folder=tmp_path)


def test_no_gpu_is_an_unavailable_source(tmp_path: Path):
    """A driver without a GPU gives nothing to sample."""
    with pytest.raises(SourceUnavailableError, match="shows no GPU"):
        NvmlSampler(FakeNvml(), host="n1", folder=tmp_path)


def test_a_gpu_that_never_gave_its_uuid_is_named_by_its_place(tmp_path: Path):
    """One dead GPU at the start hides no other."""
    sampler = opened(tmp_path, FakeGpu("GPU-a", lost=True), FakeGpu("GPU-b"))
    found = [trace.device.uuid for trace in sampled(sampler, 1)[0]]

    assert found == ["GPU-b"]
    assert sampler.lost == {"nvml:0": "GPU is lost"}


def paced(sampler: NvmlSampler, wanted: Callable[[dict[str, Trace]], bool]) -> dict[str, Trace]:
    """Fetch until the last answers are as wanted; return all of them, one Trace a device."""
    pieces: dict[str, list[Trace]] = {}
    for _ in range(500):
        time.sleep(0.01)
        found = {trace.device.uuid: trace for trace in sampler.fetch()}
        for uuid, trace in found.items():
            pieces.setdefault(uuid, []).append(trace)
        if wanted(found):
            return {uuid: joined(parts) for uuid, parts in pieces.items()}
    raise AssertionError("not seen within 5 s")


def test_a_paced_sampler_gives_what_a_round_that_is_asked_for_gives(tmp_path: Path):
    """Many samples a Trace, in order; channels, units and blanks are the same."""
    asked = {t.device.uuid: t for t in sampled(opened(tmp_path, FakeGpu("GPU-a"), FakeGpu("GPU-b")), 3)[2]}
    sampler = opened(tmp_path, FakeGpu("GPU-a"), FakeGpu("GPU-b"))

    sampler.pace(0.005)
    paced(sampler, lambda answer: len(answer) == 2)
    found = paced(sampler, lambda answer: len(answer) == 2)
    sampler.close()

    for uuid, trace in found.items():
        assert trace.device == asked[uuid].device
        assert {name: float(column[-1]) for name, column in trace.channels.items()} == {
            name: float(column[0]) for name, column in asked[uuid].channels.items()
        }


def test_a_paced_sampler_reports_a_lost_gpu_and_takes_it_back(tmp_path: Path):
    """As a round that is asked for does."""
    first, second = FakeGpu("GPU-a"), FakeGpu("GPU-b")
    sampler = opened(tmp_path, first, second)
    sampler.pace(0.005)
    paced(sampler, lambda answer: len(answer) == 2)

    first.lost = True
    paced(sampler, lambda answer: set(answer) == {"GPU-b"})
    lost = dict(sampler.lost)
    first.lost = False
    paced(sampler, lambda answer: len(answer) == 2)
    after = dict(sampler.lost)
    sampler.close()

    assert lost == {"GPU-a": "GPU is lost"}
    assert after == {}


def test_a_paced_sampler_goes_on_without_a_gpu_that_hangs(tmp_path: Path):
    """One thread reads them all, but none waits for ever."""
    slow, quick = FakeGpu("GPU-a"), FakeGpu("GPU-b")
    sampler = opened(tmp_path, slow, quick, cadence=Cadence(0.0, 0.0, patience_seconds=0.05))
    slow.delay_seconds = 0.3
    sampler.pace(0.005)

    paced(sampler, lambda answer: set(answer) == {"GPU-b"} and "GPU-a" in sampler.lost)
    reason = sampler.lost["GPU-a"]
    slow.delay_seconds = 0.0
    paced(sampler, lambda answer: set(answer) == {"GPU-a", "GPU-b"})
    sampler.close()

    assert reason == "no answer within 0.05 s"


def test_a_paced_sampler_gives_everything_back(tmp_path: Path):
    """Nothing is read any more when buffers are freed."""
    library = FakeNvml(FakeGpu("GPU-a"), FakeGpu("GPU-b"))
    sampler = NvmlSampler(library, host="n1", folder=tmp_path)
    sampler.pace(0.005)

    sampler.close()
    sampler.close()

    assert (library.n_open, library.n_buffers) == (0, 0)
