"""The best estimate from all signals: pipe cycles, corrected by what the joint signature says.

Three layers, each falling back on the one before: a constant for an active cycle of each matrix pipe; the
shape and the number format that the signature points to (``signature``); and what both got wrong on
calibration runs with a similar signature (a Gaussian-process mean). A session that no transformer explains
gets the constants alone, and the knowledge that its format is not known.

NVLink traffic is no signal here: it can be shaped at will, down by synchronising seldom and up by a flood,
and leaving it out costs 0.1 percentage points from one node to another (docs/adr/0016).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.format_choice import chosen_formats
from flopwitness.estimate.predictors.pipe_cycles import (
    TINY,
    CalibratedPipeState,
    common_matrix_flop,
    vector_excess,
)
from flopwitness.estimate.predictors.signature import Inverted, SignatureState
from flopwitness.estimate.predictors.state import PlainState
from flopwitness.physics.components import FORMATS

FUSED_COLUMNS = (
    "matrix_flop",
    "vector_flop",
    "integer_matrix_flop",
    "double_matrix_flop",
    "tensor_cycles",
    "fp32_cycles",
    "int_cycles",
    "dram_bytes",
    "sm_active_cycles",
    "occupancy_cycles",
)
"""Feature columns in the order that this predictor expects; the signature begins at ``FIRST_SIGNAL``."""

FIRST_SIGNAL = 4
INTEGER_COLUMN = 2
"""First of the two columns of other matrix pipes."""

OWN_PIPE_RATIO = 0.02
"""Above this ratio of the work of other pipes to that of the common one, the signature says nothing."""

TYPICAL_MISFIT = 10.0
"""Nearly every benign run is explained better than this; see ``format_choice.GATE_MISFIT``."""

Packed = tuple[tuple[int, ...], bytes]
"""Shape and content of an array: something that can be looked up by."""


class FusedAnswer(NamedTuple):
    """What is known of each session, arrays of shape (n_sessions,).

    Attributes
    ----------
    point_flop : ndarray
        The estimate; NaN where the matrix pipes are not known.
    low_log, high_log : ndarray
        ln of the least and the most that any plausible format makes of it, over the point.
    most_log : ndarray
        The same of any format that is possible where somebody hides.
    misfit : ndarray
        Of the format that the point rests on, in squared standard deviations; infinite where none explains
        the signals.
    is_identified : ndarray of bool
        Whether one kind of format is nearly certain.
    is_other_format : ndarray of bool
        Whether the point rests on another format than half precision.
    probability : ndarray of shape (n_sessions, 1 + n_formats)
        Of half precision and of each of ``FORMATS``; NaN where no format explains the signals.
    """

    point_flop: NDArray[np.float64]
    low_log: NDArray[np.float64]
    high_log: NDArray[np.float64]
    most_log: NDArray[np.float64]
    misfit: NDArray[np.float64]
    is_identified: NDArray[np.bool_]
    probability: NDArray[np.float64]
    is_other_format: NDArray[np.bool_]


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
    flop_per_pipe_flop, vector_ratio, integer_per_pipe_flop, double_per_pipe_flop,
    byproduct_per_pipe_flop : float
        As in ``CalibratedPipeState``.
    response, whitening, format_response, format_whitening : ndarray
        Of ``SignatureState``; empty where no shapes were known when this was fitted.
    is_algorithmic : float
        1 where the target counts attention in full, 0 for executed FLOP.
    blend_ratio : float
        How far the answer moves from the constant to what the signature says, 0 to 1.
    largest_misfits : ndarray of shape (1 + n_formats,)
        Signatures that a format explains worse than this are not explained by it.
    neighbour_signatures : ndarray of shape (n_runs, n_signals - 1)
        Whitened signatures of the calibration runs.
    neighbour_weights : ndarray of shape (n_runs,)
        Weights of the Gaussian-process mean.
    neighbour_length, correction_log : float
        Length of its kernel, in standard deviations; what it falls back on far from every run.
    unknown_low_log, unknown_high_log : float
        ln of the least and the most that a cycle of the matrix pipe is worth in any format of the chip, over
        what it is worth in half precision.
    usual_doubt_log, largest_doubt_log : float, > 0
        How far the shapes that explain a calibration run differ in FLOP (``Inverted``): the median and the
        most.
    """

    flop_per_pipe_flop: float
    vector_ratio: float
    integer_per_pipe_flop: float
    double_per_pipe_flop: float
    byproduct_per_pipe_flop: float
    response: NDArray[np.float64]
    whitening: NDArray[np.float64]
    format_response: NDArray[np.float64]
    format_whitening: NDArray[np.float64]
    is_algorithmic: float
    blend_ratio: float
    largest_misfits: NDArray[np.float64]
    neighbour_signatures: NDArray[np.float64]
    neighbour_weights: NDArray[np.float64]
    neighbour_length: float
    correction_log: float
    unknown_low_log: float
    unknown_high_log: float
    usual_doubt_log: float
    largest_doubt_log: float

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,); NaN where the matrix pipes are not known."""
        return self.answer(X).point_flop

    def answer(self, X: ArrayLike) -> FusedAnswer:
        """Return the estimate of each session and what is known about it."""
        columns = np.asarray(X, dtype=np.float64)
        answer = self._by_constants(columns)
        rows = np.flatnonzero(self._has_signature(columns))
        if len(rows):
            for whole, part in zip(answer, self._by_signature(columns[rows], answer, rows), strict=True):
                whole[rows] = part
        return answer

    def strangeness(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how unlike the calibration each session is, shape (n_sessions,), >= 1.

        The root of 1 + misfit over the ``TYPICAL_MISFIT``: what lies far from every known shape is estimated
        worse. A session that nothing explains counts as one at the limit of explanation.
        """
        misfit = np.minimum(self.answer(X).misfit, self.largest_misfits.max(initial=0.0))
        strange: NDArray[np.float64] = np.sqrt(1 + misfit / TYPICAL_MISFIT)
        return strange

    def spread(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how many times the usual error each session may be off by, shape (n_sessions,), >= 1.

        The strangeness, times how far the shapes that explain the session differ in FLOP over what is usual:
        narrow heads against long sequences leave one signature and different FLOP. A session that nothing
        explains counts as the most doubtful calibration run.
        """
        columns = np.asarray(X, dtype=np.float64)
        doubt = np.full(len(columns), self.largest_doubt_log)
        rows = np.flatnonzero(self._has_signature(columns))
        if len(rows):
            inverted = inverted_signature(self._signature, columns[rows])
            own = inverted.target(is_algorithmic=bool(self.is_algorithmic))[1][:, 0]
            doubt[rows] = np.where(np.isfinite(self.answer(columns).misfit[rows]), own, doubt[rows])
        spread: NDArray[np.float64] = self.strangeness(columns)
        return spread * np.maximum(doubt / self.usual_doubt_log, 1.0)

    def _by_constants(self, columns: NDArray[np.float64]) -> FusedAnswer:
        """Answer as if no signature were known; formats are open where the common pipe did the work."""
        point = self._pipes.predict(columns)
        common = common_matrix_flop(columns) * self.flop_per_pipe_flop
        served = self._pipes.byproduct(columns)
        valued = common - served * (self.flop_per_pipe_flop - self.byproduct_per_pipe_flop)
        low, high = (
            _opened_log(point, valued, common * np.exp(end))
            for end in (self.unknown_low_log, self.unknown_high_log)
        )
        nowhere = np.full(len(columns), np.inf)
        unknown = np.full((len(columns), 1 + len(FORMATS)), np.nan)
        is_known = common <= OWN_PIPE_RATIO * point
        other = np.zeros(len(columns), dtype=np.bool_)
        return FusedAnswer(point, np.minimum(low, 0.0), high, high.copy(), nowhere, is_known, unknown, other)

    def _by_signature(
        self, columns: NDArray[np.float64], constant: FusedAnswer, rows: NDArray[np.int64]
    ) -> FusedAnswer:
        inverted = inverted_signature(self._signature, columns)
        choice = chosen_formats(inverted.misfit, inverted.evidence_log, self.largest_misfits)
        explained = choice.weight.sum(axis=1) > 0
        flop_log = self._flop_log(columns, inverted)
        by_weight = np.where(choice.weight > 0, choice.weight * flop_log, 0.0).sum(axis=1)
        point_log = np.where(explained, by_weight, np.log(constant.point_flop[rows]))
        over_point = flop_log - point_log[:, None]
        plausible, possible = (
            np.where(chosen, over_point, 0.0) for chosen in (choice.is_plausible, choice.is_possible)
        )
        return FusedAnswer(
            np.exp(point_log),
            np.where(explained, plausible.min(axis=1), constant.low_log[rows]),
            np.where(explained, plausible.max(axis=1), constant.high_log[rows]),
            np.where(explained, possible.max(axis=1), constant.high_log[rows]),
            np.where(choice.weight > 0, inverted.misfit, np.inf).min(axis=1),
            choice.is_identified,
            np.where(choice.is_explained[:, None], choice.probability, np.nan),
            explained & (choice.weight[:, 0] == 0),
        )

    def _flop_log(self, columns: NDArray[np.float64], inverted: Inverted) -> NDArray[np.float64]:
        """Return ln FLOP under each format, half precision corrected, shape (n_sessions, 1 + n_formats)."""
        per_signal, _ = inverted.target(is_algorithmic=bool(self.is_algorithmic))
        flop_log = per_signal + np.log(columns[:, FIRST_SIGNAL])[:, None]
        constant_log = np.log(columns[:, 0]) + np.log(self.flop_per_pipe_flop)
        signature = self._signature.whitened(columns[:, FIRST_SIGNAL:])
        likeness = kernel(signature, self.neighbour_signatures, self.neighbour_length)
        blended = constant_log + self.blend_ratio * (flop_log[:, 0] - constant_log)
        flop_log[:, 0] = blended + self.correction_log + likeness @ self.neighbour_weights
        return flop_log

    def _has_signature(self, columns: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say for which sessions every signal is known and the common matrix pipe did the work."""
        if not self.response.size:
            return np.zeros(len(columns), dtype=np.bool_)
        signals = columns[:, [0, *range(FIRST_SIGNAL, columns.shape[1])]]
        known = (np.isfinite(signals) & (signals > 0)).all(axis=1)
        own = np.nan_to_num(columns[:, INTEGER_COLUMN:FIRST_SIGNAL]).sum(axis=1)
        own = own + vector_excess(columns, self.vector_ratio)
        has: NDArray[np.bool_] = known & (own <= OWN_PIPE_RATIO * np.nan_to_num(columns[:, 0]))
        return has

    @property
    def _pipes(self) -> CalibratedPipeState:
        return CalibratedPipeState(
            self.flop_per_pipe_flop,
            self.vector_ratio,
            self.integer_per_pipe_flop,
            self.double_per_pipe_flop,
            self.byproduct_per_pipe_flop,
        )

    @property
    def _signature(self) -> SignatureState:
        return SignatureState(self.response, self.whitening, self.format_response, self.format_whitening)


def inverted_signature(signature: SignatureState, columns: NDArray[np.float64]) -> Inverted:
    """Invert the signatures of sessions; columns are those of ``FUSED_COLUMNS``."""
    arrays = (signature.response, signature.whitening, signature.format_response, signature.format_whitening)
    return _inverted(tuple(map(_packed, arrays)), _packed(columns[:, FIRST_SIGNAL:]))


@lru_cache(maxsize=4)
def _inverted(state: tuple[Packed, ...], signals: Packed) -> Inverted:
    """Invert signatures; the last few are remembered.

    Both targets, point, bounds and the question which format it was rest on one inversion, which costs a
    hundred times what the rest of an estimate does.
    """
    return SignatureState(*map(_unpacked, state)).invert(_unpacked(signals))


def _opened_log(
    point: NDArray[np.float64], valued: NDArray[np.float64], otherwise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ln of what the point would be if a part of it were worth something else, over the point."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(point > 0, (point - valued + otherwise) / point, 1.0)
    opened: NDArray[np.float64] = np.log(np.maximum(ratio, TINY))
    return opened


def _packed(array: NDArray[np.float64]) -> Packed:
    return array.shape, array.tobytes()


def _unpacked(packed: Packed) -> NDArray[np.float64]:
    shape, content = packed
    return np.frombuffer(content).reshape(shape)
