"""How often each NVML signal is asked for: costly ones seldom, and at the edges of work."""

from pathlib import Path

import numpy as np
import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from telemetry.samplers.fake_nvml import (
    FakeGpu,
)
from telemetry.samplers.opened_nvml import opened, values


def test_costly_signals_are_asked_seldom_and_at_the_edges_of_work(tmp_path: Path):
    """Energy and the graphics engine cost milliseconds each; in between they are NaN."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(slow_seconds=1.0, costly_seconds=5.0))
    gpu.metrics[2] = 0.0

    idle = [values(sampler.sample())["energy_joules_total"] for _ in range(20)]
    gpu.metrics[2] = 90.0
    busy = [values(sampler.sample())["energy_joules_total"] for _ in range(20)]
    sampler.close()

    assert np.flatnonzero(np.isfinite(idle)).tolist() == [0]
    assert np.flatnonzero(np.isfinite(busy)).tolist() == [1]


def test_slow_signals_are_asked_each_second(tmp_path: Path):
    """At 10 Hz every tenth round asks for temperatures and counters."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(slow_seconds=1.0, costly_seconds=1000.0))

    asked = [values(sampler.sample())["temperature_celsius"] for _ in range(25)]
    sampler.close()

    assert np.flatnonzero(np.isfinite(asked)).tolist() == [0, 10, 20]


@pytest.mark.parametrize(
    "wrong", [{"slow_seconds": -1.0}, {"costly_seconds": -1.0}, {"patience_seconds": 0.0}]
)
def test_a_cadence_that_cannot_be_is_refused(wrong: dict[str, float]):
    """Times are not negative, and a round waits for somebody."""
    with pytest.raises(InvalidNounError):
        Cadence(**wrong)
