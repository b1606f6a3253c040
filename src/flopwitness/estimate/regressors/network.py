"""The experiment's two networks, on standardised logarithms.

Settings as published: two hidden layers of 32, ReLU, dropout 0.1, Adam at 3e-3, weight decay 1e-3 (pure) or
3e-3 (residual), 400 epochs, median of 5 seeds.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from flopwitness.estimate.predictors.network import PURE_LOGS, RESIDUAL_LOGS, NetworkState, logarithms
from flopwitness.estimate.regressors.base import FlopRegressor, log_ratio
from flopwitness.estimate.regressors.linear import fit_linear
from flopwitness.estimate.regressors.training import TrainingPlan, trained


class NetworkRegressor(FlopRegressor):
    """``mlp`` answers with ln FLOP, ``mlp-residual`` with a correction of the power-only estimate.

    Parameters
    ----------
    is_residual : bool
        Correct the power-only estimate instead of predicting FLOP.
    n_hidden, n_members, n_epochs : int
        Width of both layers, seeds in the ensemble, full-batch epochs.
    dropout_ratio, weight_decay : float
        Share of hidden units left out at each epoch; L2 penalty.
    random_state : int
        Seed of the first member.
    """

    def __init__(  # noqa: PLR0913  scikit-learn's constructors list every setting
        self,
        *,
        is_residual: bool = False,
        n_hidden: int = 32,
        n_members: int = 5,
        n_epochs: int = 400,
        dropout_ratio: float = 0.1,
        weight_decay: float = 1e-3,
        random_state: int = 0,
        coverage_ratio: float = 0.9,
        n_folds: int = 0,
    ) -> None:
        super().__init__(coverage_ratio=coverage_ratio, n_folds=n_folds)
        self.is_residual = is_residual
        self.n_hidden = n_hidden
        self.n_members = n_members
        self.n_epochs = n_epochs
        self.dropout_ratio = dropout_ratio
        self.weight_decay = weight_decay
        self.random_state = random_state

    def _learn(
        self,
        features: NDArray[np.float64],
        flop: NDArray[np.float64],
        components: NDArray[np.float64] | None,  # noqa: ARG002  the experiment's networks know no shapes
    ) -> NetworkState:
        published = np.array(RESIDUAL_LOGS if self.is_residual else PURE_LOGS, dtype=np.float64)
        is_published = features.shape[1] == published.shape[1]
        combinations = published if is_published else np.eye(features.shape[1])
        base = fit_linear(features[:, :1], flop).flop_per_joule if self.is_residual else 0.0
        reference = base * features[:, 0] if base > 0 else np.ones(len(flop))
        inputs, input_mean, input_scale = _standardised(logarithms(features, combinations))
        target, target_mean, target_scale = _standardised(log_ratio(flop, reference)[:, None])
        plan = TrainingPlan(
            self.n_hidden, self.n_members, self.n_epochs, self.dropout_ratio, self.weight_decay
        )
        weights = trained(inputs, target, plan, random=check_random_state(self.random_state))
        return NetworkState(
            combinations,
            input_mean,
            input_scale,
            float(target_mean[0]),
            float(target_scale[0]),
            base,
            *weights,
        )


def _standardised(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return (values - mean) / scale, mean, scale
