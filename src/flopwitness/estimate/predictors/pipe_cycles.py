"""FLOP from the cycles in which arithmetic pipes were active: nothing to fit, or one constant a chip."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.state import PlainState


@dataclass(frozen=True, slots=True, eq=False)
class PipeSumState(PlainState):
    """No constants: matrix and vector pipes at their full rates, added up."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the sum of the columns, shape (n_sessions,)."""
        total: NDArray[np.float64] = np.asarray(X, dtype=np.float64).sum(axis=1)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPipeState(PlainState):
    """What an active matrix-pipe cycle is worth on this chip.

    Attributes
    ----------
    flop_per_pipe_flop : float
        True FLOP over column 0, the matrix pipes at full rate; 0.92 on an H200, since an active cycle does
        not fill every lane.
    vector_ratio : float
        Share of column 1, the vector pipes, that goes along with matrix work in calibration (element-wise
        kernels, which no FLOP convention counts). Vector work beyond it counts in full: matrix products run
        on CUDA cores must not vanish.
    """

    flop_per_pipe_flop: float
    vector_ratio: float

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,)."""
        columns = np.asarray(X, dtype=np.float64)
        return columns[:, 0] * self.flop_per_pipe_flop + vector_excess(columns, self.vector_ratio)


def vector_excess(columns: NDArray[np.float64], vector_ratio: float) -> NDArray[np.float64]:
    """Return vector FLOP beyond what goes along with matrix work; 0 where nobody watched the vector pipes."""
    if columns.shape[1] < 2:
        return np.zeros(len(columns))
    excess: NDArray[np.float64] = columns[:, 1] - vector_ratio * np.maximum(columns[:, 0], 0.0)
    return np.maximum(np.nan_to_num(excess), 0.0)
