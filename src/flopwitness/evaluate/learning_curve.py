"""How much calibration is enough: the error on held-out workloads against how many were calibrated on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.quantiles import quantile
from flopwitness.evaluate.splits import Split
from flopwitness.evaluate.tables import finite

SIZES = (4, 8, 16, 32, 64)
"""Workloads to calibrate on, each size twice the one before."""

LARGEST_RATIO = 0.75
"""At most this share of the workloads is calibrated on, so that enough are left to hold out."""

BAND = (0.05, 0.95)
"""Quantiles over the draws between which the band of a curve lies."""


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve:
    """Evaluations of growing calibrations.

    Attributes
    ----------
    evaluations : mapping of int to Evaluation
        By how many workloads were calibrated on; one split a draw, the same held-out workloads for each
        size of one draw.

    Raises
    ------
    InvalidNounError
        When there is none.
    """

    evaluations: Mapping[int, Evaluation]

    def __post_init__(self) -> None:
        """Refuse a curve without a point."""
        if not self.evaluations:
            raise InvalidNounError("a learning curve needs at least one size")

    def medians(self, estimator: str, size: int) -> NDArray[np.float64]:
        """Return the median absolute error of each draw, shape (n_draws,), over its held-out traces."""
        evaluation = self.evaluations[size]
        absolute = np.abs(evaluation.errors(estimator).signed_error_ratio)
        ends = np.cumsum([len(score.split.test) for score in evaluation.scores])
        return np.array([quantile(part, 0.5) for part in np.split(absolute, ends[:-1])])


def growing_splits(
    examples: Examples, *, n_draws: int, rng: np.random.Generator, sizes: Sequence[int] = SIZES
) -> dict[int, tuple[Split, ...]]:
    """Draw workloads to calibrate on, more and more of them, and others to hold out.

    Each draw shuffles the workloads. What the largest size leaves over is held out for every size, and a
    larger calibration holds all workloads of a smaller one: the sizes differ in nothing else.

    Parameters
    ----------
    examples : Examples
        Every trace of a workload is on the same side.
    n_draws : int
        How often to shuffle, > 0.
    rng : numpy.random.Generator
        Source of chance; the order of the examples does not matter.
    sizes : sequence of int
        How many workloads to calibrate on; sizes above ``LARGEST_RATIO`` of all are left out.

    Raises
    ------
    BadInputError
        When there are too few workloads for the smallest size.
    """
    names = np.unique(examples.workloads)
    used = sorted(size for size in sizes if size <= LARGEST_RATIO * len(names))
    if not used or n_draws < 1:
        expected = f"at least {int(np.ceil(min(sizes) / LARGEST_RATIO))} workloads and one draw"
        raise BadInputError("evaluation", "", expected=expected, got=f"{len(names)} and {n_draws}")
    orders = [rng.permutation(names) for _ in range(n_draws)]
    return {
        size: tuple(
            Split(
                np.flatnonzero(np.isin(examples.workloads, order[:size])),
                np.flatnonzero(np.isin(examples.workloads, order[used[-1] :])),
                f"{size} workloads, draw {number}",
            )
            for number, order in enumerate(orders)
        )
        for size in used
    }


def curve_object(curve: LearningCurve) -> dict[str, object]:
    """Return a curve as JSON values; None is unbounded.

    Returns
    -------
    dict
        ``target``, ``draws``, ``n_workloads``, ``n_traces``, ``n_held_out_workloads`` (in each draw),
        ``band_ratios`` (quantiles over the draws) and ``estimators``: for each a list of points with
        ``n_calibration_workloads``, ``median_abs_error_ratio`` (median over the draws of each draw's median),
        ``low_ratio`` and ``high_ratio`` (the band).
    """
    first = next(iter(curve.evaluations.values()))
    examples, draw = first.examples, first.scores[0].split
    return {
        "target": examples.target.value,
        "draws": len(first.scores),
        "n_workloads": examples.n_workloads,
        "n_traces": len(examples),
        "n_held_out_workloads": examples.take(draw.test).n_workloads,
        "band_ratios": list(BAND),
        "estimators": {
            name: [_point(size, curve.medians(name, size)) for size in curve.evaluations]
            for name in first.estimators
        },
    }


def _point(size: int, medians: NDArray[np.float64]) -> dict[str, int | float | None]:
    low, middle, high = (finite(quantile(medians, ratio)) for ratio in (BAND[0], 0.5, BAND[1]))
    return {
        "n_calibration_workloads": size,
        "median_abs_error_ratio": middle,
        "low_ratio": low,
        "high_ratio": high,
    }
