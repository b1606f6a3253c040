"""How the constants of equation (1) are fitted."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.regressors.base import FlopRegressor


class LinearEnergyRegressor(FlopRegressor):
    """Equation (1) and its ablations: net energy earns FLOP; traffic and time take some away.

    Column 0 is the net energy in joules, the others are what is charged to memory, links and overhead. The
    fit minimises the relative error, summed over sessions of any size alike, with every coefficient >= 0:
    no joule of traffic may create work.
    """

    def _learn(
        self,
        features: NDArray[np.float64],
        flop: NDArray[np.float64],
        components: NDArray[np.float64] | None,  # noqa: ARG002  equation (1) knows no shapes
    ) -> LinearState:
        return fit_linear(features, flop)


def fit_linear(features: NDArray[np.float64], flop: NDArray[np.float64]) -> LinearState:
    """Fit the constants by relative, non-negative least squares."""
    positive = flop > 0
    if not positive.any():
        return LinearState(0.0, np.zeros(features.shape[1] - 1))
    signs = np.concatenate(([1.0], np.full(features.shape[1] - 1, -1.0)))
    relative = features[positive] * signs / flop[positive][:, None]
    scale = np.maximum(np.abs(relative).max(axis=0), np.finfo(np.float64).tiny)
    weights = nnls(relative / scale, np.ones(int(positive.sum())))[0] / scale
    return LinearState(float(weights[0]), weights[1:])
