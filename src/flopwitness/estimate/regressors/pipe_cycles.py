"""Pipe cycles: as they are, and with one constant for the chip."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, PipeSumState
from flopwitness.estimate.regressors.base import FlopRegressor, log_ratio

VECTOR_MARGIN = 1.5
"""Vector work up to this multiple of the most seen beside matrix work in calibration is element-wise."""


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
        components: NDArray[np.float64] | None,  # noqa: ARG002  one constant for every shape
    ) -> CalibratedPipeState:
        return fit_constant(features, flop)


def fit_constant(features: NDArray[np.float64], flop: NDArray[np.float64]) -> CalibratedPipeState:
    """Fit the constant, and what share of vector work goes along with matrix work."""
    usable = (flop > 0) & (features[:, 0] > 0)
    if not usable.any():
        return CalibratedPipeState(1.0, 0.0)
    constant = float(np.exp(np.median(log_ratio(flop[usable], features[usable, 0]))))
    if features.shape[1] < 2:
        return CalibratedPipeState(constant, 0.0)
    share = np.nan_to_num(features[usable, 1] / features[usable, 0])
    return CalibratedPipeState(constant, float(max(share.max(), 0.0)) * VECTOR_MARGIN)
