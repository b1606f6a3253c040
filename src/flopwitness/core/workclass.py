"""What kind of work a session was, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from flopwitness.core.errors import InvalidNounError

SUM_TOLERANCE = 1e-6


class WorkClass(StrEnum):
    """Kinds that laws tell apart; ``unknown`` is unlike everything that was seen, or undecided."""

    TRAINING = "training"
    INFERENCE = "inference"
    OTHER = "other"
    UNKNOWN = "unknown"


KNOWN_CLASSES = (WorkClass.TRAINING, WorkClass.INFERENCE, WorkClass.OTHER)


@dataclass(frozen=True, slots=True)
class ClassOpinion:
    """What a classifier says of a session.

    Attributes
    ----------
    answer : WorkClass
        ``unknown`` where no class is likely enough, or the session is unlike all that was seen.
    probabilities : mapping of WorkClass to float
        Of training, inference and other, summing to one; empty where the signals do not allow an answer.
    reasons : tuple of str
        Plain sentences; at least one.
    n_windows : int
        How many windows it rests on.
    unfamiliar_ratio : float
        Share of the windows that are unlike all that was seen, in [0, 1].

    Raises
    ------
    InvalidNounError
        When probabilities are none, an answer has none, or no reason is given.
    """

    answer: WorkClass
    probabilities: Mapping[WorkClass, float]
    reasons: tuple[str, ...]
    n_windows: int = 0
    unfamiliar_ratio: float = field(default=0.0)

    def __post_init__(self) -> None:
        """Refuse what is no opinion."""
        if not self.reasons:
            raise InvalidNounError("an opinion needs a reason")
        if self.answer is not WorkClass.UNKNOWN and self.answer not in self.probabilities:
            raise InvalidNounError(f"an opinion of {self.answer} needs its probability")
        if not all(0 <= probability <= 1 for probability in self.probabilities.values()):
            raise InvalidNounError(f"probabilities {[*self.probabilities.values()]} are not all in [0, 1]")
        total = sum(self.probabilities.values())
        if self.probabilities and not abs(total - 1) <= SUM_TOLERANCE:
            raise InvalidNounError(f"probabilities of classes sum to {total}, not to 1")
        if not 0 <= self.unfamiliar_ratio <= 1:
            raise InvalidNounError(f"unfamiliar share {self.unfamiliar_ratio} is not in [0, 1]")
