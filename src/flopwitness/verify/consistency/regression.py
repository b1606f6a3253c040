"""A robust linear fit, kept as plain numbers, that knows how far its data reached."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.predictors.state import PlainState

N_REWEIGHTINGS = 30
HUBER_SCALE = 1.5
"""Residuals beyond this many standard deviations count less: P. J. Huber, "Robust estimation", 1964."""

RIDGE = 1e-2
"""Added to each squared, standardised column: keeps columns that go together from cancelling each other."""

REACH_QUANTILE = 0.99
"""Data are familiar out to this quantile of the distances that the fitted data have from their middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Regression(PlainState):
    """Constants of a linear fit.

    Attributes
    ----------
    middle, spread : ndarray of shape (n_columns,)
        Mean and standard deviation of each column; a spread of 0 marks one that never varied.
    weights : ndarray of shape (n_columns,)
        For standardised columns.
    intercept : float
        Answer at the middle.
    precision : ndarray of shape (n_columns, n_columns)
        Inverse covariance of the standardised columns.
    reach : float
        Mahalanobis distance out to which data are familiar.
    """

    middle: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float
    precision: NDArray[np.float64]
    reach: float

    @classmethod
    def fitted(cls, columns: NDArray[np.float64], answers: NDArray[np.float64]) -> Self:
        """Fit by reweighted ridge regression.

        Parameters
        ----------
        columns : ndarray of shape (n_rows, n_columns)
            Finite.
        answers : ndarray of shape (n_rows,)
            Finite.
        """
        middle: NDArray[np.float64] = columns.mean(axis=0)
        spread: NDArray[np.float64] = columns.std(axis=0)
        made = cls(middle, spread, np.zeros(len(middle)), 0.0, np.eye(len(middle)), 1.0)
        scaled = made.standardised(columns)
        design = np.column_stack([scaled, np.ones(len(answers))])
        penalty = RIDGE * np.eye(design.shape[1])
        trust = np.ones(len(answers))
        for _ in range(N_REWEIGHTINGS):
            weighted = design * trust[:, None]
            solution = np.linalg.solve(weighted.T @ design + penalty, weighted.T @ answers)
            distance = np.abs(answers - design @ solution)
            deviation = 1.4826 * float(np.median(distance)) + 1e-12
            trust = 1.0 / np.maximum(1.0, distance / (HUBER_SCALE * deviation))
        covariance = scaled.T @ scaled / len(scaled) + RIDGE * np.eye(len(middle))
        precision = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        squared = np.einsum("ij,jk,ik->i", scaled, precision, scaled)
        reach = float(np.sqrt(np.quantile(squared, REACH_QUANTILE)))
        weights = np.asarray(solution[:-1], dtype=np.float64)
        return cls(middle, spread, weights, float(solution[-1]), precision, reach)

    def standardised(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return columns in standard deviations from the middle; 0 where the fitted data never varied."""
        varies = self.spread > 0
        scaled: NDArray[np.float64] = np.where(
            varies, (columns - self.middle) / np.where(varies, self.spread, 1.0), 0.0
        )
        return scaled

    def predict(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return answers, shape (n_rows,)."""
        answers: NDArray[np.float64] = self.standardised(columns) @ self.weights + self.intercept
        return answers

    def is_familiar(self, columns: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say which rows lie where the fitted data did, shape (n_rows,)."""
        scaled = self.standardised(columns)
        squared = np.einsum("ij,jk,ik->i", scaled, self.precision, scaled)
        stays = (columns <= self.middle + 1e-3) | (self.spread > 0)
        familiar: NDArray[np.bool_] = (squared <= self.reach**2) & stays.all(axis=1)
        return familiar
