"""Pipe cycles: as they are, and with one constant for the chip."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.predictors.pipe_cycles import (
    BYPRODUCT_RATIO,
    CalibratedPipeState,
    PipeSumState,
    vector_excess,
)
from flopwitness.estimate.regressors.base import FlopRegressor, log_ratio
from flopwitness.physics.components import is_half_precision

VECTOR_MARGIN = 1.5
"""Vector work up to this multiple of the most seen beside matrix work in calibration is element-wise."""


COMMON, MIXED, INTEGER, DOUBLE = 0, -1, 2, 3
"""Which matrix pipe; the last two are the columns of their own work."""

NEGLIGIBLE_RATIO = 0.01
"""Products alone leave less matrix work than this beside their vector work: nothing to measure."""

NEARLY_ALL = 0.98
"""Share of the matrix work from which on a run speaks for one pipe."""


class PipeSumRegressor(FlopRegressor):
    """Every pipe at its full rate, added up. Nothing is fitted."""

    def _learn(
        self,
        features: NDArray[np.float64],  # noqa: ARG002  nothing to learn
        flop: NDArray[np.float64],  # noqa: ARG002
        components: NDArray[np.float64] | None,  # noqa: ARG002
    ) -> PipeSumState:
        return PipeSumState()


class CalibratedPipeRegressor(FlopRegressor):
    """One constant a chip: what an active matrix-pipe cycle is worth, the median over calibration runs."""

    def _learn(
        self,
        features: NDArray[np.float64],
        flop: NDArray[np.float64],
        components: NDArray[np.float64] | None,
    ) -> CalibratedPipeState:
        return fit_constant(features, flop, components)


def fit_constant(
    features: NDArray[np.float64], flop: NDArray[np.float64], components: NDArray[np.float64] | None = None
) -> CalibratedPipeState:
    """Fit a constant for each matrix pipe, and what share of vector work goes along with matrix work.

    Each run speaks for the pipe that did nearly all of its matrix work; the common pipe is measured in half
    precision. A pipe that no run was on is worth what the common one is.
    """
    usable = (flop > 0) & (features[:, 0] > 0) & is_half_precision(components, len(flop))
    owner = _owner(features)
    common = usable & (owner == COMMON) & _is_matrix_work(features)
    if not common.any():
        return CalibratedPipeState(1.0, 0.0, 1.0, 1.0, 1.0)
    ratio_log = log_ratio(flop, features[:, 0])
    constant, integer, double = (
        float(np.exp(np.median(ratio_log[chosen if chosen.any() else common])))
        for chosen in (common, usable & (owner == INTEGER), usable & (owner == DOUBLE))
    )
    if features.shape[1] < 2:
        return CalibratedPipeState(constant, 0.0, integer, double, constant)
    share = np.nan_to_num(features[common, 1] / features[common, 0])
    ratio = float(max(share.max(), 0.0)) * VECTOR_MARGIN
    byproduct = _byproduct(features, flop, ratio, default=constant)
    return CalibratedPipeState(constant, ratio, integer, double, byproduct)


def _byproduct(
    features: NDArray[np.float64], flop: NDArray[np.float64], vector_ratio: float, *, default: float
) -> float:
    """Return what matrix work beside FP32 products on CUDA cores is worth, from runs of mostly those."""
    excess = vector_excess(features, vector_ratio)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = (flop - excess) / features[:, 0]
        served = features[:, 0] / excess
    chosen = np.isfinite(worth) & (served <= BYPRODUCT_RATIO) & (served > NEGLIGIBLE_RATIO) & (flop > 0)
    if not chosen.any():
        return default
    return float(np.clip(np.median(worth[chosen]), 0.0, default))


def _owner(features: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which matrix pipe did nearly all of the work; a mixture belongs to none."""
    owner = np.full(len(features), COMMON)
    for number in (INTEGER, DOUBLE):
        if features.shape[1] > number:
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.nan_to_num(features[:, number] / features[:, 0])
            owner[share > 1 - NEARLY_ALL] = MIXED
            owner[share > NEARLY_ALL] = number
    return owner


def _is_matrix_work(features: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say where the matrix pipes did more than the vector pipes can have done in their place."""
    if features.shape[1] < 2:
        return np.ones(len(features), dtype=np.bool_)
    fewer: NDArray[np.bool_] = np.logical_not(np.greater(features[:, 1], features[:, 0]))
    return fewer
