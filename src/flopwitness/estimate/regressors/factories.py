"""How to make each estimator for a target."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.workload import Target
from flopwitness.estimate.conformal import bounds_flop
from flopwitness.estimate.regressors.base import FlopRegressor
from flopwitness.estimate.regressors.fused import FusedRegressor
from flopwitness.estimate.regressors.linear import LinearEnergyRegressor
from flopwitness.estimate.regressors.network import NetworkRegressor
from flopwitness.estimate.regressors.pipe_cycles import CalibratedPipeRegressor, PipeSumRegressor

RESIDUAL_WEIGHT_DECAY = 3e-3
"""Of the experiment's residual network."""


def regressor_factory(name: str, target: Target) -> Callable[..., FlopRegressor]:
    """Return what makes a fresh estimator; a ``partial``, so that it can be sent to another process.

    Raises
    ------
    KeyError
        When no method has this name.
    """
    is_algorithmic = target is Target.ALGORITHMIC
    factories: dict[str, Callable[..., FlopRegressor]] = {
        "linear-power": LinearEnergyRegressor,
        "linear-power-dram": LinearEnergyRegressor,
        "linear-power-dram-nvlink": LinearEnergyRegressor,
        "mlp": NetworkRegressor,
        "mlp-residual": partial(NetworkRegressor, is_residual=True, weight_decay=RESIDUAL_WEIGHT_DECAY),
        "pipe-cycles": PipeSumRegressor,
        "pipe-cycles-calibrated": CalibratedPipeRegressor,
        "fused": partial(
            FusedRegressor, is_algorithmic=is_algorithmic, blend_ratio=1.0 if is_algorithmic else 0.5
        ),
    }
    return factories[name]


class ColumnsOf:
    """An estimator that is handed every feature and passes its own columns on.

    Parameters
    ----------
    regressor : FlopRegressor
        What learns and answers.
    indices : sequence of int
        Its columns among all features.
    """

    def __init__(self, regressor: FlopRegressor, indices: tuple[int, ...]) -> None:
        self.regressor = regressor
        self.indices = list(indices)

    @property
    def coverage_ratio(self) -> float | None:
        """Share that the interval was calibrated for; None where it was not calibrated."""
        return float(self.regressor.coverage_ratio) if self.regressor.n_folds else None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        components: ArrayLike | None = None,
        workloads: ArrayLike | None = None,
    ) -> "ColumnsOf":
        """Learn from the columns that are this estimator's."""
        self.regressor.fit(self._own(X), y, groups=groups, components=components, workloads=workloads)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return FLOP, shape (n_sessions,)."""
        return self.regressor.state_.predict(self._own(X))

    def predict_interval(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return low and high FLOP, shape (n_sessions, 2)."""
        own, point = self._own(X), self.predict(X)
        return bounds_flop(point, self.regressor.interval_, self.regressor.spread(own))

    def _own(self, X: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(X, dtype=np.float64)[:, self.indices]


def columns_factory(
    name: str, target: Target, indices: tuple[int, ...], n_folds: int
) -> Callable[[], ColumnsOf]:
    """Return what makes an estimator that picks its own columns; it can be pickled."""
    return partial(_make_columns, name, target, indices, n_folds)


def _make_columns(name: str, target: Target, indices: tuple[int, ...], n_folds: int) -> ColumnsOf:
    return ColumnsOf(regressor_factory(name, target)(n_folds=n_folds), indices)
