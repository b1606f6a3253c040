"""How alike two signatures are, and what that says: one run, or two."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.detect.jobs.signature import SIGNALS

Z_CAP = 30.0
"""One signal counts at most this many scales: which beyond say no more."""

MIN_SIGNALS = 3
"""Signatures with fewer signals in common are not compared."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Scales of the signals within one run, and the odds of a distance.

    The distance of two signatures is the root mean square of their differences, each over its scale. One
    number and not a sum over signals, because signals move together. Its log-likelihood ratio is a line over
    its logarithm, cut at both ends.

    Attributes
    ----------
    scales : tuple of float
        Of each of ``SIGNALS``, > 0.
    even_distance : float
        Where one run and two are equally likely, > 0.
    steepness : float
        How fast the odds fall: per factor e of distance, > 0.
    most, least : float
        The cuts, ``least < 0 < most``.
    """

    scales: tuple[float, ...]
    even_distance: float
    steepness: float
    most: float = 4.0
    least: float = -4.0

    def __post_init__(self) -> None:
        """Refuse what orders nothing."""
        if len(self.scales) != len(SIGNALS) or min(self.scales) <= 0:
            raise InvalidNounError(f"expected {len(SIGNALS)} scales above 0, got {self.scales}")
        if not (self.even_distance > 0 and self.steepness > 0 and self.least < 0 < self.most):
            raise InvalidNounError("a distance must speak for one run when small, for two when large")

    def distances(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distance of signatures, shape (..., n_signals) to (...); NaN with too few signals."""
        squares = self.differences(first, second) ** 2
        known = np.isfinite(squares)
        n_known = known.sum(axis=-1)
        means = np.where(known, squares, 0.0).sum(axis=-1) / np.maximum(n_known, 1)
        return np.where(n_known >= MIN_SIGNALS, np.sqrt(means), np.nan)

    def differences(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how many scales each signal differs, cut at ``Z_CAP``; NaN where one lacks it."""
        found: NDArray[np.float64] = np.minimum(np.abs(first - second) / np.array(self.scales), Z_CAP)
        return found

    def log_ratios(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-likelihood ratios, one run over two; NaN where the distance is."""
        tiny = self.even_distance * np.exp(-self.most / self.steepness)
        logs = np.log(np.maximum(distances, tiny) / self.even_distance)
        found: NDArray[np.float64] = np.clip(-self.steepness * logs, self.least, self.most)
        return found
