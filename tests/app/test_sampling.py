"""The best source is taken; what cannot be opened is told with its reason."""

from pathlib import Path

import pytest

from flopwitness.app.sampling import LiveSampler, best_sampler, first_open, openers
from flopwitness.telemetry.samplers.locks import GpuHeldError
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.fake_nvml import FakeGpu, FakeNvml


def absent() -> LiveSampler:
    """Open nothing."""
    raise SourceUnavailableError("good", "it is not here")


def test_the_first_source_that_opens_is_taken(tmp_path: Path):
    """A better source that is not here costs nothing."""
    library = FakeNvml(FakeGpu("GPU-a"))

    sampler = first_open({"good": absent, "next": lambda: NvmlSampler(library, folder=tmp_path)})
    (trace,) = sampler.sample()
    sampler.close()

    assert trace.device.uuid == "GPU-a"


def test_a_gpu_that_is_held_is_not_sampled_by_a_worse_source(tmp_path: Path):
    """Two samplers of one GPU would disturb each other, whatever their source."""
    library = FakeNvml(FakeGpu("GPU-a"))
    holder = NvmlSampler(library, folder=tmp_path)

    with pytest.raises(GpuHeldError):
        first_open({"best": lambda: NvmlSampler(library, folder=tmp_path), "next": absent})
    holder.close()


def test_no_source_at_all_names_every_reason():
    """One line tells what was tried."""
    with pytest.raises(SourceUnavailableError, match=r"good: it is not here.*doctor"):
        first_open({"good": absent})


def test_sources_are_tried_from_the_best_to_the_last_resort():
    """NVML has most signals; nvidia-smi neither activities nor energy."""
    assert tuple(openers()) == ("nvml", "dcgm-exporter", "dcgmi", "nvidia-smi", "jetson")


def test_an_exporter_may_stand_elsewhere(monkeypatch: pytest.MonkeyPatch):
    """Its address comes from an argument, or from the environment."""
    monkeypatch.setenv("FLOPWITNESS_EXPORTER_URL", "http://127.0.0.1:9/environment")

    for sources, place in (
        (openers(), "environment"),
        (openers(exporter_url="http://127.0.0.1:9/told"), "told"),
    ):
        with pytest.raises(SourceUnavailableError, match=place):
            sources["dcgm-exporter"]()


def test_the_best_sampler_of_this_machine_opens_or_says_why():
    """With or without GPUs there is an answer."""
    try:
        sampler = best_sampler(exporter_url="http://127.0.0.1:9/metrics")
    except SourceUnavailableError as error:
        assert "nvml" in str(error)  # noqa: PT017  either outcome is right
    else:
        assert sampler.devices
        sampler.close()
