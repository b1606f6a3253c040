"""From the windows of a session to an opinion: the likeliest class, or unknown where that is no answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.session import Session
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.estimate.classify.state import ClassState
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS, Windows, windows_of

MIN_PROBABILITY = 0.7
"""Below it the answer is unknown.

Chosen on left-out families of the fitting recordings, as the least with which no more than 2 % of a class
were called another; see ``benchmarks/classes.py``.
"""

FASTEST_RHYTHM_SECONDS = 0.25
"""Slower samples are means over several steps: then levels alone are asked."""

FLOOR = 1e-3
"""The least probability that one window gives a class: no window has a veto."""

UNFAMILIAR_RATIO = 0.5
"""Share of unfamiliar windows above which the answer is unknown."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """What tells kinds of work apart on one chip.

    Attributes
    ----------
    chip : str
        Name of the chip that it was fitted on.
    with_rhythm, levels_alone : ClassState
        For samples that come fast enough to show the rhythm of steps, and for others.
    """

    chip: str
    with_rhythm: ClassState
    levels_alone: ClassState

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "chip": self.chip,
            "with_rhythm": self.with_rhythm.to_plain(),
            "levels_alone": self.levels_alone.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Build it from JSON values; ``CalibrationMismatchError`` where they are none or of other columns."""
        try:
            chip, fast, slow = str(plain["chip"]), plain["with_rhythm"], plain["levels_alone"]
        except (KeyError, TypeError) as error:
            raise CalibrationMismatchError(f"not a complete classifier ({error!r})") from None
        with_rhythm, levels_alone = ClassState.from_plain(fast), ClassState.from_plain(slow)
        if (with_rhythm.columns, levels_alone.columns) != (COLUMNS, LEVELS):
            held = f"{with_rhythm.columns} and {levels_alone.columns}"
            raise CalibrationMismatchError(f"the classifier reads {held}, this version gives {COLUMNS}")
        return cls(chip, with_rhythm, levels_alone)


def opinion_of(session: Session, classifier: Classifier | None) -> ClassOpinion:
    """Say what kind of work a session was; unknown, with the reason, where that cannot be said."""
    chips = sorted({trace.device.chip for trace in session.traces})
    if classifier is None or chips != [classifier.chip]:
        return unknown(f"no classifier was fitted for {', '.join(chips)}")
    return weighed(windows_of(session), classifier)


def weighed(windows: Windows, classifier: Classifier) -> ClassOpinion:
    """Weigh the windows of a session."""
    if windows.missing:
        return unknown(f"the source does not give {', '.join(windows.missing)}")
    if not len(windows.values):
        return unknown("too few samples at work to tell its kind")
    return judged(seen_in(windows.values, windows.step_seconds, classifier))


class Seen(NamedTuple):
    """What windows said; the sum of two is what both said.

    Attributes
    ----------
    summed_logs : ndarray of shape (3,)
        Of the probabilities of training, inference and other.
    votes : ndarray of shape (3,), int64
        Windows that look like each of them.
    n_unfamiliar : int
        Windows unlike all that was learned.
    """

    summed_logs: NDArray[np.float64]
    votes: NDArray[np.int64]
    n_unfamiliar: int


def seen_in(values: NDArray[np.float64], step_seconds: float, classifier: Classifier) -> Seen:
    """Ask about windows, shape (n_windows, 6), of samples that are so far apart."""
    fast = step_seconds <= FASTEST_RHYTHM_SECONDS
    state = classifier.with_rhythm if fast else classifier.levels_alone
    asked = values[:, : len(state.columns)]
    logs = np.maximum(state.log_probabilities(asked), np.log(FLOOR))
    votes = np.bincount(logs.argmax(axis=1), minlength=len(KNOWN_CLASSES))
    return Seen(logs.sum(axis=0), votes, int((state.distances(asked) > 1).sum()))


def judged(seen: Seen) -> ClassOpinion:
    """Return the opinion that windows amount to.

    Windows of one session are of one program, not independent: their logarithms are averaged, so that a
    longer session is not a surer one.
    """
    n_windows = int(seen.votes.sum())
    mean = np.exp(seen.summed_logs / n_windows)
    return _opinion(mean / mean.sum(), seen.n_unfamiliar / n_windows, seen.votes)


def unknown(reason: str) -> ClassOpinion:
    """Return the opinion of one who cannot say, with the reason."""
    return ClassOpinion(WorkClass.UNKNOWN, {}, (reason,))


def _opinion(
    probabilities: NDArray[np.float64], unfamiliar_ratio: float, votes: NDArray[np.int64]
) -> ClassOpinion:
    likeliest = KNOWN_CLASSES[int(probabilities.argmax())]
    most, n_windows = float(probabilities.max()), int(votes.sum())
    reasons = [_sentence(votes)]
    answer = likeliest
    if unfamiliar_ratio > UNFAMILIAR_RATIO:
        answer = WorkClass.UNKNOWN
        reasons.append(
            f"{100 * unfamiliar_ratio:.0f} % of its windows are unlike everything that was learned"
        )
    if most < MIN_PROBABILITY:
        answer = WorkClass.UNKNOWN
        reasons.append(f"{likeliest} is likeliest at {100 * most:.0f} %, which is not enough")
    by_class = dict(zip(KNOWN_CLASSES, probabilities.tolist(), strict=True))
    return ClassOpinion(answer, by_class, tuple(reasons), n_windows, unfamiliar_ratio)


def _sentence(votes: NDArray[np.int64]) -> str:
    total = int(votes.sum())
    shares = [
        f"{int(count)} of {total} windows look like {name}"
        for name, count in zip(KNOWN_CLASSES, votes, strict=True)
        if count
    ]
    return "; ".join(shares)
