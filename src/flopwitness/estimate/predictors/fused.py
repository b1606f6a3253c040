"""The best estimate from all signals: pipe cycles, corrected by what the joint signature says.

Three layers, each falling back on the one before: a constant for an active matrix-pipe cycle; the shape that
the signature points to (``signature``); and what both got wrong on calibration runs with a similar signature
(a Gaussian-process mean). A session that no transformer explains gets the constant alone.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.pipe_cycles import vector_excess
from flopwitness.estimate.predictors.signature import Inverted, SignatureState
from flopwitness.estimate.predictors.state import PlainState

FUSED_COLUMNS = (
    "matrix_flop",
    "vector_flop",
    "tensor_cycles",
    "fp32_cycles",
    "int_cycles",
    "dram_bytes",
    "sm_active_cycles",
    "occupancy_cycles",
    "nvlink_bytes",
)
"""Feature columns in the order that this predictor expects; from the third on they are the signature."""

FIRST_SIGNAL = 2

Packed = tuple[tuple[int, ...], bytes]
"""Shape and content of an array: something that can be looked up by."""


def kernel(left: NDArray[np.float64], right: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """Return the squared-exponential likeness of signatures, shape (n_left, n_right)."""
    squared = ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=-1)
    likeness: NDArray[np.float64] = np.exp(-squared / (2 * length**2))
    return likeness


@dataclass(frozen=True, slots=True, eq=False)
class FusedState(PlainState):
    """Constants of the three layers.

    Attributes
    ----------
    constant_log : float
        Median ln(true FLOP / matrix-pipe FLOP) of the calibration runs.
    vector_ratio : float
        As in ``CalibratedPipeState``.
    response, whitening : ndarray
        Of ``SignatureState``; empty where no shapes were known when this was fitted.
    is_algorithmic : float
        1 where the target counts attention in full, 0 for executed FLOP.
    blend_ratio : float
        How far the answer moves from the constant to what the signature says, 0 to 1.
    largest_misfit : float
        Signatures that no shape explains better than this are answered with the constant.
    neighbour_signatures : ndarray of shape (n_runs, n_signals - 1)
        Whitened signatures of the calibration runs.
    neighbour_weights : ndarray of shape (n_runs,)
        Weights of the Gaussian-process mean.
    neighbour_length, correction_log : float
        Length of its kernel, in standard deviations; what it falls back on far from every run.
    """

    constant_log: float
    vector_ratio: float
    response: NDArray[np.float64]
    whitening: NDArray[np.float64]
    is_algorithmic: float
    blend_ratio: float
    largest_misfit: float
    neighbour_signatures: NDArray[np.float64]
    neighbour_weights: NDArray[np.float64]
    neighbour_length: float
    correction_log: float

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,); NaN where the matrix pipes are not known."""
        columns = np.asarray(X, dtype=np.float64)
        flop: NDArray[np.float64] = columns[:, 0] * np.exp(self._ratio_log(columns)[0])
        return flop + vector_excess(columns, self.vector_ratio)

    def lacks_signature(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Say for which sessions the constant answers alone though signatures were learned.

        Either a signal is blank or 0, or no shape explains them together.
        """
        explained = self._ratio_log(np.asarray(X, dtype=np.float64))[1]
        return ~explained & bool(self.response.size)

    def _ratio_log(self, columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return ln(FLOP / matrix-pipe FLOP), and where the signature helped to find it."""
        ratio_log = np.full(len(columns), self.constant_log)
        explained = np.zeros(len(columns), dtype=np.bool_)
        if not self.response.size:
            return ratio_log, explained
        known = (np.isfinite(columns) & (columns > 0))[:, [0, *range(FIRST_SIGNAL, columns.shape[1])]]
        rows = np.flatnonzero(known.all(axis=1))
        if len(rows):
            ratio_log[rows], explained[rows] = self._corrected(columns[rows])
        return ratio_log, explained

    def _corrected(self, columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        signature = SignatureState(self.response, self.whitening)
        base, misfit = signature_log(signature, columns, is_algorithmic=bool(self.is_algorithmic))
        likeness = kernel(
            signature.whitened(columns[:, FIRST_SIGNAL:]), self.neighbour_signatures, self.neighbour_length
        )
        corrected = self.constant_log + self.blend_ratio * (base - self.constant_log)
        corrected += self.correction_log + likeness @ self.neighbour_weights
        explained = misfit <= self.largest_misfit
        return np.where(explained, corrected, self.constant_log), explained


def signature_log(
    signature: SignatureState, columns: NDArray[np.float64], *, is_algorithmic: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln(FLOP / matrix-pipe FLOP) by the signature, and its misfit, each of shape (n_sessions,)."""
    signals = columns[:, FIRST_SIGNAL:]
    inverted = _inverted(_packed(signature.response), _packed(signature.whitening), _packed(signals))
    per_signal = inverted.algorithmic_log if is_algorithmic else inverted.executed_log
    return per_signal + np.log(signals[:, 0]) - np.log(columns[:, 0]), inverted.misfit


@lru_cache(maxsize=4)
def _inverted(response: Packed, whitening: Packed, signals: Packed) -> Inverted:
    """Invert signatures; the last few are remembered.

    Both targets, point, bounds and the question whether the signature helped rest on one inversion, which
    costs a hundred times what the rest of an estimate does.
    """
    return SignatureState(_unpacked(response), _unpacked(whitening)).invert(_unpacked(signals))


def _packed(array: NDArray[np.float64]) -> Packed:
    return array.shape, array.tobytes()


def _unpacked(packed: Packed) -> NDArray[np.float64]:
    shape, content = packed
    return np.frombuffer(content).reshape(shape)
