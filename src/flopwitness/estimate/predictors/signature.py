"""Which transformer would leave these signals? The joint signature of all pipes, memory and links, inverted.

A training step is made of few components (``flopwitness.physics.components``), and each hardware signal is,
within about one per cent, a fixed non-negative mixture of them: the response matrix, learned from runs of
known shape. For a session of unknown shape the mixture is inverted: over head widths and optimisers, find the
shape whose simulated signals lie nearest (Gauss-Newton with damping, a broad log-normal prior), and weigh the
answers by their evidence (Laplace). That shape tells what one counter cannot: how many of the matrix FLOP
belong to attention, and how well its kernels fill the tensor pipe.

The shape itself is used up inside and never reported: a verifier has no business knowing it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.state import PlainState
from flopwitness.physics.components import step_components, step_flop_pair

PRIOR_MEAN = np.log([2000.0, 16.0, 4.0, 1500.0, 16000.0])
"""Width, layers, feed-forward width over width, sequence length, tokens per GPU and step: typical values."""

PRIOR_SPREAD = np.array([1.0, 1.0, 0.6, 1.0, 1.2])
"""Standard deviation of each logarithm: a factor of 2.7 either way is one sigma for most of them."""

HEAD_WIDTHS = np.array([32.0, 64.0, 128.0, 256.0])
HEAD_WIDTH_SHARES = np.array([0.15, 0.25, 0.45, 0.15])
ADAM_SHARES = np.array([0.15, 0.85])
"""Prior of SGD and of Adam: two of the discrete choices; the others are the head widths."""

ASSUMED_VOCABULARY = 32_000.0
N_ROUNDS = 15
LARGEST_MOVE = 1.0
DIFFERENCE = 1e-4


class Inverted(NamedTuple):
    """What the inversion says of each session, arrays of shape (n_sessions,).

    ``executed_log`` and ``algorithmic_log`` are ln(FLOP / signal 0); ``misfit`` is the squared distance, in
    standard deviations, between the signals and the best shape's, prior included.
    """

    executed_log: NDArray[np.float64]
    algorithmic_log: NDArray[np.float64]
    misfit: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SignatureState(PlainState):
    """The learned mixture.

    Attributes
    ----------
    response : ndarray of shape (n_signals, 8)
        Signal per unit of each component; signal 0 is the one that FLOP are counted by.
    whitening : ndarray of shape (n_signals - 1, n_signals - 1)
        Makes the logarithms of signals over signal 0 have unit, uncorrelated errors.
    """

    response: NDArray[np.float64]
    whitening: NDArray[np.float64]

    def whitened(self, signals: ArrayLike) -> NDArray[np.float64]:
        """Return each session's signature, shape (n_sessions, n_signals - 1)."""
        return log_ratios(signals) @ self.whitening

    def invert(self, signals: ArrayLike) -> Inverted:
        """Find the shapes behind signals of shape (n_sessions, n_signals), all > 0."""
        head_width, is_adam, log_prior = _choices()
        observed = self.whitened(signals)[:, None, :]
        search = _Search(self, observed, head_width, is_adam)
        search.run()
        log_weight = log_prior - search.distance / 2 - search.log_curvature() / 2
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        return Inverted(
            (weight * search.executed_log).sum(axis=1),
            (weight * search.algorithmic_log).sum(axis=1),
            search.distance.min(axis=1),
        )


def log_ratios(signals: ArrayLike) -> NDArray[np.float64]:
    """Return ln of every signal over signal 0, shape (..., n_signals - 1)."""
    logs: NDArray[np.float64] = np.log(np.asarray(signals, dtype=np.float64))
    ratios: NDArray[np.float64] = logs[..., 1:] - logs[..., :1]
    return ratios


