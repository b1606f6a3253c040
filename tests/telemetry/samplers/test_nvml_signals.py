"""How often each NVML signal is asked for: costly ones seldom, and at the edges of work."""

from pathlib import Path

import numpy as np
import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from telemetry.samplers.fake_nvml import NOT_SUPPORTED, FakeGpu
from telemetry.samplers.opened_nvml import opened, values


def test_costly_signals_are_asked_seldom_and_at_the_edges_of_work(tmp_path: Path):
    """Energy costs milliseconds: in between it is NaN, but it stands in the very round that shows an edge."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(slow_seconds=1.0, costly_seconds=5.0))
    gpu.metrics[2] = 0.0

    idle = [values(sampler.sample())["energy_joules_total"] for _ in range(20)]
    gpu.metrics[2] = 90.0
    busy = [values(sampler.sample())["energy_joules_total"] for _ in range(20)]
    sampler.close()

    assert np.flatnonzero(np.isfinite(idle)).tolist() == [0]
    assert np.flatnonzero(np.isfinite(busy)).tolist() == [0]


def test_edges_in_quick_succession_share_a_reading(tmp_path: Path):
    """A device that stops and starts ten times a second must not have its counters read ten times."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(costly_seconds=1000.0, edge_seconds=1.0))

    found = []
    for at in range(40):
        gpu.metrics[2] = 90.0 * (at % 2)
        found.append(values(sampler.sample())["energy_joules_total"])
    sampler.close()

    assert np.flatnonzero(np.isfinite(found)).tolist() == [0, 10, 20, 30]


def test_a_reading_of_the_costly_signals_holds_all_others(tmp_path: Path):
    """There are instants at which everything answered: long workloads are summed from one to the next."""
    gpu = FakeGpu("GPU-a")
    cadence = Cadence(slow_seconds=0.7, costly_seconds=2.0, polled_seconds=0.5)
    sampler = opened(tmp_path, gpu, cadence=cadence)

    found = [values(sampler.sample()) for _ in range(45)]
    sampler.close()

    whole = [at for at, row in enumerate(found) if np.isfinite(list(row.values())).all()]
    assert whole == [20, 40]


def test_the_mean_power_is_slow_where_the_counter_and_the_instant_power_answer(tmp_path: Path):
    """Without them energy is made from it, so it is asked each round; a field costs 0.09 ms."""
    cadence = Cadence(slow_seconds=1000.0, costly_seconds=1000.0)

    known = []
    for codes in ({}, {83: NOT_SUPPORTED}, {186: NOT_SUPPORTED}):
        sampler = opened(tmp_path, FakeGpu("GPU-a", codes=dict(codes)), cadence=cadence)
        known.append([bool(np.isfinite(values(sampler.sample())["power_watts"])) for _ in range(3)])
        sampler.close()

    assert known == [[True, False, False], [True, True, True], [True, True, True]]


@pytest.mark.parametrize("blank", [float("nan"), 300.0])
def test_utilisation_stands_in_where_activity_was_not_answered(tmp_path: Path, blank: float):
    """Detection asks it there alone: polled seldom, it is read in any round with a blank activity."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(1000.0, 1000.0, polled_seconds=1000.0))

    found = []
    for at in range(8):
        gpu.metrics[10] = blank if at in {3, 6} else 1.0
        found.append(values(sampler.sample())["gpu_util_ratio"])
    sampler.close()

    assert np.flatnonzero(np.isfinite(found)).tolist() == [0, 3, 6]


def test_utilisation_is_asked_each_round_where_nothing_else_tells_work_from_rest(tmp_path: Path):
    """Before Hopper there is no activity, and utilisation is the witness."""
    gpu = FakeGpu("GPU-a", gpm=False, name="NVIDIA A100-SXM4-80GB")
    sampler = opened(tmp_path, gpu, cadence=Cadence(1000.0, 1000.0, polled_seconds=1000.0))

    found = [values(sampler.sample())["gpu_util_ratio"] for _ in range(5)]
    sampler.close()

    assert np.isfinite(found).all()


def test_a_round_in_between_asks_for_little(tmp_path: Path):
    """What each call costs is known; a round at 10 Hz may hold no costly one."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(polled_seconds=1.0))
    for _ in range(3):
        sampler.sample()

    gpu.calls.clear()
    sampler.sample()
    sampler.close()

    functions = [call for call in gpu.calls if not call.startswith("metric")]
    assert sorted(functions) == [
        "field 186",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetFieldValues",
        "nvmlGpmMetricsGet",
        "nvmlGpmSampleGet",
    ]
    assert "metric 1" not in gpu.calls


def test_slow_signals_are_asked_each_second(tmp_path: Path):
    """At 10 Hz every tenth round asks for temperatures and counters."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu, cadence=Cadence(slow_seconds=1.0, costly_seconds=1000.0))

    asked = [values(sampler.sample())["temperature_celsius"] for _ in range(25)]
    sampler.close()

    assert np.flatnonzero(np.isfinite(asked)).tolist() == [0, 10, 20]


@pytest.mark.parametrize(
    "wrong", [{"slow_seconds": -1.0}, {"polled_seconds": -1.0}, {"patience_seconds": 0.0}]
)
def test_a_cadence_that_cannot_be_is_refused(wrong: dict[str, float]):
    """Times are not negative, and a round waits for somebody."""
    with pytest.raises(InvalidNounError):
        Cadence(**wrong)
