"""One GPU behind NVML: which channels come out, in which units; what is refused or blank."""

from pathlib import Path

import numpy as np
import pytest

from telemetry.samplers.fake_nvml import (
    CYCLE_METRICS,
    INVALID_ARGUMENT,
    NO_PERMISSION,
    NOT_SUPPORTED,
    UNKNOWN,
    FakeGpu,
)
from telemetry.samplers.opened_nvml import START_NS, opened, sampled, values


def test_every_channel_comes_in_base_units(tmp_path: Path):
    """mW, mJ, KiB, MHz, percent and MiB/s are converted; RX comes before TX on NVLink alone."""
    _, second = sampled(opened(tmp_path, FakeGpu("GPU-a")), 2)

    found = values(second)
    assert found["power_watts"] == pytest.approx(300)
    assert found["power_instant_watts"] == pytest.approx(310)
    assert found["energy_joules_total"] == pytest.approx(5_000)
    assert (found["nvlink_tx_bytes_total"], found["nvlink_rx_bytes_total"]) == (2_000 * 1024, 3_000 * 1024)
    assert (found["sm_clock_hertz"], found["mem_clock_hertz"]) == (1.755e9, 3.201e9)
    assert [found[f"{unit}_util_ratio"] for unit in ("gpu", "mem")] == pytest.approx([0.97, 0.41])
    assert (found["temperature_celsius"], found["mem_temperature_celsius"]) == (61, 44)
    assert (found["throttle_reasons_mask"], found["memory_used_bytes"]) == (4, 70_000_000)
    assert found["gr_engine_active_ratio"] == pytest.approx(0.01)
    assert found["tensor_active_ratio"] == pytest.approx(0.05)
    assert found["fp16_active_ratio"] == pytest.approx(0.13)
    rates = [
        found[f"{bus}_{way}_bytes_per_second"] / 2**20 for bus in ("pcie", "nvlink") for way in ("tx", "rx")
    ]
    assert rates == [20, 21, 61, 60]
    assert (found["sm_cycles_total"], found["fp16_active_cycles_total"]) == (248, 260)


def test_the_first_round_has_no_activity_yet(tmp_path: Path):
    """GPM is a mean between two samples; before the second there is none, and NaN is not zero."""
    first, second = sampled(opened(tmp_path, FakeGpu("GPU-a")), 2)

    assert np.isnan(values(first)["tensor_active_ratio"])
    assert values(second)["tensor_active_ratio"] == pytest.approx(0.05)


def test_what_is_never_answered_is_absent_with_its_reason(tmp_path: Path):
    """A signal that the driver does not have is no column of NaN."""
    gpu = FakeGpu("GPU-a", codes=dict.fromkeys(CYCLE_METRICS, INVALID_ARGUMENT) | {138: NOT_SUPPORTED})
    gpu.codes["nvmlDeviceGetMemoryInfo"] = NO_PERMISSION

    sampler = opened(tmp_path, gpu)
    (trace,) = sampled(sampler, 1)[0]

    assert "sm_cycles_total" not in trace
    assert "nvlink_tx_bytes_total" not in trace
    assert sampler.refused["GPU-a"]["memory_used_bytes"] == "no permission"
    assert sampler.refused["GPU-a"]["sm_cycles_total"] == "not known to this driver"
    assert set(trace.channels) == set(sampler.channels["GPU-a"])