def _choices() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return head width, optimiser and log prior of each discrete choice."""
    width, adam = (grid.ravel() for grid in np.meshgrid(HEAD_WIDTHS, [0.0, 1.0], indexing="ij"))
    shares = np.outer(HEAD_WIDTH_SHARES, ADAM_SHARES).ravel()
    return width, adam, np.log(shares)


class _Search:
    """Damped Gauss-Newton over every session and every discrete choice at once."""

    def __init__(
        self,
        state: SignatureState,
        observed: NDArray[np.float64],
        head_width: NDArray[np.float64],
        is_adam: NDArray[np.float64],
    ) -> None:
        self._state, self._observed = state, observed
        self._head_width, self._is_adam = head_width, is_adam
        lead = (len(observed), len(head_width))
        self._logs = np.broadcast_to(PRIOR_MEAN, (*lead, len(PRIOR_MEAN))).copy()
        self._damping = np.ones(lead)
        self._residual, self.executed_log, self.algorithmic_log = self._simulate(self._logs)
        self.distance = (self._residual**2).sum(axis=-1)

    def run(self) -> None:
        """Take the rounds; a step that does not help is not taken and damped the next time."""
        for _ in range(N_ROUNDS):
            moved = self._logs + self._step()
            residual, executed, algorithmic = self._simulate(moved)
            distance = (residual**2).sum(axis=-1)
            better = distance < self.distance
            wide = better[..., None]
            self._logs = np.where(wide, moved, self._logs)
            self._residual = np.where(wide, residual, self._residual)
            self.executed_log = np.where(better, executed, self.executed_log)
            self.algorithmic_log = np.where(better, algorithmic, self.algorithmic_log)
            self.distance = np.where(better, distance, self.distance)
            self._damping = np.clip(self._damping * np.where(better, 0.25, 4.0), 1e-6, 1e6)

    def log_curvature(self) -> NDArray[np.float64]:
        """Return ln det of the curvature at the answer: sharp answers cover little of the prior."""
        jacobian = self._jacobian()
        curvature: NDArray[np.float64] = np.linalg.slogdet(np.swapaxes(jacobian, -1, -2) @ jacobian)[1]
        return curvature

    def _step(self) -> NDArray[np.float64]:
        jacobian = self._jacobian()
        transposed = np.swapaxes(jacobian, -1, -2)
        curvature = transposed @ jacobian
        size = np.diagonal(curvature, axis1=-2, axis2=-1)
        curvature += (self._damping[..., None] * size)[..., None] * np.eye(len(PRIOR_MEAN))
        step = -np.linalg.solve(curvature, transposed @ self._residual[..., None])[..., 0]
        return np.clip(step, -LARGEST_MOVE, LARGEST_MOVE)

    def _jacobian(self) -> NDArray[np.float64]:
        columns = [
            (self._simulate(self._logs + DIFFERENCE * direction)[0] - self._residual) / DIFFERENCE
            for direction in np.eye(len(PRIOR_MEAN))
        ]
        return np.stack(columns, axis=-1)

    def _simulate(
        self, logs: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return residuals, prior included, and both FLOP counts over signal 0, as logarithms."""
        shapes = self._shapes(logs)
        signals = step_components(shapes) @ self._state.response.T
        executed, algorithmic = step_flop_pair(shapes)
        unlike = log_ratios(signals) @ self._state.whitening - self._observed
        residual = np.concatenate([unlike, (logs - PRIOR_MEAN) / PRIOR_SPREAD], axis=-1)
        reference = np.log(signals[..., 0])
        return residual, np.log(executed) - reference, np.log(algorithmic) - reference

    def _shapes(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        width, layers, hidden_ratio, length, tokens = np.moveaxis(np.exp(logs), -1, 0)
        ones = np.ones_like(width)
        return np.stack(
            [
                tokens / length,
                length,
                width,
                layers,
                hidden_ratio * width,
                width / self._head_width,
                self._is_adam * ones,
                ASSUMED_VOCABULARY * ones,
            ],
            axis=-1,
        )
