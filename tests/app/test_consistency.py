"""Findings of signals that disagree reach the sessions that they speak of, live as from the file."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from app.live import FakeClock
from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.consistency import (
    MAX_KEPT,
    RELIANCE_CODE,
    ConsistencyWatch,
    open_consistency,
    recording_deviations,
    session_findings,
    shipped_consistency,
    write_consistency,
)
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import open_recording, shipped_calibration
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.ticking import batched
from flopwitness.app.witnessing import detected_sessions, witnessed
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Severity
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityWatch
from flopwitness.verify.consistency.fitting import fitted_state

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
CALIBRATION = shipped_calibration(["H200-SXM"])


@cache
def clean() -> Recording:
    """Return the shortest of the bundled recordings of two devices."""
    return open_recording(DATASETS / "h200x2-b")


@cache
def altered() -> Recording:
    """Return it with a summary that its parts contradict in the second minute."""
    later = clean().traces[0].time_ns[0] + 60 * 10**9

    def change(trace: Trace) -> Trace:
        hit = (trace.time_ns > later) & (trace.time_ns < later + 60 * 10**9)
        lowered = np.where(hit, 0.5 * trace["tensor_active_ratio"], trace["tensor_active_ratio"])
        return Trace(trace.device, trace.time_ns, {**trace.channels, "tensor_active_ratio": lowered})

    return replace(clean(), traces=tuple(change(trace) for trace in clean().traces))


def told_live(recording: Recording) -> list[Finished]:
    """Return what the daemon tells of a recording."""
    told: list[Finished] = []
    daemon = Daemon(
        WorkloadFinder(ActivityWatch),
        lambda _: CALIBRATION,
        outputs=Outputs(lambda _: False, lambda _: None, told.append),
        baselines=IdleBaselines(),
    )
    daemon.run(batched(replayed(ReplaySampler(recording), FakeClock(), speed=0)))
    return told


def test_a_clean_recording_has_nothing_to_tell():
    """Neither from the file nor live."""
    sessions = detected_sessions(clean())

    assert recording_deviations(clean(), sessions) == ()
    assert {f.code for one in told_live(clean()) for f in one.witnessed.findings} & {RELIANCE_CODE} == set()


def test_an_alarm_says_that_numbers_are_not_to_be_relied_on_and_changes_none():
    """Only sessions that it touches are told so."""
    sessions = detected_sessions(altered())
    answers = witnessed(altered(), sessions, CALIBRATION)
    alarmed = [one for one in answers if RELIANCE_CODE in {finding.code for finding in one.findings}]
    quiet = session_findings(sessions[0], ())

    assert 0 < len(alarmed) < len(answers)
    assert quiet == ()
    for one in alarmed:
        (said,) = [finding for finding in one.findings if finding.code == RELIANCE_CODE]
        assert said.severity is Severity.ALARM
        assert "activity-against-activity" in said.message
        assert "not to be relied on" in said.message
        assert all(by_name for by_name in one.estimates.values())


def test_the_daemon_tells_what_the_file_tells():
    """Its windows lie elsewhere: a neighbour may be told too, and nobody is left out."""
    answers = witnessed(altered(), detected_sessions(altered()), CALIBRATION)
    expected = {one.session.session_id for one in answers if RELIANCE_CODE in {f.code for f in one.findings}}
    live = {
        one.witnessed.session.session_id
        for one in told_live(altered())
        if RELIANCE_CODE in {finding.code for finding in one.witnessed.findings}
    }

    assert expected <= live
    assert len(live) < len(answers)


def test_memory_is_bounded():
    """Windows are forgotten, and so are the oldest disagreements."""
    watch, most = ConsistencyWatch(), 0
    for number in range(12):
        shift = number * (int(altered().traces[0].time_ns[-1]) - int(altered().traces[0].time_ns[0]) + 10**8)
        for start in range(0, len(altered().traces[0]), 100):
            watch.observe(
                Trace(part.device, part.time_ns + shift, part.channels)
                for trace in altered().traces
                if len(part := trace.between(start, min(start + 100, len(trace))))
            )
            most = max(most, watch.n_kept)

    assert most < 2 * 10 * (90 + 60 + 20) + 2 * 20 * MAX_KEPT


@pytest.mark.parametrize("every", [5, 10])
def test_slow_samples_are_not_judged(every: int):
    """Limits were measured at ten a second."""
    slow = replace(
        altered(),
        traces=tuple(
            Trace(
                t.device, t.time_ns[::every], {name: column[::every] for name, column in t.channels.items()}
            )
            for t in altered().traces
        ),
    )

    assert recording_deviations(slow, detected_sessions(slow)) == ()


def test_other_chips_are_not_judged():
    """No constants are shipped for them."""
    assert shipped_consistency("H100-SXM") is None


def test_constants_come_back_as_they_were_written(tmp_path: Path):
    """Bit for bit; anything else is refused by name."""
    state = shipped_consistency("H200-SXM")
    assert state is not None
    write_consistency(tmp_path / "one.json", state)

    assert open_consistency(tmp_path / "one.json").to_plain() == state.to_plain()
    (tmp_path / "two.json").write_text('{"format": "flopwitness-consistency", "version": 1}')
    with pytest.raises(BadInputError, match="field 'state'"):
        open_consistency(tmp_path / "two.json")


def test_the_shipped_constants_are_those_of_the_clean_recordings():
    """Whoever fits them again gets the same; ground truth never enters."""
    parts = ("a", "b", "c1", "c2", "c3", "d1", "d2")
    again = fitted_state([open_recording(DATASETS / f"h200x2-{part}") for part in parts])
    shipped = shipped_consistency("H200-SXM")

    assert shipped is not None
    assert shipped.load_limits.power == pytest.approx(again.load_limits.power, rel=1e-6)
    assert shipped.load_limits.matrix == pytest.approx(again.load_limits.matrix, rel=1e-6)
    assert shipped.lag_limits.reach_seconds == pytest.approx(again.lag_limits.reach_seconds, rel=1e-6)
    assert shipped.power.weights == pytest.approx(again.power.weights, rel=1e-6)


@pytest.mark.parametrize("name", ["h200x1-h2", "h200x2-i"])
def test_other_work_raises_no_alarm(name: str) -> None:
    """Sorting, solving, serving: what no limit was learned from is not taken for tampering."""
    recording = open_recording(DATASETS / name)

    sessions = detected_sessions(recording)

    disagreements = recording_deviations(recording, sessions)
    found = [finding for session in sessions for finding in session_findings(session, disagreements)]
    assert not [finding for finding in found if finding.severity is Severity.ALARM]
