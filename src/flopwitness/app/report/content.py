"""What a report is made of: results as they came, nothing computed for the page alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.workclass import ClassOpinion
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Placed
from flopwitness.estimate.calibration import Calibration
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.protocols import Protocol

Evaluations = Mapping[tuple[Protocol, Target], Evaluation]
"""Evaluations by how the splits were made and which FLOP they count."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """One session with what was said of it.

    Attributes
    ----------
    session : Session
        The stretch and its samples.
    estimates : mapping of Target to mapping of str to Estimate
        By target and name of the method; methods that gave no answer are absent keys.
    truth_flop : mapping of Target to float, or None
        What was counted inside the program; None, or an absent key, where it is not known.
    findings : tuple of Finding
        What lowers the trust in this session.
    job : Placed or None
        The job that it was placed in; None where nobody looked.
    opinion : ClassOpinion or None
        What kind of work it was; None where nobody asked.
    """

    session: Session
    estimates: Mapping[Target, Mapping[str, Estimate]] = field(default_factory=dict)
    truth_flop: Mapping[Target, float | None] | None = None
    findings: tuple[Finding, ...] = ()
    job: Placed | None = None
    opinion: ClassOpinion | None = None

    def truth(self, target: Target) -> float | None:
        """Return the true count for one target, or None where it is not known."""
        return None if self.truth_flop is None else self.truth_flop.get(target)


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything that one report shows.

    Attributes
    ----------
    title : str
        Heading of the page.
    generated_from : mapping of str to str
        Name of each dataset and the SHA-256 of its samples.
    evaluations : mapping of (Protocol, Target) to Evaluation
        May be empty.
    calibration : Calibration or None
        The fitted state that made the estimates of the sessions.
    recordings : tuple of Recording
        Captures to draw as time lines; no name twice.
    sessions : mapping of str to tuple of SessionResult
        By name of their recording; a recording without a key was not searched.
    findings : tuple of Finding
        What concerns the whole; findings of recordings and sessions are shown with these.

    Raises
    ------
    InvalidNounError
        When an evaluation stands under a key that is not its own, two recordings share a name, or
        sessions name a recording that is not there.
    """

    title: str
    generated_from: Mapping[str, str] = field(default_factory=dict)
    evaluations: Evaluations = field(default_factory=dict)
    calibration: Calibration | None = None
    recordings: tuple[Recording, ...] = ()
    sessions: Mapping[str, tuple[SessionResult, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would be shown under a wrong name."""
        for key, evaluation in self.evaluations.items():
            own = (evaluation.protocol, evaluation.examples.target)
            if own != key:
                raise InvalidNounError(f"evaluation of {_key_text(own)} stands under {_key_text(key)}")
        names = [recording.name for recording in self.recordings]
        if len(set(names)) < len(names):
            raise InvalidNounError(f"two recordings share a name: {sorted(names)}")
        if strangers := sorted(set(self.sessions) - set(names)):
            raise InvalidNounError(f"sessions of recordings that are not there: {strangers}")


def _key_text(key: tuple[Protocol, Target]) -> str:
    return f"({key[0]}, {key[1]})"
