"""FLOP from the cycles in which arithmetic pipes were active: nothing to fit, or one constant a chip."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.state import PlainState

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, eq=False)
class PipeSumState(PlainState):
    """No constants: matrix and vector pipes at their full rates, added up."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the sum of the columns, shape (n_sessions,)."""
        total: NDArray[np.float64] = np.asarray(X, dtype=np.float64).sum(axis=1)
        return total


BYPRODUCT_RATIO = 1.1
"""Up to this ratio of matrix to vector work at full rate, the matrix pipe served a network on CUDA cores.

Attention in FP32 runs on the matrix pipe, each product as three of TF32 (CUTLASS, OpMultiplyAddFastF32): the
whole FP32 runs of h200x2-f-formats read 0.26 to 0.93, half of whose blocks run in BF16 1.4 and more.
"""

USUAL_ATTENTION_RATIO = 0.03
"""Of attention to other products in a network partly in FP32: sequences of a third of the width."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPipeState(PlainState):
    """What an active cycle of each matrix pipe is worth on this chip.

    Attributes
    ----------
    flop_per_pipe_flop : float
        True FLOP over column 0, the matrix pipes at full rate; 0.92 on an H200, since an active cycle does
        not fill every lane.
    vector_ratio : float
        Share of column 1, the vector pipes, that goes along with matrix work in calibration (element-wise
        kernels, which no FLOP convention counts). Vector work beyond it counts in full: matrix products run
        on CUDA cores must not vanish.
    integer_per_pipe_flop, double_per_pipe_flop : float
        The same of columns 2 and 3, the parts of column 0 that ran on the integer and the FP64 matrix pipe.
    byproduct_per_pipe_flop : float
        The same of matrix work beside FP32 products on CUDA cores: their attention.
    """

    flop_per_pipe_flop: float
    vector_ratio: float
    integer_per_pipe_flop: float
    double_per_pipe_flop: float
    byproduct_per_pipe_flop: float

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,)."""
        columns = np.asarray(X, dtype=np.float64)
        excess = vector_excess(columns, self.vector_ratio)
        flop: NDArray[np.float64] = self.of_matrix_pipes(columns) + excess
        return flop - self.byproduct(columns) * (self.flop_per_pipe_flop - self.byproduct_per_pipe_flop)

    def least(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the least FLOP of sessions that did at least this, shape (n_sessions,).

        Vector work that nobody saw could make a by-product of what the common pipe did.
        """
        columns = np.asarray(X, dtype=np.float64)
        common = common_matrix_flop(columns)
        apart = self.of_matrix_pipes(columns) - common * self.flop_per_pipe_flop
        served = common * (self.byproduct_per_pipe_flop + 1 / BYPRODUCT_RATIO)
        fewest: NDArray[np.float64] = np.minimum(self.predict(columns), apart + served)
        return fewest

    def of_matrix_pipes(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return FLOP of the matrix pipes, shape (n_sessions,); what is not told apart counts as common."""
        flop: NDArray[np.float64] = columns[:, 0] * self.flop_per_pipe_flop
        for number, worth in ((2, self.integer_per_pipe_flop), (3, self.double_per_pipe_flop)):
            if columns.shape[1] > number:
                flop = flop + np.nan_to_num(columns[:, number]) * (worth - self.flop_per_pipe_flop)
        return flop

    def byproduct(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much of column 0 served a network on CUDA cores, shape (n_sessions,).

        Never more than the common pipe did, nor than a network wholly on CUDA cores asks of it: however much
        vector work is put beside matrix products, 99 % of what those are worth is left.
        """
        excess = vector_excess(columns, self.vector_ratio)
        common = common_matrix_flop(columns)
        most = BYPRODUCT_RATIO * excess
        usual = USUAL_ATTENTION_RATIO * excess / max(self.byproduct_per_pipe_flop, TINY)
        served: NDArray[np.float64] = np.where(common <= most, common, np.minimum(usual, most))
        return served


def common_matrix_flop(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what of column 0 did not run on a matrix pipe with a counter of its own; 0 where unknown."""
    apart = np.nan_to_num(columns[:, 2:4]).sum(axis=1)
    common: NDArray[np.float64] = np.maximum(np.nan_to_num(columns[:, 0] - apart), 0.0)
    return common


def vector_excess(columns: NDArray[np.float64], vector_ratio: float) -> NDArray[np.float64]:
    """Return vector FLOP beyond what goes along with matrix work; 0 where nobody watched the vector pipes."""
    if columns.shape[1] < 2:
        return np.zeros(len(columns))
    excess: NDArray[np.float64] = columns[:, 1] - vector_ratio * np.maximum(columns[:, 0], 0.0)
    return np.maximum(np.nan_to_num(excess), 0.0)
