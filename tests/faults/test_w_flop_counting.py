"""FLOP: which format, which peak, weighted by the clock; utilisation alone is no evidence of work.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityDetector
from flopwitness.detect.coarse import rule_for
from flopwitness.detect.dead import dead_finding
from flopwitness.detect.run import sessions_of
from flopwitness.estimate.features.row import session_features
from flopwitness.estimate.sparse.answering import sparse_estimated
from flopwitness.physics.chips import CHIPS
from flopwitness.physics.formats import Precision
from flopwitness.physics.pipes import peak_flop_per_second

H100 = CHIPS["H100-SXM"]
CYCLE_FLOP = H100.n_sm * 4096
SECONDS = 60


def trace_of(n_samples: int = SECONDS + 1, **channels: object) -> Trace:
    """Return an H100 once a second; single numbers are constant."""
    columns = {name: np.broadcast_to(np.asarray(value, float), n_samples) for name, value in channels.items()}
    return Trace(Device("GPU-a", chip="H100-SXM"), np.arange(n_samples) * 10**9, columns)


def whole(trace: Trace) -> Session:
    """Return the session of all samples."""
    return Session(int(trace.time_ns[0]), int(trace.time_ns[-1]), (trace,))


def test_w3_half_of_the_dense_peak_is_half() -> None:
    """Not a quarter, against the sparse peak: pytorch/torchtitan#668, allenai/OLMo-core#614."""
    dense = peak_flop_per_second(H100, Precision.BF16)

    assert 494.5e12 / dense == pytest.approx(0.50, abs=0.001)
    assert dense == pytest.approx(989.4e12, rel=1e-3)


def test_w4_an_unknown_format_is_an_interval_that_holds_each_of_them() -> None:
    """No map from utilisation to FLOP; FP8 is not told apart: NVIDIA/DCGM#164, issues/251."""
    trace = trace_of(tensor_active_ratio=0.5, fp32_active_ratio=0.0, sm_clock_hertz=1.8e9)

    estimate = sparse_estimated(whole(trace), {}, Target.EXECUTED).estimates["activity-envelope"]

    half = 0.5 * 1.8e9 * CYCLE_FLOP * SECONDS
    assert estimate.contains(half)
    assert estimate.contains(2 * half)
    assert estimate.contains(half / 2)


def test_w5_activity_is_weighted_by_the_clock() -> None:
    """The same share at 1,980 and at 345 MHz: NVIDIA/open-gpu-kernel-modules#1122."""
    work = [
        session_features(whole(trace_of(hmma_active_ratio=0.5, sm_clock_hertz=clock)), {}).values[
            "matrix_flop"
        ]
        for clock in (1.98e9, 0.345e9)
    ]

    assert work[0] / work[1] == pytest.approx(5.74, abs=0.005)


SPINNING = {"gpu_util_ratio": 1.0, "sm_active_ratio": 0.007, "tensor_active_ratio": 0.0, "power_watts": 110.0}


def test_w7_a_thread_that_spins_is_no_work() -> None:
    """One thread on clock64() reads 100 % utilisation: Project-HAMi/HAMi#351."""
    session = whole(trace_of(**SPINNING, fp32_active_ratio=0.0, sm_clock_hertz=1.98e9))

    estimate = sparse_estimated(session, {"GPU-a": 75.0}, Target.EXECUTED).estimates["activity-envelope"]

    assert (estimate.point_flop, estimate.low_flop, estimate.high_flop) == (0.0, 0.0, 0.0)


def test_w7_utilisation_alone_claims_nothing() -> None:
    """A bound whose low end is nothing, and says so."""
    answer = sparse_estimated(whole(trace_of(gpu_util_ratio=1.0)), {}, Target.EXECUTED)

    (estimate,) = answer.estimates.values()
    assert (estimate.method, estimate.point_flop, estimate.low_flop) == ("utilisation-ceiling", 0.0, 0.0)
    assert estimate.high_flop == H100.n_sm * 1.98e9 * 9600 * SECONDS
    assert "bound-only" in {finding.code for finding in answer.findings}


DEAD = {"tensor_active_ratio": 0.0, "sm_active_ratio": 0.0, "gpu_util_ratio": 1.0, "power_watts": 650.0}


def test_e2_dead_profiling_counters_are_a_contradiction_and_power_answers() -> None:
    """After Xid 31 every profiling field reads 0: NVIDIA/DCGM#303, issues/3."""
    trace = trace_of(**DEAD, sm_clock_hertz=1.98e9)

    answer = sparse_estimated(whole(trace), {"GPU-a": 75.0}, Target.EXECUTED)

    finding = dead_finding(trace)
    assert finding is not None
    assert finding.code == "profiling-contradicted"
    assert "activity-envelope" not in answer.estimates
    assert answer.estimates["power-envelope"].low_flop > 1e14
    assert answer.estimates["power-envelope"].high_flop < answer.estimates["power-envelope"].most_flop


def test_e2_a_gpu_with_dead_counters_is_not_found_idle() -> None:
    """Its power says that it works."""
    before = {name: np.where(np.arange(61) < 5, 0.0, value) for name, value in DEAD.items()}
    trace = trace_of(**{**before, "power_watts": np.where(np.arange(61) < 5, 75.0, 650.0)})

    (session,) = sessions_of(ActivityDetector(rule_for([trace])), [trace])

    assert session.duration_seconds >= 55