def test_a_field_that_fails_now_is_nan_and_comes_back(tmp_path: Path):
    """The value beside a non-zero code is 0 in NVML; it is never read as one."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu)

    gpu.codes[83] = UNKNOWN
    failed = values(sampler.sample())
    del gpu.codes[83]
    answered = values(sampler.sample())
    sampler.close()

    assert np.isnan(failed["energy_joules_total"])
    assert failed["power_watts"] == pytest.approx(300)
    assert answered["energy_joules_total"] == pytest.approx(5_000)


def test_a_field_that_failed_at_the_start_only_is_not_forgotten(tmp_path: Path):
    """An error that may pass is no refusal."""
    gpu = FakeGpu("GPU-a", codes={83: UNKNOWN})
    sampler = opened(tmp_path, gpu)

    del gpu.codes[83]
    found = values(sampler.sample())
    sampler.close()

    assert found["energy_joules_total"] == pytest.approx(5_000)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 150.0])
def test_what_cannot_be_a_share_is_nan_alone(tmp_path: Path, value: float):
    """GPM gives NaN for DRAM now and then; an impossible share is not clamped either."""
    gpu = FakeGpu("GPU-a")
    gpu.metrics[10] = value

    _, second = sampled(opened(tmp_path, gpu), 2)

    assert np.isnan(values(second)["dram_active_ratio"])
    assert values(second)["tensor_active_ratio"] == pytest.approx(0.05)


def test_lost_gpm_samples_are_passed_on_as_they_came(tmp_path: Path):
    """All zero beside a blank DRAM share means nothing; detection decides that, not the sampler."""
    gpu = FakeGpu("GPU-a")
    gpu.metrics.update(dict.fromkeys(range(1, 14), 0.0) | {10: float("nan")})

    _, second = sampled(opened(tmp_path, gpu), 2)

    assert values(second)["tensor_active_ratio"] == 0
    assert np.isnan(values(second)["dram_active_ratio"])


def test_a_failed_gpm_sample_leaves_the_baseline(tmp_path: Path):
    """The next mean covers both stretches: nothing is lost for good."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu)
    sampler.sample()

    gpu.codes["nvmlGpmSampleGet"] = UNKNOWN
    failed = values(sampler.sample())
    del gpu.codes["nvmlGpmSampleGet"]
    answered = values(sampler.sample())
    sampler.close()

    assert np.isnan(failed["tensor_active_ratio"])
    assert failed["power_watts"] == pytest.approx(300)
    assert answered["tensor_active_ratio"] == pytest.approx(0.05)


def test_before_hopper_there_is_no_activity(tmp_path: Path):
    """Without GPM the channels are absent and the source says so."""
    sampler = opened(tmp_path, FakeGpu("GPU-a", gpm=False, name="NVIDIA A100-SXM4-80GB"))
    (trace,) = sampled(sampler, 2)[1]

    assert sampler.source == "nvml"
    assert "tensor_active_ratio" not in trace
    assert "gpu_util_ratio" in trace


def test_power_falls_back_on_the_older_function(tmp_path: Path):
    """Before field 185 there was a function; the first that answers gives the channel."""
    sampler = opened(tmp_path, FakeGpu("GPU-a", codes={185: NOT_SUPPORTED}))

    found = values(sampled(sampler, 1)[0])

    assert found["power_watts"] == pytest.approx(299)
    assert "power_watts" not in sampler.refused["GPU-a"]


def test_a_gpu_that_answers_nothing_is_absent(tmp_path: Path):
    """A sample of blanks alone is no sample."""
    gpu = FakeGpu("GPU-a")
    sampler = opened(tmp_path, gpu)

    functions = ["nvmlDeviceGetFieldValues", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetClockInfo"]
    functions += ["nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksThrottleReasons"]
    gpu.codes.update(dict.fromkeys([*functions, "nvmlDeviceGetMemoryInfo", "nvmlGpmSampleGet"], UNKNOWN))
    found = sampler.sample()
    sampler.close()

    assert found == ()
    assert sampler.lost == {"GPU-a": "no signal was answered"}


def test_time_of_a_gpu_increases_even_if_the_clock_stands(tmp_path: Path):
    """A Trace needs instants that grow; a clock of coarse steps must not break it."""
    rounds = sampled(opened(tmp_path, FakeGpu("GPU-a"), step_ns=0), 3)

    stamps = [int(trace.time_ns[0]) for (trace,) in rounds]
    assert stamps == [START_NS, START_NS + 1, START_NS + 2]
