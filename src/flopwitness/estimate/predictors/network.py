"""The experiment's two networks as plain numbers: logarithms in, two hidden layers, logarithm out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.state import PlainState

TINY = 1e-30
"""Stands in for what has no logarithm."""

PURE_LOGS = (
    (1, 0, 0, 0),  # ln E
    (0, 1, 0, 0),  # ln t
    (0, 0, 1, 0),  # ln D
    (0, 0, 0, 1),  # ln N
    (1, -1, 0, 0),  # ln P = ln(E/t)
    (1, 0, -1, 0),  # ln(E/D)
    (0, 0, -1, 1),  # ln(N/D)
)
"""Inputs of the pure network in ln E, ln t, ln D, ln N (experiment, figure 4)."""

RESIDUAL_LOGS = (
    (1, -1, 0, 0),  # ln P
    (1, 0, -1, 0),  # ln(E/D)
    (0, 0, -1, 1),  # ln(N/D)
    (0, -1, 1, 0),  # ln(D/t)
    (0, -1, 0, 1),  # ln(N/t)
    (0, 1, 0, 0),  # ln t
)
"""Inputs of the residual network (experiment, figure 4)."""


def logarithms(X: ArrayLike, combinations: ArrayLike | None) -> NDArray[np.float64]:
    """Return the logarithms of the columns, combined; as they are where the columns are not the four."""
    logs = np.log(np.maximum(np.asarray(X, dtype=np.float64), TINY))
    if combinations is None or logs.shape[1] != np.shape(combinations)[1]:
        return logs
    return logs @ np.asarray(combinations, dtype=np.float64).T


@dataclass(frozen=True, slots=True, eq=False)
class NetworkState(PlainState):
    """Weights of an ensemble of networks, and the scales around them.

    Attributes
    ----------
    combinations : ndarray of shape (n_inputs, n_columns)
        Which sums of logarithms are the inputs.
    input_mean, input_scale : ndarray of shape (n_inputs,)
        Standardisation of the inputs.
    target_mean, target_scale : float
        Standardisation of the logarithm that comes out.
    base_flop_per_joule : float
        Factor on column 0 that the output corrects; 0 where the output is ln FLOP itself.
    hidden_1, hidden_2, output : ndarray
        Shapes (n_members, n_inputs + 1, n_hidden), (n_members, n_hidden + 1, n_hidden) and
        (n_members, n_hidden + 1, 1): weights with the bias in the last row.
    """

    combinations: NDArray[np.float64]
    input_mean: NDArray[np.float64]
    input_scale: NDArray[np.float64]
    target_mean: float
    target_scale: float
    base_flop_per_joule: float
    hidden_1: NDArray[np.float64]
    hidden_2: NDArray[np.float64]
    output: NDArray[np.float64]

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,): the median over the members."""
        columns = np.asarray(X, dtype=np.float64)
        inputs = (logarithms(columns, self.combinations) - self.input_mean) / self.input_scale
        layer = np.broadcast_to(inputs, (len(self.output), *inputs.shape))
        for weights in (self.hidden_1, self.hidden_2):
            layer = np.maximum(layer @ weights[:, :-1] + weights[:, -1:], 0.0)
        answer = (layer @ self.output[:, :-1] + self.output[:, -1:])[..., 0]
        logarithm = np.median(answer, axis=0) * self.target_scale + self.target_mean
        flop: NDArray[np.float64] = np.exp(np.clip(logarithm, -700.0, 700.0))
        if self.base_flop_per_joule > 0:
            flop = flop * self.base_flop_per_joule * np.maximum(columns[:, 0], 0.0)
        return flop
