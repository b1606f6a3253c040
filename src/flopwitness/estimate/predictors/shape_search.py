"""Search for the shape that explains signals, over every session and every discrete choice at once.

A discrete choice is a head width, an optimiser and a number format; what is searched for continuously are the
logarithms of five sizes and, with another format than half precision, the share of the work that runs in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.physics.components import block_share, step_components, step_flop_pair

PRIOR_MEAN = np.log([2000.0, 16.0, 4.0, 1500.0, 16000.0])
"""Width, layers, feed-forward width over width, sequence length, tokens per GPU and step: typical values."""

PRIOR_SPREAD = np.array([1.0, 1.0, 0.6, 1.0, 1.2])
"""Standard deviation of each logarithm: a factor of 2.7 either way is one sigma for most of them."""

SHARE_MEAN, SHARE_SPREAD = 3.0, 2.5
"""Of ln(share / (1 - share)) of the blocks: most runs that leave half precision leave it altogether.

Chosen by leaving one configuration of h200x2-f-formats out after the other, among four priors; see ADR 16.
"""

ASSUMED_VOCABULARY = 32_000.0
N_ROUNDS = 15
LARGEST_MOVE = 1.0
DIFFERENCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The discrete choices of one number format.

    Attributes
    ----------
    head_width, is_adam : ndarray of shape (n_choices,)
        What a shape does not say by its sizes.
    response : ndarray of shape (n_signals, 8)
        Signal per unit of each component in half precision.
    whitening : ndarray of shape (n_signals - 1, n_signals - 1)
        Makes the logarithms of signals over signal 0 have unit, uncorrelated errors.
    other_response : ndarray of shape (n_signals, 8), or None
        Signal per unit of each component of what runs in the other format; None in half precision.
    replaced : ndarray of shape (8,), bool, or None
        Components that the other format takes over.
    spares_head : bool
        Whether the output head stays in half precision.
    """

    head_width: NDArray[np.float64]
    is_adam: NDArray[np.float64]
    response: NDArray[np.float64]
    whitening: NDArray[np.float64]
    other_response: NDArray[np.float64] | None = None
    replaced: NDArray[np.bool_] | None = None
    spares_head: bool = False

    @property
    def prior(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of what is searched for."""
        if self.other_response is None:
            return PRIOR_MEAN, PRIOR_SPREAD
        return np.append(PRIOR_MEAN, SHARE_MEAN), np.append(PRIOR_SPREAD, SHARE_SPREAD)

    def signals(
        self, components: NDArray[np.float64], share: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return what components of shape (..., 8) leave, shape (..., n_signals)."""
        if share is None or self.other_response is None or self.replaced is None:
            half: NDArray[np.float64] = components @ self.response.T
            return half
        mixed: NDArray[np.float64] = (components * (1 - share * self.replaced)) @ self.response.T
        return mixed + (components * share) @ self.other_response.T


class ShapeSearch:
    """Damped Gauss-Newton from the middle of the prior.

    Parameters
    ----------
    choices : Choices
        Of one format.
    observed : ndarray of shape (n_sessions, n_signals - 1)
        Logarithms of signals over signal 0.

    Attributes
    ----------
    executed_log, algorithmic_log : ndarray of shape (n_sessions, n_choices)
        ln(FLOP / signal 0) of the best shape of each choice.
    distance : ndarray of shape (n_sessions, n_choices)
        Its squared distance in standard deviations, prior included.
    """

    def __init__(self, choices: Choices, observed: NDArray[np.float64]) -> None:
        self._choices = choices
        self._observed = (observed @ choices.whitening)[:, None, :]
        self._mean, self._spread = choices.prior
        lead = (len(observed), len(choices.head_width))
        self._logs = np.broadcast_to(self._mean, (*lead, len(self._mean))).copy()
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
        """Return ln det of the curvature at the answer: sharp answers cover little of the prior.

        In units of the prior, so that a format with one size more to choose is charged for it.
        """
        jacobian = self._jacobian() * self._spread
        curvature: NDArray[np.float64] = np.linalg.slogdet(np.swapaxes(jacobian, -1, -2) @ jacobian)[1]
        return curvature

    def _step(self) -> NDArray[np.float64]:
        jacobian = self._jacobian()
        transposed = np.swapaxes(jacobian, -1, -2)
        curvature = transposed @ jacobian
        size = np.diagonal(curvature, axis1=-2, axis2=-1)
        curvature += (self._damping[..., None] * size)[..., None] * np.eye(len(self._mean))
        step = -np.linalg.solve(curvature, transposed @ self._residual[..., None])[..., 0]
        return np.clip(step, -LARGEST_MOVE, LARGEST_MOVE)

    def _jacobian(self) -> NDArray[np.float64]:
        columns = [
            (self._simulate(self._logs + DIFFERENCE * direction)[0] - self._residual) / DIFFERENCE
            for direction in np.eye(len(self._mean))
        ]
        return np.stack(columns, axis=-1)

    def _simulate(
        self, logs: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return residuals, prior included, and both FLOP counts over signal 0, as logarithms."""
        shapes = self._shapes(logs)
        has_share = logs.shape[-1] > len(PRIOR_MEAN)
        share = self._share(shapes, logs[..., -1]) if has_share else None
        signals = self._choices.signals(step_components(shapes), share)
        executed, algorithmic = step_flop_pair(shapes)
        unlike = log_ratios(signals) @ self._choices.whitening - self._observed
        residual = np.concatenate([unlike, (logs - self._mean) / self._spread], axis=-1)
        reference = np.log(signals[..., 0])
        return residual, np.log(executed) - reference, np.log(algorithmic) - reference

    def _share(self, shapes: NDArray[np.float64], log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of all linear FLOP in the other format, shape (n_sessions, n_choices, 1)."""
        share = 1 / (1 + np.exp(-log_odds))
        if self._choices.spares_head:
            share = share * block_share(shapes)
        return share[..., None]

    def _shapes(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        width, layers, hidden_ratio, length, tokens = np.moveaxis(np.exp(logs[..., : len(PRIOR_MEAN)]), -1, 0)
        ones = np.ones_like(width)
        return np.stack(
            [
                tokens / length,
                length,
                width,
                layers,
                hidden_ratio * width,
                width / self._choices.head_width,
                self._choices.is_adam * ones,
                ASSUMED_VOCABULARY * ones,
            ],
            axis=-1,
        )


def log_ratios(signals: ArrayLike) -> NDArray[np.float64]:
    """Return ln of every signal over signal 0, shape (..., n_signals - 1)."""
    logs: NDArray[np.float64] = np.log(np.asarray(signals, dtype=np.float64))
    ratios: NDArray[np.float64] = logs[..., 1:] - logs[..., :1]
    return ratios
