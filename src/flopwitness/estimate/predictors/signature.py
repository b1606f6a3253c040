"""Which transformer would leave these signals, and in which number format? The joint signature, inverted.

A training step is made of few components (``flopwitness.physics.components``), and each hardware signal is,
within about one per cent, a fixed non-negative mixture of them: the response matrix, learned from runs of
known shape. For a session of unknown shape the mixture is inverted: over head widths and optimisers, find the
shape whose simulated signals lie nearest (Gauss-Newton with damping, a broad log-normal prior), and weigh the
answers by their evidence (Laplace). That shape tells what one counter cannot: how many of the matrix FLOP
belong to attention, how well its kernels fill the tensor pipe, and, where half precision explains nothing,
which other format does: the counter of the matrix pipe reads alike for all of them.

The shape itself is used up inside and never reported: a verifier has no business knowing it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.estimate.predictors.shape_search import Choices, ShapeSearch, log_ratios
from flopwitness.estimate.predictors.state import PlainState
from flopwitness.physics.components import CAST_FORMATS, FORMATS, replaced_by

__all__ = ["Inverted", "SignatureState", "log_ratios"]

HEAD_WIDTHS = np.array([32.0, 64.0, 128.0, 256.0])
HEAD_WIDTH_SHARES = np.array([0.15, 0.25, 0.45, 0.15])
ADAM_SHARES = np.array([0.15, 0.85])
"""Prior of SGD and of Adam: two of the discrete choices; the others are the head widths."""

EVIDENCE_FREEDOM = 8.0
"""Degrees of freedom of the Student distribution by which formats are compared.

A normal distribution would call the lesser of two bad explanations certain.
"""


class Inverted(NamedTuple):
    """What the inversion says of each session in each format, arrays of shape (n_sessions, 1 + n_formats).

    Column 0 is half precision, the others are ``flopwitness.physics.components.FORMATS``. ``executed_log``
    and ``algorithmic_log`` are ln(FLOP / signal 0); ``misfit`` is the squared distance, in standard
    deviations, between the signals and the best shape's, prior included; ``evidence_log`` compares formats. A
    format that was never learned has NaN, an infinite misfit and no evidence. ``executed_doubt_log`` and
    ``algorithmic_doubt_log`` are the standard deviations of the first two over head widths and optimisers,
    weighed by their evidence.
    """

    executed_log: NDArray[np.float64]
    algorithmic_log: NDArray[np.float64]
    misfit: NDArray[np.float64]
    evidence_log: NDArray[np.float64]
    executed_doubt_log: NDArray[np.float64]
    algorithmic_doubt_log: NDArray[np.float64]

    def target(self, *, is_algorithmic: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return ln(FLOP / signal 0) of a target and its doubt."""
        if is_algorithmic:
            return self.algorithmic_log, self.algorithmic_doubt_log
        return self.executed_log, self.executed_doubt_log


@dataclass(frozen=True, slots=True, eq=False)
class SignatureState(PlainState):
    """The learned mixture.

    Attributes
    ----------
    response : ndarray of shape (n_signals, 8)
        Signal per unit of each component in half precision; signal 0 is the one that FLOP are counted by.
    whitening : ndarray of shape (n_signals - 1, n_signals - 1)
        Makes the logarithms of signals over signal 0 have unit, uncorrelated errors.
    format_response : ndarray of shape (n_formats, n_signals, 8)
        The same in each other format; all 0 for a format that no calibration run was in. May be empty.
    format_whitening : ndarray of shape (n_formats, n_signals - 1, n_signals - 1)
        The same in each other format, whose responses rest on fewer runs.
    """

    response: NDArray[np.float64]
    whitening: NDArray[np.float64]
    format_response: NDArray[np.float64]
    format_whitening: NDArray[np.float64]

    def whitened(self, signals: ArrayLike) -> NDArray[np.float64]:
        """Return each session's signature, shape (n_sessions, n_signals - 1)."""
        return log_ratios(signals) @ self.whitening

    @property
    def known_formats(self) -> tuple[int, ...]:
        """Positions in ``FORMATS`` of the formats that were learned."""
        return tuple(number for number, response in enumerate(self.format_response) if response.any())

    def invert(self, signals: ArrayLike) -> Inverted:
        """Find the shapes and formats behind signals of shape (n_sessions, n_signals), all > 0."""
        observed = log_ratios(signals)
        table = np.full((len(Inverted._fields), len(observed), 1 + len(FORMATS)), np.nan)
        table[2:4] = np.array([np.inf, -np.inf])[:, None, None]
        for number in (None, *self.known_formats):
            column = 0 if number is None else 1 + number
            table[:, :, column] = _explained(self._choices(number), observed)
        return Inverted(*table)

    def _choices(self, number: int | None = None) -> Choices:
        width, adam = (grid.ravel() for grid in np.meshgrid(HEAD_WIDTHS, [0.0, 1.0], indexing="ij"))
        if number is None:
            return Choices(width, adam, self.response, self.whitening)
        return Choices(
            width,
            adam,
            self.response,
            self.format_whitening[number],
            self.format_response[number],
            replaced_by(FORMATS[number]),
            spares_head=FORMATS[number] in CAST_FORMATS,
        )


def _explained(choices: Choices, observed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fields of ``Inverted`` under one format, shape (6, n_sessions)."""
    search = ShapeSearch(choices, observed)
    search.run()
    log_prior = np.log(np.outer(HEAD_WIDTH_SHARES, ADAM_SHARES).ravel())
    log_occam = log_prior - search.log_curvature() / 2
    log_weight = log_occam - search.distance / 2
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    misfit = search.distance.min(axis=1)
    # A Student tail of how far the nearest shape is. How narrow a format expects its signals to be is left
    # out: it says how many runs the format was learned from, not how likely it is.
    tail = (EVIDENCE_FREEDOM + observed.shape[1]) / 2 * np.log1p(misfit / EVIDENCE_FREEDOM)
    evidence = (weight * log_occam).sum(axis=1) - tail
    logs = np.stack([search.executed_log, search.algorithmic_log])
    means = (weight * logs).sum(axis=-1)
    doubts = np.sqrt((weight * (logs - means[..., None]) ** 2).sum(axis=-1))
    return np.stack([*means, misfit, evidence, *doubts])
