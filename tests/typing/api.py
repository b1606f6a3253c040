"""The public names as a user with a strict type checker meets them. Checked by mypy, never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from flopwitness import (
    Dataset,
    Device,
    Estimate,
    Finding,
    FlopWitnessError,
    Outcome,
    Recording,
    Session,
    Standing,
    Target,
    Trace,
    Verdict,
)


def a_trace_is_read_by_channel_and_cut_by_time() -> Trace:
    """Give lists or arrays; get float64 columns back."""
    device = Device("GPU-aaaa", chip="H200-SXM")
    trace = Trace(device, [0, 10**9], {"power_watts": np.array([80.0, 90.0])})
    assert_type(trace["power_watts"], NDArray[np.float64])
    assert_type(trace.time_ns, NDArray[np.int64])
    assert_type(trace.device.uuid, str)
    assert_type("power_watts" in trace, bool)
    assert_type(trace.digest(), str)
    return trace.within(0, 10**9)


def a_session_names_its_stretch_and_devices(trace: Trace) -> float:
    """Instants are integers, durations are seconds."""
    session = Session(0, 10**9, (trace,), name="run")
    assert_type(session.start_ns, int)
    assert_type(session.session_id, str)
    assert_type([piece.device for piece in session.traces], list[Device])
    return session.duration_seconds


def a_dataset_keeps_truth_apart_from_samples(dataset: Dataset) -> list[float | None]:
    """Ask for a truth that may be unknown: the checker makes the caller say so."""
    recording = dataset.recording
    assert_type(recording, Recording)
    assert_type(recording.findings, tuple[Finding, ...])
    assert_type(dataset.session(dataset.runs[0]), Session)
    return [run.truth.flop(Target.EXECUTED) for run in dataset.runs]


def an_estimate_has_bounds_and_a_target() -> tuple[float, float]:
    """Give bounds with every point: one without cannot be made."""
    estimate = Estimate(
        1.0e15, 0.9e15, 1.1e15, coverage_ratio=0.9, method="pipe-cycles", target=Target.EXECUTED
    )
    assert_type(estimate.contains(1.0e15), bool)
    assert_type(estimate.width_ratio, float)
    assert_type(estimate.target, Target)
    return estimate.low_flop, estimate.high_flop


def a_verdict_has_an_answer_and_reasons(verdict: Verdict) -> str:
    """Ignorance is an answer, and a match over answers is complete."""
    assert_type(verdict.reasons, tuple[str, ...])
    match verdict.answer:
        case Outcome.CONSISTENT | Standing.BELOW:
            return "0"
        case Outcome.INCONSISTENT | Standing.ABOVE:
            return "1"
        case Outcome.INCONCLUSIVE | Standing.UNDETERMINED:
            return "3"


def one_error_class_catches_every_misuse(trace: Trace) -> int:
    """Whatever a user can cause is a FlopWitnessError."""
    try:
        return Session(1, 0, (trace,)).n_samples
    except FlopWitnessError as error:
        return len(str(error))
