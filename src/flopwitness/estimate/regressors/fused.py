"""How the three layers of the fused estimate are learned."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.format_choice import GATE_MISFIT
from flopwitness.estimate.predictors.fused import (
    FIRST_SIGNAL,
    INTEGER_COLUMN,
    OWN_PIPE_RATIO,
    FusedState,
    inverted_signature,
    kernel,
)
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, vector_excess
from flopwitness.estimate.predictors.signature import SignatureState
from flopwitness.estimate.regressors.base import FlopRegressor, log_ratio
from flopwitness.estimate.regressors.pipe_cycles import fit_constant
from flopwitness.estimate.regressors.signature import fit_signature
from flopwitness.physics.components import COMPONENTS, FORMATS, is_half_precision

MIN_RUNS = 20
"""Fewer runs of known shape than this cannot fix eight components a signal; the constant answers alone."""

MISFIT_MARGIN = 1.5
"""A session may fit this many times worse than the worst calibration run and still count as explained."""

UNKNOWN_LOG = (float(np.log(0.25)), float(np.log(2.0)))
"""What a cycle of the matrix pipe may be worth over half precision where no format was calibrated.

FP8 products do twice the operations of FP16 in a cycle (NVIDIA H100 white paper, table 2); TF32 half, and a
kernel that splits FP32 values for three TF32 products less than a quarter of what the counter then reads.
"""

UNKNOWN_MARGIN_LOG = float(np.log(1.03))
"""Added to either end of what calibrated formats show."""


SMALLEST_DOUBT_LOG = 0.001
"""No shape is told from another closer than this: a tenth of what clocks read ten times a second leave."""

_EMPTY = np.empty(0)
_NO_SIGNATURE = SignatureState(_EMPTY, _EMPTY, _EMPTY, _EMPTY)


class FusedRegressor(FlopRegressor):
    """Constant, signature and neighbours; see ``flopwitness.estimate.predictors.fused``.

    Parameters
    ----------
    is_algorithmic : bool
        Whether the target counts attention in full.
    blend_ratio : float
        How far to follow the signature: 1 for algorithmic FLOP, where it knows what the constant cannot; 0.5
        for executed FLOP, where the constant is already good and the signature adds noise of its own.
    error_inflation : float
        Multiplies the errors of the signals that calibration shows, >= 1: the next run is never drawn from
        quite the same population.
    neighbour_length, neighbour_noise : float
        Kernel length in standard deviations of the signature, and noise over signal of the correction.
    """

    _finite = "allow-nan"

    def __init__(  # noqa: PLR0913  scikit-learn's constructors list every setting
        self,
        *,
        is_algorithmic: bool = False,
        blend_ratio: float = 0.5,
        error_inflation: float = 2.0,
        neighbour_length: float = 3.0,
        neighbour_noise: float = 0.5,
        coverage_ratio: float = 0.9,
        n_folds: int = 0,
    ) -> None:
        super().__init__(coverage_ratio=coverage_ratio, n_folds=n_folds)
        self.is_algorithmic = is_algorithmic
        self.blend_ratio = blend_ratio
        self.error_inflation = error_inflation
        self.neighbour_length = neighbour_length
        self.neighbour_noise = neighbour_noise

    def _learn(
        self, features: NDArray[np.float64], flop: NDArray[np.float64], components: NDArray[np.float64] | None
    ) -> FusedState:
        pipes = fit_constant(features, flop, components)
        unknown = _unknown_log(features, flop, components, pipes)
        usable = _usable(features, flop, components, pipes.vector_ratio)
        half = usable & is_half_precision(components, len(flop))
        if components is None or half.sum() < MIN_RUNS:
            return self._state(pipes, unknown, _NOTHING)
        signature = fit_signature(
            features[usable, FIRST_SIGNAL:], components[usable], inflation=self.error_inflation
        )
        limits = _largest_misfits(signature, features[usable], components[usable])
        neighbours = self._neighbours(signature, features[half], flop[half], pipes)
        return self._state(pipes, unknown, neighbours._replace(largest_misfits=limits), signature)

    def strangeness(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how unlike the calibration each session is, shape (n_sessions,); see ``FusedState``."""
        state = self.state_
        return state.strangeness(X) if isinstance(state, FusedState) else np.ones(len(np.asarray(X)))

    def spread(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how many times the usual error each session may be off by; see ``FusedState``."""
        state = self.state_
        return state.spread(X) if isinstance(state, FusedState) else np.ones(len(np.asarray(X)))

    def _neighbours(
        self,
        signature: SignatureState,
        columns: NDArray[np.float64],
        flop: NDArray[np.float64],
        pipes: CalibratedPipeState,
    ) -> "_Neighbours":
        inverted = inverted_signature(signature, columns)
        per_signal, doubt = inverted.target(is_algorithmic=self.is_algorithmic)
        usual = max(float(np.median(doubt[:, 0])), SMALLEST_DOUBT_LOG)
        largest = max(float(doubt[:, 0].max()), usual)
        base = per_signal[:, 0] + np.log(columns[:, FIRST_SIGNAL]) - np.log(columns[:, 0])
        constant_log = float(np.log(pipes.flop_per_pipe_flop))
        error = log_ratio(flop, columns[:, 0]) - constant_log - self.blend_ratio * (base - constant_log)
        whitened = signature.whitened(columns[:, FIRST_SIGNAL:])
        likeness = kernel(whitened, whitened, self.neighbour_length)
        centre = float(np.median(error))
        noise = self.neighbour_noise**2 * np.eye(len(error))
        weights = np.linalg.solve(likeness + noise, error - centre).astype(np.float64)
        return _Neighbours(whitened, weights, centre, _EMPTY, usual, largest)

    def _state(
        self,
        pipes: CalibratedPipeState,
        unknown: tuple[float, float],
        neighbours: "_Neighbours",
        signature: SignatureState = _NO_SIGNATURE,
    ) -> FusedState:
        return FusedState(
            flop_per_pipe_flop=pipes.flop_per_pipe_flop,
            vector_ratio=pipes.vector_ratio,
            integer_per_pipe_flop=pipes.integer_per_pipe_flop,
            double_per_pipe_flop=pipes.double_per_pipe_flop,
            byproduct_per_pipe_flop=pipes.byproduct_per_pipe_flop,
            response=signature.response,
            whitening=signature.whitening,
            format_response=signature.format_response,
            format_whitening=signature.format_whitening,
            is_algorithmic=float(self.is_algorithmic),
            blend_ratio=self.blend_ratio,
            largest_misfits=neighbours.largest_misfits,
            neighbour_signatures=neighbours.signatures,
            neighbour_weights=neighbours.weights,
            neighbour_length=self.neighbour_length,
            correction_log=neighbours.correction_log,
            unknown_low_log=unknown[0],
            unknown_high_log=unknown[1],
            usual_doubt_log=neighbours.usual_doubt_log,
            largest_doubt_log=neighbours.largest_doubt_log,
        )


class _Neighbours(NamedTuple):
    """What is kept of the calibration runs; see ``FusedState``."""

    signatures: NDArray[np.float64]
    weights: NDArray[np.float64]
    correction_log: float
    largest_misfits: NDArray[np.float64]
    usual_doubt_log: float
    largest_doubt_log: float


_NOTHING = _Neighbours(_EMPTY, _EMPTY, 0.0, _EMPTY, SMALLEST_DOUBT_LOG, SMALLEST_DOUBT_LOG)


def _largest_misfits(
    signature: SignatureState, columns: NDArray[np.float64], components: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return up to which misfit each format explains signals, shape (1 + n_formats,).

    What the worst calibration run in it shows, and some room; all other formats than half precision share one
    limit, since each rests on a handful of shapes. Half precision explains whatever the gate lets pass as it.
    """
    misfit = inverted_signature(signature, columns).misfit
    is_half = is_half_precision(components, len(columns))
    is_in = components[:, len(COMPONENTS) :] > 0
    half = float(misfit[is_half, 0].max(initial=0.0))
    others = float(np.where(is_in, misfit[:, 1 : 1 + is_in.shape[1]], 0.0).max(initial=0.0))
    limits = MISFIT_MARGIN * np.array([half, *[others] * len(FORMATS)])
    limits[0] = max(limits[0], GATE_MISFIT)
    return limits


def _unknown_log(
    features: NDArray[np.float64],
    flop: NDArray[np.float64],
    components: NDArray[np.float64] | None,
    pipes: CalibratedPipeState,
) -> tuple[float, float]:
    """Return the least and the most that a matrix cycle was worth in any calibrated format.

    Runs that CUDA cores did say nothing about the matrix pipe. Upwards never less than what hardware is known
    to do, since a format that nobody calibrated may run all the same; downwards that stands in where no run
    was in another format.
    """
    with np.errstate(invalid="ignore"):
        matrix = (features[:, 0] > features[:, 1]) if features.shape[1] > 1 else np.ones(len(flop), np.bool_)
    other = matrix & (features[:, 0] > 0) & (flop > 0) & ~is_half_precision(components, len(flop))
    if not other.any():
        return UNKNOWN_LOG
    worth = log_ratio(flop[other], features[other, 0]) - np.log(pipes.flop_per_pipe_flop)
    low, high = min(float(worth.min()), 0.0), max(float(worth.max()), UNKNOWN_LOG[1])
    return low - UNKNOWN_MARGIN_LOG, high + UNKNOWN_MARGIN_LOG


def _usable(
    features: NDArray[np.float64],
    flop: NDArray[np.float64],
    components: NDArray[np.float64] | None,
    vector_ratio: float,
) -> NDArray[np.bool_]:
    """Say which runs teach the signature: every signal known, the common matrix pipe alone at work."""
    signals = features[:, FIRST_SIGNAL:]
    if components is None or signals.shape[1] < 2 or components.shape[1] < len(COMPONENTS):
        return np.zeros(len(flop), dtype=np.bool_)
    complete = np.isfinite(signals).all(axis=1) & (np.nan_to_num(signals) > 0).all(axis=1)
    own = np.nan_to_num(features[:, INTEGER_COLUMN:FIRST_SIGNAL]).sum(axis=1)
    own = own + vector_excess(features, vector_ratio)
    complete &= own <= OWN_PIPE_RATIO * np.nan_to_num(features[:, 0])
    usable: NDArray[np.bool_] = complete & np.isfinite(components).all(axis=1) & (flop > 0)
    return usable
