"""What jobs took: own GPUs, own window, each reading once; a job that did nothing is listed all the same."""

import math

import numpy as np
import pytest

from contracts.detector import LOOKS, START_NS, lasting, trace_of
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.scheduler_totals import job_uses
from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.telemetry.scheduling.windows import JobWindow

SECOND = 10**9
CALIBRATION = shipped_calibration(["H200-SXM"])
PROVENANCE = Provenance("made")


def gpu(letter: str) -> Device:
    """Return a GPU."""
    return Device(f"GPU-{letter}", chip="H200-SXM")


def metered(device: Device, joules: float, *, seconds: int = 100) -> Trace:
    """Return an idle GPU whose counter moved by so much, evenly."""
    time_ns = np.arange(seconds + 1) * SECOND
    counter = 500 + joules * np.arange(seconds + 1) / seconds
    return Trace(device, time_ns, {"energy_joules_total": counter, "gpu_util_ratio": np.zeros(seconds + 1)})


def drawing(device: Device, watts: float, *, seconds: int) -> Trace:
    """Return an idle GPU that draws so much, sampled once a second."""
    n_samples = seconds + 1
    channels = {"power_watts": np.full(n_samples, watts), "gpu_util_ratio": np.zeros(n_samples)}
    return Trace(device, np.arange(n_samples) * SECOND, channels)


def recording_of(*traces: Trace) -> Recording:
    """Return a recording of these."""
    return Recording("made", traces, PROVENANCE)


def test_a_job_that_held_a_gpu_and_did_nothing_is_listed():
    """An hour at 80 W, no process: 288,000 J and 0 FLOP."""
    recording = recording_of(drawing(gpu("a"), 80.0, seconds=3600))

    (use,) = job_uses(recording, [JobWindow("17", ("GPU-a",), 0, 3600 * SECOND)], CALIBRATION)

    assert use.energy_joules == pytest.approx(288_000)
    assert use.flop[Target.ALGORITHMIC] == (0.0, 0.0, 0.0)
    assert (use.n_sessions, use.unobserved_ratio) == (0, pytest.approx(0.0, abs=1e-9))


def test_only_the_gpus_that_a_job_holds_are_its_own():
    """Eight GPUs of 100 J each, the job holds one and has eight ranks: 100 J."""
    recording = recording_of(*(metered(gpu(letter), 100.0) for letter in "abcdefgh"))
    ranks = [JobWindow("17", ("GPU-c",), 0, 100 * SECOND)]

    (use,) = job_uses(recording, ranks, CALIBRATION)

    assert use.energy_joules == pytest.approx(100.0)
    assert use.uuids == ("GPU-c",)


def test_two_jobs_on_one_gpu_share_it_by_time():
    """What was measured outside a window is not the job's."""
    recording = recording_of(metered(gpu("a"), 100.0))
    windows = [JobWindow("1", ("GPU-a",), 0, 30 * SECOND), JobWindow("2", ("GPU-a",), 30 * SECOND)]

    first, second = job_uses(recording, windows, CALIBRATION)

    assert (first.energy_joules, second.energy_joules) == (pytest.approx(30), pytest.approx(70))
    assert second.stop_ns == 100 * SECOND


def test_a_gpu_that_nobody_watched_is_unknown_not_zero():
    """Half the GPU time of the job was seen; of a job that was never seen nothing is known."""
    recording = recording_of(metered(gpu("a"), 100.0))
    windows = [
        JobWindow("half", ("GPU-a", "GPU-x"), 0, 100 * SECOND),
        JobWindow("none", ("GPU-x",), 0, 100 * SECOND),
    ]

    half, none = job_uses(recording, windows, CALIBRATION)

    assert (half.energy_joules, half.unobserved_ratio) == (pytest.approx(100), pytest.approx(0.5))
    assert half.flop[Target.EXECUTED] == (0.0, 0.0, math.inf)
    assert math.isnan(none.energy_joules)
    assert (none.unobserved_ratio, none.flop) == (1.0, {})


def test_a_job_outside_the_recording_is_not_listed():
    """It is not said to have done nothing."""
    recording = recording_of(metered(gpu("a"), 100.0))
    windows = [JobWindow("later", ("GPU-a",), 200 * SECOND), JobWindow("empty", ("GPU-a",), 5, 5)]

    assert job_uses(recording, windows, CALIBRATION) == ()


def test_a_job_that_works_has_the_flop_of_its_workloads():
    """Those inside its window; the job after it on the same GPU idles."""
    looks = [*lasting("idle", 20), *lasting("working", 60), *lasting("idle", 40)]
    trace = trace_of(looks, gpu("a"))
    clock = np.where(trace["power_instant_watts"] > LOOKS["idle"][-1], 1.7e9, 3.45e8)
    recording = recording_of(Trace(trace.device, trace.time_ns, {**trace.channels, "sm_clock_hertz": clock}))
    middle = START_NS + 90 * SECOND
    windows = [JobWindow("1", ("GPU-a",), START_NS, middle), JobWindow("2", ("GPU-a",), middle)]

    working, idle = job_uses(recording, windows, CALIBRATION)

    assert (working.n_sessions, idle.n_sessions) == (1, 0)
    found = working.flop[Target.EXECUTED]
    assert 0 <= found.low <= found.point <= found.high
    assert found.point > 1e15
    assert idle.flop[Target.EXECUTED].high == 0.0
