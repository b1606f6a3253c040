"""From a recording to sessions with estimates and findings: what every command that answers uses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flopwitness.app.classifying import shipped_classifier
from flopwitness.app.consistency import recording_deviations, session_findings
from flopwitness.app.examples import idle_watts_of, logged_session
from flopwitness.app.fewer_signals import (
    answered_with_clock,
    is_answerable,
    node_idle_watts,
    rule_of,
    with_sparse,
)
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.workclass import ClassOpinion
from flopwitness.core.workload import Run, Target
from flopwitness.detect.activity import DEFAULT_RULE, ActivityDetector
from flopwitness.detect.lost import lost_samples
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stalls import stall_findings
from flopwitness.detect.states import activity_witnesses
from flopwitness.detect.stitch import stitch
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.classify.opinion import opinion_of
from flopwitness.estimate.estimating import Estimated, estimated_all
from flopwitness.estimate.features.row import SessionFeatures, session_features
from flopwitness.estimate.sparse.answering import NOTHING_ASSUMED, Assumptions

UNOBSERVED_NOTE_RATIO = 0.01
"""From this share of unseen time on, a session says how much its bounds were opened."""


@dataclass(frozen=True, slots=True)
class Witnessed:
    """One session and everything that was found out about it.

    Attributes
    ----------
    session : Session
        The stretch and its samples.
    estimates : mapping of Target to mapping of str to Estimate
        By target and method.
    findings : tuple of Finding
        What an auditor should know.
    opinion : ClassOpinion or None
        What kind of work it was; None where nobody asked.
    """

    session: Session
    estimates: Mapping[Target, Mapping[str, Estimate]]
    findings: tuple[Finding, ...]
    opinion: ClassOpinion | None = None


def detected_sessions(recording: Recording, assumed: Assumptions = NOTHING_ASSUMED) -> tuple[Session, ...]:
    """Find the sessions of a recording by activity, the devices of one job together.

    Where activity is not shown, or samples are far apart, by what is there (``detect.coarse``).
    """
    rule = rule_of(recording, assumed)
    pause = rule.quiet_seconds if rule != DEFAULT_RULE else 0.0  # its devices pause one after the other
    found = sessions_of(ActivityDetector(rule), recording.traces)
    return stitch(found, traces=recording.traces, max_pause_seconds=pause)


def logged_sessions(recording: Recording, runs: Iterable[Run]) -> tuple[Session, ...]:
    """Cut the sessions that a log names; runs outside the recording are left out."""
    reach = [trace.time_ns for trace in recording.traces if len(trace)]
    first, last = min(time[0] for time in reach), max(time[-1] for time in reach)
    return tuple(
        logged_session(recording, run) for run in runs if run.start_ns < last and run.stop_ns > first
    )


def witnessed(
    recording: Recording,
    sessions: Sequence[Session],
    calibration: Calibration | None,
    assumed: Assumptions = NOTHING_ASSUMED,
) -> tuple[Witnessed, ...]:
    """Estimate every session for every target of a calibration, and say where its signals disagree.

    Without a calibration, or where its signals are missing, what needs none answers (``estimate.sparse``).
    """
    idle_watts = {**idle_watts_of(recording), **node_idle_watts(recording, assumed)}
    disagreements = recording_deviations(recording, sessions)
    askable = [number for number, session in enumerate(sessions) if is_answerable(session)]
    features = {number: session_features(sessions[number], idle_watts) for number in askable}
    answers = _calibrated(sessions, features, idle_watts, calibration)
    return tuple(
        _witnessed(
            session,
            features.get(number),
            with_sparse(
                session,
                {target: answer.estimates for target, answer in answers[number].items()},
                idle_watts,
                assumed,
                is_calibrated=calibration is not None,
            ),
            (
                *session_findings(session, disagreements),
                *(finding for answer in answers[number].values() for finding in answer.findings),
            ),
        )
        for number, session in enumerate(sessions)
    )


Answers = dict[Target, Estimated]


def _calibrated(
    sessions: Sequence[Session],
    features: Mapping[int, SessionFeatures],
    idle_watts: Mapping[str, float],
    calibration: Calibration | None,
) -> list[Answers]:
    """Return for each session what a calibration says of it, nothing where it cannot be asked."""
    answers: list[Answers] = [{} for _ in sessions]
    if calibration is None:
        return answers
    for target in calibration.fitted:
        told = estimated_all(list(features.values()), calibration, target)
        for number, answer in zip(features, told, strict=True):
            inferred = answered_with_clock(sessions[number], idle_watts, calibration, target)
            answers[number][target] = inferred or answer
    return answers


def _witnessed(
    session: Session,
    features: SessionFeatures | None,
    answer: tuple[Mapping[Target, Mapping[str, Estimate]], tuple[Finding, ...]],
    disagreements: tuple[Finding, ...],
) -> Witnessed:
    estimates, notes = answer
    seen = _observation_findings(session, features) if features is not None else []
    findings = dict.fromkeys((*stall_findings(session), *seen, *disagreements, *notes))
    return Witnessed(session, estimates, tuple(findings), _opinion(session))


def _opinion(session: Session) -> ClassOpinion:
    chips = {trace.device.chip for trace in session.traces}
    return opinion_of(session, shipped_classifier(chips.pop()) if len(chips) == 1 else None)


def _observation_findings(session: Session, features: SessionFeatures) -> list[Finding]:
    findings = [
        Finding(
            "lost-samples",
            f"GPU {trace.device.uuid} gave {n_lost} of {len(trace)} profiling samples as zeros that mean "
            "nothing: counted as unobserved",
            Severity.NOTE,
            trace.device.uuid,
            session.start_ns,
            session.stop_ns,
        )
        for trace in session.traces
        if (n_lost := int(lost_samples(trace).sum()))
    ]
    if not any(activity_witnesses(trace) for trace in session.traces):
        message = "no profiling signal was offered: what is said of FLOP comes from power or time alone"
        findings.append(Finding("profiling-not-offered", message, Severity.NOTE))
    elif features.unobserved_ratio > UNOBSERVED_NOTE_RATIO:
        findings.append(
            Finding(
                "unobserved-time",
                f"{features.unobserved_ratio:.1%} of the device time was unobserved: bounds reach from idle "
                "to the chip's ceiling there",
                Severity.WARNING,
                start_ns=session.start_ns,
                stop_ns=session.stop_ns,
            )
        )
    return findings
