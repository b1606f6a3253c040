"""From a recording to sessions with estimates and findings: what every command that answers uses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flopwitness.app.classifying import shipped_classifier
from flopwitness.app.consistency import recording_deviations, session_findings
from flopwitness.app.examples import idle_watts_of, logged_session
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.workclass import ClassOpinion
from flopwitness.core.workload import Run, Target
from flopwitness.detect.activity import ActivityDetector
from flopwitness.detect.lost import lost_samples
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stalls import stall_findings
from flopwitness.detect.stitch import stitch
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.classify.opinion import opinion_of
from flopwitness.estimate.estimating import Estimated, estimated_all
from flopwitness.estimate.features.row import SessionFeatures, session_features

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


def detected_sessions(recording: Recording) -> tuple[Session, ...]:
    """Find the sessions of a recording by activity, the devices of one job together."""
    return stitch(sessions_of(ActivityDetector(), recording.traces), traces=recording.traces)


def logged_sessions(recording: Recording, runs: Iterable[Run]) -> tuple[Session, ...]:
    """Cut the sessions that a log names; runs outside the recording are left out."""
    reach = [trace.time_ns for trace in recording.traces if len(trace)]
    first, last = min(time[0] for time in reach), max(time[-1] for time in reach)
    return tuple(
        logged_session(recording, run) for run in runs if run.start_ns < last and run.stop_ns > first
    )


def witnessed(
    recording: Recording, sessions: Sequence[Session], calibration: Calibration
) -> tuple[Witnessed, ...]:
    """Estimate every session for every target of a calibration, and say where its signals disagree."""
    idle_watts = idle_watts_of(recording)
    features = [session_features(session, idle_watts) for session in sessions]
    answers = {target: estimated_all(features, calibration, target) for target in calibration.fitted}
    disagreements = recording_deviations(recording, sessions)
    return tuple(
        _witnessed(
            session,
            one,
            {target: answer[number] for target, answer in answers.items()},
            session_findings(session, disagreements),
        )
        for number, (session, one) in enumerate(zip(sessions, features, strict=True))
    )


def _witnessed(
    session: Session,
    features: SessionFeatures,
    answers: Mapping[Target, Estimated],
    disagreements: tuple[Finding, ...],
) -> Witnessed:
    findings = [*stall_findings(session), *_observation_findings(session, features), *disagreements]
    for answer in answers.values():
        findings += [finding for finding in answer.findings if finding not in findings]
    estimates = {target: answer.estimates for target, answer in answers.items()}
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
    if features.unobserved_ratio > UNOBSERVED_NOTE_RATIO:
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
