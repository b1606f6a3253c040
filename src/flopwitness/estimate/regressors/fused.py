"""How the three layers of the fused estimate are learned."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from flopwitness.estimate.predictors.fused import FIRST_SIGNAL, FusedState, kernel, signature_log
from flopwitness.estimate.predictors.signature import SignatureState, log_ratios
from flopwitness.estimate.regressors.base import FlopRegressor, log_ratio
from flopwitness.estimate.regressors.pipe_cycles import fit_constant

MIN_RUNS = 20
"""Fewer runs of known shape than this cannot fix eight components a signal; the constant answers alone."""

ERROR_FLOOR = 0.004
"""Least error that a signal's logarithm is credited with: clocks are read ten times a second at best."""

MISFIT_MARGIN = 3.0
"""A session may fit this many times worse than the worst calibration run and still count as explained."""


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
        constant = fit_constant(np.nan_to_num(features), flop)
        constant_log = float(np.log(constant.flop_per_pipe_flop))
        usable = _usable(features, flop, components)
        if components is None or usable.sum() < MIN_RUNS:
            return _constant_alone(constant_log, constant.vector_ratio)
        columns, made_of = features[usable], components[usable]
        signature = fit_signature(columns[:, FIRST_SIGNAL:], made_of, inflation=self.error_inflation)
        base, misfit = signature_log(signature, columns, is_algorithmic=self.is_algorithmic)
        blended = constant_log + self.blend_ratio * (base - constant_log)
        error = log_ratio(flop[usable], columns[:, 0]) - blended
        whitened = signature.whitened(columns[:, FIRST_SIGNAL:])
        likeness = kernel(whitened, whitened, self.neighbour_length)
        centre = float(np.median(error))
        noise = self.neighbour_noise**2 * np.eye(len(error))
        return FusedState(
            constant_log=constant_log,
            vector_ratio=constant.vector_ratio,
            response=signature.response,
            whitening=signature.whitening,
            is_algorithmic=float(self.is_algorithmic),
            blend_ratio=self.blend_ratio,
            largest_misfit=MISFIT_MARGIN * float(misfit.max()),
            neighbour_signatures=whitened,
            neighbour_weights=np.linalg.solve(likeness + noise, error - centre).astype(np.float64),
            neighbour_length=self.neighbour_length,
            correction_log=centre,
        )


def fit_signature(
    signals: NDArray[np.float64], components: NDArray[np.float64], *, inflation: float
) -> SignatureState:
    """Fit the response of every signal to the components, and how far signals scatter around it.

    Relative non-negative least squares for each signal: a component can only add to what the hardware does.
    """
    rows, errors = [], []
    for signal in signals.T:
        relative = components / signal[:, None]
        scale = np.maximum(relative.max(axis=0), np.finfo(np.float64).tiny)
        weights = nnls(relative / scale, np.ones(len(signal)))[0] / scale
        rows.append(weights)
        errors.append(np.log(np.maximum(relative @ weights, np.finfo(np.float64).tiny)))
    spread = np.exp(np.column_stack(errors))
    unlike = log_ratios(spread)
    scatter = unlike.T @ unlike / len(unlike) + ERROR_FLOOR**2 * np.eye(unlike.shape[1])
    whitening = np.linalg.cholesky(np.linalg.inv(scatter * inflation**2))
    return SignatureState(np.array(rows), whitening)


def _usable(
    features: NDArray[np.float64], flop: NDArray[np.float64], components: NDArray[np.float64] | None
) -> NDArray[np.bool_]:
    signals = features[:, FIRST_SIGNAL:]
    if components is None or signals.shape[1] < 2:
        return np.zeros(len(flop), dtype=np.bool_)
    complete = np.isfinite(signals).all(axis=1) & (np.nan_to_num(signals) > 0).all(axis=1)
    usable: NDArray[np.bool_] = complete & np.isfinite(components).all(axis=1) & (flop > 0)
    return usable


def _constant_alone(constant_log: float, vector_ratio: float) -> FusedState:
    nothing = np.empty(0)
    return FusedState(constant_log, vector_ratio, nothing, nothing, 0.0, 0.0, 0.0, nothing, nothing, 1.0, 0.0)
