"""Score attacks on frozen estimators: how far each estimate moves, whether its bounds hold, at which cost.

Pure: trials in, effects out. The unit is the configuration: an effect is the median over its traces.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.metrics import signed_error_ratio
from flopwitness.evaluate.quantiles import quantile
from flopwitness.redteam.cost import UNKNOWN_COST, Cost, Spending, relative_cost

BAND_RATIOS = (0.05, 0.95)
"""Ends of the benign band, as the experiment drew it."""


class Answer(NamedTuple):
    """What one method said of one run, in FLOP; ``high_flop`` may be infinite."""

    point_flop: float
    high_flop: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One run with its truth and what was said of it.

    Attributes
    ----------
    configuration, strength : str
        What ran; the strength is empty for a twin.
    gpus : tuple of str
        UUIDs of the boards that it ran on.
    truth_flop : float, > 0
        What was counted, for the target that the answers count.
    answers : mapping of str to Answer
        By method; one that gave no answer is an absent key.
    spending : Spending
        What the run took.
    is_format_identified : bool
        Whether it was known in which number format the matrix pipes worked.

    Raises
    ------
    InvalidNounError
        When the truth is not positive.
    """

    configuration: str
    strength: str
    gpus: tuple[str, ...]
    truth_flop: float
    answers: Mapping[str, Answer]
    spending: Spending
    is_format_identified: bool = True

    def __post_init__(self) -> None:
        """Refuse a truth that cannot be one."""
        if not 0 < self.truth_flop < float("inf"):
            raise InvalidNounError(f"truth of {self.configuration} must be positive, got {self.truth_flop}")


@dataclass(frozen=True, slots=True)
class Contest:
    """One attack: its trials, weakest strength first, and those of its benign twin by the same calibration.

    Attributes
    ----------
    attack : str
        Its name, which is also the family of its workloads.
    trials, twins : tuple of Trial
        The twins may be none; then movements and costs are not known.
    """

    attack: str
    trials: tuple[Trial, ...]
    twins: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """What one strength of an attack does to one method: medians over its traces.

    Attributes
    ----------
    attack, strength, configuration, method : str
        What was done to whom.
    n_traces : int, > 0
        How many runs.
    signed_error_ratio : float
        Estimate over truth, minus 1; plus infinity where there was no answer.
    twin_error_ratio : float
        The same of the benign twin; NaN where there is none.
    high_error_ratio : float
        High bound over truth, minus 1: below 0 the bound does not hold.
    n_high_holds : int
        Runs whose high bound is at or above the truth.
    width_ratio : float, >= 1
        High bound over point; infinite where unbounded.
    worst_error_ratio : float
        The most negative signed error of a single trace.
    is_format_identified : bool
        Whether it was in every trace.
    has_same_gpus : bool
        Whether the twin ran on the same boards.
    cost : Cost
        Beside the twin.
    """

    attack: str
    strength: str
    configuration: str
    method: str
    n_traces: int
    signed_error_ratio: float
    twin_error_ratio: float
    high_error_ratio: float
    n_high_holds: int
    width_ratio: float
    worst_error_ratio: float
    is_format_identified: bool
    has_same_gpus: bool
    cost: Cost

    @property
    def movement_ratio(self) -> float:
        """Signed error less the twin's; times 100 these are percentage points. NaN where not known."""
        return self.signed_error_ratio - self.twin_error_ratio

    @property
    def hidden_ratio(self) -> float:
        """Share of the true FLOP that the point does not show, 0 where it shows all."""
        return max(0.0, -self.signed_error_ratio)

    @property
    def hidden_from_high_ratio(self) -> float:
        """Share of the true FLOP that lies above the high bound, 0 where the bound holds."""
        return max(0.0, -self.high_error_ratio)


def effects_of(contest: Contest, methods: Sequence[str]) -> tuple[Effect, ...]:
    """Return the effect of every strength on every method, in the order of the trials."""
    by_configuration: dict[str, list[Trial]] = {}
    for trial in contest.trials:
        by_configuration.setdefault(trial.configuration, []).append(trial)
    return tuple(
        _effect(contest, trials, method) for trials in by_configuration.values() for method in methods
    )


def benign_bands(trials: Sequence[Trial], methods: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the 5th and 95th percentile of each method's signed errors; empty where nothing was benign."""
    if not trials:
        return {}
    bands = {}
    for method in methods:
        errors = _signed_errors(trials, method)
        low, high = (quantile(errors, ratio) for ratio in BAND_RATIOS)
        bands[method] = (low, high)
    return bands


def _effect(contest: Contest, trials: list[Trial], method: str) -> Effect:
    twins, has_same_gpus = _twins_on_same_gpus(trials, contest.twins)
    errors = _signed_errors(trials, method)
    highs = _high_errors(trials, method)
    twin_error = quantile(_signed_errors(twins, method), 0.5) if twins else float("nan")
    cost = (
        relative_cost([one.spending for one in trials], [one.spending for one in twins])
        if twins
        else UNKNOWN_COST
    )
    return Effect(
        attack=contest.attack,
        strength=trials[0].strength,
        configuration=trials[0].configuration,
        method=method,
        n_traces=len(trials),
        signed_error_ratio=quantile(errors, 0.5),
        twin_error_ratio=twin_error,
        high_error_ratio=quantile(highs, 0.5),
        n_high_holds=int((highs >= 0).sum()),
        width_ratio=quantile(_widths(trials, method), 0.5),
        worst_error_ratio=float(errors.min()),
        is_format_identified=all(trial.is_format_identified for trial in trials),
        has_same_gpus=has_same_gpus,
        cost=cost,
    )


def _twins_on_same_gpus(trials: Sequence[Trial], twins: Sequence[Trial]) -> tuple[list[Trial], bool]:
    """Return the twins that ran on the boards of the trials, or all where none did."""
    boards = {trial.gpus for trial in trials}
    same = [twin for twin in twins if twin.gpus in boards]
    return (same, True) if same else (list(twins), False)


def _signed_errors(trials: Sequence[Trial], method: str) -> NDArray[np.float64]:
    points = [trial.answers[method].point_flop if method in trial.answers else np.nan for trial in trials]
    return signed_error_ratio(points, [trial.truth_flop for trial in trials])


def _high_errors(trials: Sequence[Trial], method: str) -> NDArray[np.float64]:
    """Return high bound over truth, minus 1; where there is no answer there is no bound to break."""
    highs = [trial.answers[method].high_flop if method in trial.answers else np.inf for trial in trials]
    errors: NDArray[np.float64] = np.array(highs) / np.array([trial.truth_flop for trial in trials]) - 1
    return errors


def _widths(trials: Sequence[Trial], method: str) -> NDArray[np.float64]:
    answers = [trial.answers.get(method, Answer(0.0, np.inf)) for trial in trials]
    return np.array([one.high_flop / one.point_flop if one.point_flop > 0 else np.inf for one in answers])
