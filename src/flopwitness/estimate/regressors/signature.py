"""Learning the signature: what each component of a training step leaves in each signal, in each format."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from flopwitness.estimate.predictors.shape_search import log_ratios
from flopwitness.estimate.predictors.signature import SignatureState
from flopwitness.physics.components import COMPONENTS, FORMATS, replaced_by, touched_by

ERROR_FLOOR = 0.004
"""Least error that a signal's logarithm is credited with: clocks are read ten times a second at best."""

FORMAT_ERROR_FLOOR = 0.03
"""The same for formats, whose responses are learned from a handful of shapes."""

TINY = np.finfo(np.float64).tiny


class Response(NamedTuple):
    """Fitted weights, shape (n_signals, 8), and ln(fitted / seen) of each run, shape (n_runs, n_signals)."""

    weights: NDArray[np.float64]
    errors_log: NDArray[np.float64]


def fit_signature(
    signals: NDArray[np.float64], components: NDArray[np.float64], *, inflation: float
) -> SignatureState:
    """Fit the response of every signal to the components, and how far signals scatter around it.

    Half precision is learned from runs in nothing else. A format is learned from what its runs leave beyond
    what their half-precise part does.

    Parameters
    ----------
    signals : ndarray of shape (n_runs, n_signals), > 0
        What was seen.
    components : ndarray of shape (n_runs, 8 + n_formats)
        What each run was made of, and the share of its linear FLOP in each format.
    inflation : float
        Multiplies the scatter, >= 1.
    """
    counts, shares = components[:, : len(COMPONENTS)], components[:, len(COMPONENTS) :]
    half = ~(shares > 0).any(axis=1)
    base = _fitted(signals[half], counts[half], np.zeros_like(signals[half]))
    whitening = _whitening(base.errors_log, floor=ERROR_FLOOR, inflation=inflation)
    n_signals = signals.shape[1]
    responses = np.zeros((len(FORMATS), n_signals, len(COMPONENTS)))
    whitenings = np.tile(np.eye(n_signals - 1), (len(FORMATS), 1, 1))
    for number in range(shares.shape[1]):
        chosen = shares[:, number] > 0
        if chosen.any():
            learned = _format_response(base, signals[chosen], counts[chosen], shares[chosen], number)
            responses[number] = learned.weights
            errors = np.concatenate([base.errors_log, np.repeat(learned.errors_log, 3, axis=0)])
            whitenings[number] = _whitening(errors, floor=FORMAT_ERROR_FLOOR, inflation=inflation)
    return SignatureState(base.weights, whitening, responses, whitenings)


def _format_response(
    base: Response,
    signals: NDArray[np.float64],
    counts: NDArray[np.float64],
    shares: NDArray[np.float64],
    number: int,
) -> Response:
    share = shares[:, [number]]
    left = (counts * (1 - share * replaced_by(FORMATS[number]))) @ base.weights.T
    return _fitted(signals, counts * share * touched_by(FORMATS[number]), left)


def _fitted(
    signals: NDArray[np.float64], counts: NDArray[np.float64], known: NDArray[np.float64]
) -> Response:
    """Fit what is not known of each signal: relative non-negative least squares.

    A component can only add to what the hardware does.
    """
    weights, errors = [], []
    for signal, before in zip(signals.T, known.T, strict=True):
        relative = counts / signal[:, None]
        scale = np.maximum(relative.max(axis=0), TINY)
        fitted = nnls(relative / scale, np.maximum(1 - before / signal, 0.0))[0] / scale
        fitted = np.where(relative.any(axis=0), fitted, 0.0)
        weights.append(fitted)
        errors.append(np.log(np.maximum(relative @ fitted + before / signal, TINY)))
    return Response(np.array(weights), np.column_stack(errors))


def _whitening(errors_log: NDArray[np.float64], *, floor: float, inflation: float) -> NDArray[np.float64]:
    unlike = log_ratios(np.exp(errors_log))
    scatter = unlike.T @ unlike / len(unlike) + floor**2 * np.eye(unlike.shape[1])
    whitening: NDArray[np.float64] = np.linalg.cholesky(np.linalg.inv(scatter * inflation**2))
    return whitening
