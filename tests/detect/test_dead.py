"""Profiling counters that read nothing beside a busy board."""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.finding import Severity
from flopwitness.core.trace import Trace
from flopwitness.detect.dead import dead_finding, dead_samples, without_dead_samples

QUIET = {"tensor_active_ratio": 0.0, "sm_active_ratio": 0.0, "dram_active_ratio": 0.00001}


def trace_of(n_samples: int = 60, **channels: object) -> Trace:
    """Return one sample a second; single numbers are constant."""
    columns = {name: np.broadcast_to(np.asarray(value, float), n_samples) for name, value in channels.items()}
    return Trace(Device("GPU-a", chip="H100-SXM"), np.arange(n_samples) * 10**9, columns)


def test_zeros_beside_650_watts_are_dead_counters() -> None:
    """After Xid 31 every profiling field reads 0 (NVIDIA/DCGM#303)."""
    trace = trace_of(**QUIET, power_watts=650.0, gpu_util_ratio=1.0)

    finding = dead_finding(trace)

    assert dead_samples(trace).all()
    assert finding is not None
    assert (finding.code, finding.severity) == ("profiling-contradicted", Severity.ALARM)
    assert np.isnan(without_dead_samples(trace)["tensor_active_ratio"]).all()
    assert (without_dead_samples(trace)["power_watts"] == 650.0).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"power_watts": 110.0},  # a context that is held
        {"gpu_util_ratio": 0.0},  # power of a mean that trails the end of work
        {"sm_active_ratio": 0.007},  # one thread that spins
    ],
)
def test_what_can_be_true_is_believed(changed: dict[str, float]) -> None:
    """Only what cannot be is called dead."""
    trace = trace_of(**{**QUIET, "power_watts": 650.0, "gpu_util_ratio": 1.0, **changed})

    assert dead_finding(trace) is None
    assert without_dead_samples(trace) is trace


def test_zeros_of_a_second_are_a_lag() -> None:
    """On an H200 activity reads 0 beside 720 W in the first sample of a run."""
    power = np.where(np.arange(60) == 30, 720.0, 80.0)

    assert not dead_samples(trace_of(**QUIET, power_watts=power, gpu_util_ratio=1.0)).any()
