"""Recordings that a calibration cannot answer, from the whole recording to what is told."""

import numpy as np
import pytest

from flopwitness.app.fewer_signals import (
    answered_with_clock,
    is_answerable,
    is_bound,
    node_idle_watts,
    rule_of,
    shared_channels,
    shown_method,
    with_sparse,
)
from flopwitness.app.opening import calibration_at_hand
from flopwitness.app.witnessing import detected_sessions, witnessed
from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.detect.activity import DEFAULT_RULE
from flopwitness.estimate.sparse.answering import NOTHING_ASSUMED, Assumptions

N = 400
WORKS = (np.arange(N) >= 60) & (np.arange(N) < 340)


def recording_of(chip: str = "H100-SXM", step: float = 0.3, n_gpus: int = 1, **channels: object) -> Recording:
    """Return boards that are idle, work and are idle again."""
    columns = {name: np.broadcast_to(np.asarray(value, float), N) for name, value in channels.items()}
    times = np.round(np.arange(N) * step * 1e9).astype(np.int64)
    traces = tuple(Trace(Device(f"GPU-{number}", chip=chip), times, columns) for number in range(n_gpus))
    return Recording("made", traces, Provenance("test"))


POWER = np.where(WORKS, 650.0, 75.0)
USED = np.where(WORKS, 1.0, 0.0)
ACTIVE = {
    "tensor_active_ratio": np.where(WORKS, 0.5, 0.0),
    "sm_active_ratio": np.where(WORKS, 0.9, 0.0),
    "dram_active_ratio": np.where(WORKS, 0.4, 0.0),
}


def test_power_and_utilisation_of_a_chip_without_calibration_are_answered() -> None:
    """One workload on eight boards, with bounds, what they assume and what would narrow them."""
    recording = recording_of(n_gpus=8, power_watts=POWER, gpu_util_ratio=USED)

    (session,) = detected_sessions(recording)
    (answer,) = witnessed(recording, [session], calibration_at_hand(["H100-SXM"]))

    assert len(session.traces) == 8
    assert shown_method(answer.estimates[Target.EXECUTED]) == "power-envelope"
    assert {"assumed-efficiency", "bound-only", "would-narrow", "profiling-not-offered"} <= {
        finding.code for finding in answer.findings
    }


def test_a_node_is_found_and_answered_with_the_number_of_its_gpus() -> None:
    """Its idle level and idle power come from its own recording."""
    recording = recording_of(step=2.0, node_power_watts=np.where(WORKS, 7200.0, 2400.0))
    assumed = Assumptions(8)

    (session,) = detected_sessions(recording, assumed)
    (answer,) = witnessed(recording, [session], None, assumed)

    assert session.duration_seconds == pytest.approx(560, abs=6)
    assert node_idle_watts(recording, assumed) == {"GPU-0": 2400.0}
    assert list(answer.estimates[Target.ALGORITHMIC]) == ["node-power-envelope"]
    assert not is_answerable(session)


def test_a_recording_with_everything_is_read_as_ever() -> None:
    """No rule changes, and no further method is asked."""
    recording = recording_of(
        chip="H200-SXM", step=0.1, power_watts=POWER, sm_clock_hertz=1.6e9, gpu_util_ratio=USED, **ACTIVE
    )

    (answer,) = witnessed(recording, detected_sessions(recording), calibration_at_hand(["H200-SXM"]))

    assert rule_of(recording) == DEFAULT_RULE
    assert not {"power-envelope", "utilisation-ceiling"} & set(answer.estimates[Target.EXECUTED])


def test_a_calibrated_chip_without_a_clock_is_answered_over_the_clocks_that_it_can_have_had() -> None:
    """The hull of the answers at both ends of the inferred clock, and a finding."""
    recording = recording_of(chip="H200-SXM", step=0.1, power_watts=POWER, **ACTIVE)
    calibration = calibration_at_hand(["H200-SXM"])
    (session,) = detected_sessions(recording)
    assert calibration is not None

    told = answered_with_clock(session, {"GPU-0": 75.0}, calibration, Target.EXECUTED)

    assert told is not None
    one = told.estimates["pipe-cycles-calibrated"]
    assert one.low_flop < one.point_flop < one.high_flop
    assert told.findings[0].code == "clock-inferred"
    (answer,) = witnessed(recording, [session], calibration)
    assert answer.estimates[Target.EXECUTED]["pipe-cycles-calibrated"] == one


def test_a_chip_that_nobody_knows_is_no_crash() -> None:
    """The processor's own graphics reads 0 W for ever."""
    recording = recording_of(chip="unknown", power_watts=POWER, gpu_util_ratio=USED)

    (answer,) = witnessed(recording, detected_sessions(recording), None)

    assert answer.estimates == {Target.ALGORITHMIC: {}, Target.EXECUTED: {}}
    assert "unknown-chip" in {finding.code for finding in answer.findings}


def test_utilisation_alone_is_called_a_bound() -> None:
    """No point is shown of it."""
    recording = recording_of(gpu_util_ratio=USED)
    (answer,) = witnessed(recording, detected_sessions(recording), None)

    shown = shown_method(answer.estimates[Target.EXECUTED])

    assert is_bound(shown)
    assert shown_method({}) == ""


def test_a_channel_counts_as_shared_where_every_board_answered_it() -> None:
    """Blank columns are no signal."""
    full, blank = (
        Trace(Device(name), [0, 1], {"power_watts": [value] * 2, "gpu_util_ratio": [0.0] * 2})
        for name, value in (("a", 1.0), ("b", float("nan")))
    )

    assert shared_channels((full, blank)) == {"gpu_util_ratio"}


def test_power_that_a_second_load_fills_up_is_flagged() -> None:
    """Flat, full and below the limit."""
    recording = recording_of(power_watts=np.linspace(390, 400, N), gpu_util_ratio=1.0)
    session = Session(0, int(recording.traces[0].time_ns[-1]), recording.traces)

    _, findings = with_sparse(session, {}, {}, NOTHING_ASSUMED, is_calibrated=False)

    assert "flat-power" in {finding.code for finding in findings}
