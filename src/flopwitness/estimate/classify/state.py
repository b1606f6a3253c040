"""A fitted classifier as plain values: a quadratic logistic form, and what it has seen.

Predicting needs numpy alone, so that a daemon can ask it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.workclass import KNOWN_CLASSES

NEIGHBOURS = 3
"""The distance to the third nearest is what counts: one stray window vouches for nothing."""

BLOCK = 4096
"""Windows whose distances are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassState:
    """What was learned of windows in some columns.

    Attributes
    ----------
    columns : tuple of str
        Which of ``flopwitness.estimate.classify.windows.COLUMNS`` it reads, in its order.
    mean, deviation : ndarray of shape (n_columns,)
        By which columns are standardised.
    weights, intercepts : ndarray of shape (3, n_terms), (3,)
        Of the logits of training, inference and other; terms are the standardised columns and their
        products.
    temperature : float
        By which logits are divided, so that probabilities are shares of left-out families; > 0.
    references : ndarray of shape (n_references, n_columns)
        Standardised windows that it was fitted on.
    reach : float
        Distance to the references beyond which a window is unlike all that was seen; > 0.
    """

    columns: tuple[str, ...]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    temperature: float
    references: NDArray[np.float64]
    reach: float

    def log_probabilities(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ln of the probability of training, inference and other, shape (n_windows, 3)."""
        logits = terms((values - self.mean) / self.deviation) @ self.weights.T + self.intercepts
        logits = logits / self.temperature
        top = logits.max(axis=1, keepdims=True)
        normalised: NDArray[np.float64] = (
            logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
        )
        return normalised

    def distances(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far each window is from what was seen, over the reach, shape (n_windows,)."""
        standardised = (values - self.mean) / self.deviation
        blocks = [
            _third_nearest(standardised[start : start + BLOCK], self.references)
            for start in range(0, len(standardised), BLOCK)
        ]
        return np.concatenate(blocks) / self.reach if blocks else np.empty(0)

    def to_plain(self) -> dict[str, Any]:
        """Return the constants as JSON values."""
        return {
            "columns": list(self.columns),
            "mean": self.mean.tolist(),
            "deviation": self.deviation.tolist(),
            "weights": self.weights.tolist(),
            "intercepts": self.intercepts.tolist(),
            "temperature": self.temperature,
            "references": np.round(self.references, 4).tolist(),
            "reach": self.reach,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Build a state from JSON values.

        Raises
        ------
        CalibrationMismatchError
            When something is missing, no number, or does not fit together.
        """
        try:
            arrays = {
                name: np.asarray(plain[name], dtype=np.float64)
                for name in ("mean", "deviation", "weights", "intercepts", "references")
            }
            state = cls(
                columns=tuple(str(name) for name in plain["columns"]),
                temperature=float(plain["temperature"]),
                reach=float(plain["reach"]),
                **arrays,
            )
            state._check()
        except (KeyError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise CalibrationMismatchError(f"not a complete classifier ({what})") from None
        return state

    def _check(self) -> None:
        n = len(self.columns)
        shapes = {
            "mean": (n,),
            "deviation": (n,),
            "weights": (len(KNOWN_CLASSES), n + n * (n + 1) // 2),
            "intercepts": (len(KNOWN_CLASSES),),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape or not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} is not {shape} finite numbers")
        if self.references.ndim != 2 or self.references.shape[1:] != (n,):
            raise ValueError(f"references have the shape {self.references.shape}")
        if len(self.references) < NEIGHBOURS or not np.isfinite(self.references).all():
            raise ValueError(f"references are not {NEIGHBOURS} or more rows of finite numbers")
        divisors = np.array([*self.deviation, self.temperature, self.reach])
        if not ((divisors > 0) & np.isfinite(divisors)).all():
            raise ValueError("deviation, temperature and reach are not all positive and finite")


def terms(standardised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns and their products with each other, each pair once, shape (n_windows, n_terms).

    Examples
    --------
    >>> terms(np.array([[2.0, 3.0]])).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    first, second = np.triu_indices(standardised.shape[1])
    return np.hstack([standardised, standardised[:, first] * standardised[:, second]])


def _third_nearest(rows: NDArray[np.float64], references: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = (rows**2).sum(axis=1)[:, None] + (references**2).sum(axis=1) - 2 * rows @ references.T
    nearest: NDArray[np.float64] = np.partition(squares, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]
    return np.sqrt(np.maximum(nearest, 0.0))
