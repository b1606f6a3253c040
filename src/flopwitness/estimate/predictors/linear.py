"""Equation (1) of the experiment: what is left of the energy after memory, links and overhead took theirs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.state import PlainState


@dataclass(frozen=True, slots=True, eq=False)
class LinearState(PlainState):
    """Constants of equation (1), solved for FLOP.

    Attributes
    ----------
    flop_per_joule : float
        1 / E_per_TFLOP in base units, >= 0; multiplies column 0, the net energy.
    debits : ndarray of shape (n_columns - 1,)
        FLOP that each unit of the other columns takes off, >= 0: traffic and time only ever cost energy.
    """

    flop_per_joule: float
    debits: NDArray[np.float64]

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,), never below 0."""
        columns = np.asarray(X, dtype=np.float64)
        flop: NDArray[np.float64] = columns[:, 0] * self.flop_per_joule - columns[:, 1:] @ self.debits
        return np.maximum(flop, 0.0)
