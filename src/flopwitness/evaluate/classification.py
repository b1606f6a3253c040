"""How good a classifier of work is: classes count alike, and ``unknown`` is not the same as wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass

N_BINS = 5


@dataclass(frozen=True, slots=True)
class Answered:
    """What was said of one run that was left out, and what it was.

    Attributes
    ----------
    truth : WorkClass
        Never ``unknown``.
    opinion : ClassOpinion
        What the classifier said.
    family, workload, dataset : str
        Of the run.
    """

    truth: WorkClass
    opinion: ClassOpinion
    family: str
    workload: str
    dataset: str = ""

    @property
    def likeliest(self) -> WorkClass:
        """The class that was held likeliest, whether or not that was enough; unknown where nothing was."""
        by_class = self.opinion.probabilities
        return max(by_class, key=lambda one: by_class[one]) if by_class else WorkClass.UNKNOWN


@dataclass(frozen=True, slots=True)
class ClassShares:
    """Answers for runs of one class.

    Attributes
    ----------
    n_runs : int
        How many there were, > 0.
    right_ratio, unknown_ratio, wrong_ratio : float
        Shares of the answers, summing to one.
    forced_ratio : float
        Share whose likeliest class is right, whether or not it was answered.
    """

    n_runs: int
    right_ratio: float
    unknown_ratio: float
    wrong_ratio: float
    forced_ratio: float

    @property
    def answered_ratio(self) -> float:
        """Share of the answers other than unknown that are right; NaN where there is none."""
        answered = self.right_ratio + self.wrong_ratio
        return self.right_ratio / answered if answered > 0 else float("nan")


def class_shares(answers: Sequence[Answered]) -> dict[WorkClass, ClassShares]:
    """Return the shares for each class that occurs."""
    shares = {}
    for truth in KNOWN_CLASSES:
        of_class = [one for one in answers if one.truth is truth]
        if of_class:
            said = [one.opinion.answer for one in of_class]
            right = float(np.mean([answer is truth for answer in said]))
            unknown = float(np.mean([answer is WorkClass.UNKNOWN for answer in said]))
            forced = float(np.mean([one.likeliest is truth for one in of_class]))
            shares[truth] = ClassShares(len(of_class), right, unknown, max(1 - right - unknown, 0.0), forced)
    return shares


@dataclass(frozen=True, slots=True)
class BalancedAccuracy:
    """Means over classes.

    Attributes
    ----------
    answered_ratio : float
        Right among the answers that were given.
    strict_ratio : float
        Right among all runs: unknown counts as wrong.
    forced_ratio : float
        Right where the likeliest class is taken for the answer.
    unknown_ratio : float
        Share of runs that got no answer.
    """

    answered_ratio: float
    strict_ratio: float
    forced_ratio: float
    unknown_ratio: float


def balanced_accuracy(answers: Sequence[Answered]) -> BalancedAccuracy:
    """Return the means over the classes that occur.

    Raises
    ------
    InvalidNounError
        When there are no answers.
    """
    shares = tuple(class_shares(answers).values())
    if not shares:
        raise InvalidNounError("a balanced accuracy needs answers")
    return BalancedAccuracy(
        answered_ratio=float(np.mean([one.answered_ratio for one in shares])),
        strict_ratio=float(np.mean([one.right_ratio for one in shares])),
        forced_ratio=float(np.mean([one.forced_ratio for one in shares])),
        unknown_ratio=float(np.mean([one.unknown_ratio for one in shares])),
    )


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often the likeliest class was right where its probability lay in one bin."""

    low_ratio: float
    high_ratio: float
    mean_probability: float
    right_ratio: float
    n_runs: int


def reliability(answers: Sequence[Answered]) -> tuple[Reliability, ...]:
    """Return bins of the highest probability between one third and one, empty ones left out.

    Families count alike, so that a large one does not decide.
    """
    said = [one for one in answers if one.opinion.probabilities]
    most = np.array([max(one.opinion.probabilities.values()) for one in said])
    right = np.array([one.likeliest is one.truth for one in said], dtype=np.float64)
    families = np.array([one.family for one in said])
    weights = _family_weights(families)
    edges = np.linspace(1 / len(KNOWN_CLASSES), 1.0, N_BINS + 1)
    places = np.clip(np.searchsorted(edges, most, side="right") - 1, 0, N_BINS - 1)
    return tuple(
        Reliability(
            float(edges[place]),
            float(edges[place + 1]),
            float(np.average(most[inside], weights=weights[inside])),
            float(np.average(right[inside], weights=weights[inside])),
            int(inside.sum()),
        )
        for place in range(N_BINS)
        if (inside := places == place).any()
    )


def _family_weights(families: NDArray[np.str_]) -> NDArray[np.float64]:
    names, counts = np.unique(families, return_counts=True)
    weights: NDArray[np.float64] = 1.0 / counts[np.searchsorted(names, families)]
    return weights
