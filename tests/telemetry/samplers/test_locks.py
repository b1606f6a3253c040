"""One sampler a GPU: the lock holds against others, and dies with its holder."""

import multiprocessing
import os
from pathlib import Path

import pytest

from flopwitness.telemetry.samplers.locks import GpuHeldError
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from telemetry.samplers.fake_nvml import (
    FakeGpu,
    FakeNvml,
)
from telemetry.samplers.opened_nvml import opened


def test_two_samplers_of_one_gpu_never_run_at_once(tmp_path: Path):
    """The second is refused and told who holds the GPU; after the first closed it is free."""
    first = opened(tmp_path, FakeGpu("GPU-a"))
    with pytest.raises(GpuHeldError, match=f"GPU-a is sampled by process {os.getpid()}"):
        opened(tmp_path, FakeGpu("GPU-b"), FakeGpu("GPU-a"))
    opened(tmp_path, FakeGpu("GPU-b")).close()

    first.close()

    opened(tmp_path, FakeGpu("GPU-a")).close()


def _hold_and_die(folder: Path) -> None:
    opened(folder, FakeGpu("GPU-a"))
    os._exit(9)


def test_a_sampler_that_died_holds_nothing(tmp_path: Path):
    """The kernel lets go of the lock of a process that was killed."""
    process = multiprocessing.get_context("spawn").Process(target=_hold_and_die, args=(tmp_path,))
    process.start()
    process.join()

    opened(tmp_path, FakeGpu("GPU-a")).close()

    assert process.exitcode == 9


def test_a_failed_start_gives_everything_back(tmp_path: Path):
    """A refused lock leaves no library open."""
    holder = opened(tmp_path, FakeGpu("GPU-a"))
    library = FakeNvml(FakeGpu("GPU-a"))

    with pytest.raises(GpuHeldError):
        NvmlSampler(library, host="n1", folder=tmp_path)
    holder.close()

    assert (library.n_open, library.n_buffers) == (0, 0)
