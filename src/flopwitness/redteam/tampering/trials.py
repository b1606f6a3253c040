"""How strong a tampering must be to matter, and how often it is found. The estimating is handed in."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from flopwitness.evaluate.metrics import wilson_interval

TARGET_RATIO = 0.1
"""A tampering matters once it moves an estimate this far."""

N_HALVINGS = 7
"""The strength is found to 1/128 of its range."""


def strength_moving(
    moved_ratio: Callable[[float], float], largest: float, *, target_ratio: float = TARGET_RATIO
) -> tuple[float, float]:
    """Find a strength that moves an estimate by a share, by halving.

    Parameters
    ----------
    moved_ratio : callable
        From a strength to the size of the estimate's relative change, >= 0; NaN counts as a large one.
    largest : float
        The greatest strength to try, > 0. It is the answer where even that moves too little.
    target_ratio : float
        How far the estimate is to move, > 0.

    Returns
    -------
    tuple of float
        The strength, and how far it moves the estimate.

    Examples
    --------
    >>> strength, moved = strength_moving(lambda share: 0.5 * share, 1.0)
    >>> round(strength, 2), bool(moved >= 0.1)
    (0.2, True)
    """
    low, high, moved = 0.0, largest, moved_ratio(largest)
    if moved < target_ratio:
        return largest, moved
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        at_middle = moved_ratio(middle)
        if at_middle < target_ratio:
            low = middle
        else:
            high, moved = middle, at_middle
    return high, moved


@dataclass(frozen=True, slots=True)
class Trial:
    """One tampered excerpt and what was said of it.

    Attributes
    ----------
    kind, variant, dataset : str
        What was done, and to which recording.
    strength, moved_ratio : float
        How strongly, and how far the measure moved.
    codes : frozenset of str
        Codes of the findings that warn; empty where nobody noticed.
    hints : frozenset of str
        Codes of those that are notes: they do not count as found.
    """

    kind: str
    variant: str
    dataset: str
    strength: float
    moved_ratio: float
    codes: frozenset[str]
    hints: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundShare:
    """How many of some trials were found.

    Attributes
    ----------
    n_found, n_trials : int
        Counts.
    low_ratio, high_ratio : float
        Ends of Wilson's 95 % interval of the share, which takes overlapping excerpts for independent.
    median_strength, median_moved_ratio : float
        Of the trials.
    """

    n_found: int
    n_trials: int
    low_ratio: float
    high_ratio: float
    median_strength: float
    median_moved_ratio: float


def found_share(trials: Iterable[Trial]) -> FoundShare:
    """Count how many trials were found; NaN medians and an interval of 0 to 1 for none."""
    every = list(trials)
    n_found, n_trials = sum(bool(trial.codes) for trial in every), len(every)
    if not every:
        return FoundShare(0, 0, 0.0, 1.0, float("nan"), float("nan"))
    low, high = wilson_interval(n_found / n_trials, n_trials)
    strength = float(np.median([trial.strength for trial in every]))
    moved = float(np.median([trial.moved_ratio for trial in every]))
    return FoundShare(n_found, n_trials, low, high, strength, moved)
