"""How much a figure would move with other workloads: the cluster bootstrap. Chance is an argument."""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.quantiles import quantile, resampled_quantile


class Statistic(Protocol):
    """A summary that can be resampled, such as :data:`median_statistic`."""

    def __call__(
        self, values: NDArray[np.float64], cluster_of: NDArray[np.int64], /, *, draws: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return one figure a draw, shape (n_draws,), of values whose clusters occur so often."""
        ...


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """Range of a summary over resampled workloads.

    Attributes
    ----------
    low, high : float
        Ends of the percentile interval; minus and plus infinity with one cluster, which says nothing of
        others.
    confidence_ratio : float in (0, 1)
        Share of the resampled figures inside.
    n_clusters, n_draws : int
        How many workloads were resampled, how often.
    """

    low: float
    high: float
    confidence_ratio: float
    n_clusters: int
    n_draws: int


median_statistic: Statistic = partial(resampled_quantile, ratio=0.5)
"""The median, as a statistic to resample."""

p90_statistic: Statistic = partial(resampled_quantile, ratio=0.9)
"""The 90th percentile, as a statistic to resample."""


def mean_statistic(
    values: NDArray[np.float64], cluster_of: NDArray[np.int64], /, *, draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean of each draw; values may be plus infinity, not minus."""
    n_clusters = draws.shape[1]
    infinite = np.isinf(values)
    sums = np.bincount(cluster_of, weights=np.where(infinite, 0.0, values), minlength=n_clusters)
    mean: NDArray[np.float64] = (draws @ sums) / (draws @ np.bincount(cluster_of, minlength=n_clusters))
    n_infinite = draws @ np.bincount(cluster_of[infinite], minlength=n_clusters)
    return np.where(n_infinite > 0, np.inf, mean)


def cluster_draws(n_clusters: int, *, n_draws: int = 2000, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw clusters with replacement, as many as there are.

    Several estimators resampled with the same draws are compared on the same workloads.

    Returns
    -------
    ndarray of shape (n_draws, n_clusters), int64
        How often each cluster, in sorted order of names, occurs in each draw.
    """
    return rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_draws)


def bootstrap_interval(
    values: NDArray[np.float64],
    clusters: NDArray[np.str_],
    *,
    statistic: Statistic,
    draws: NDArray[np.int64],
    confidence_ratio: float = 0.95,
) -> BootstrapInterval:
    """Return the percentile interval of a statistic over resampled clusters.

    All scores of a cluster are drawn together, since they are right or wrong together. Estimators are not
    fitted again: the interval speaks of the choice of workloads to score, not of those to fit on.

    Parameters
    ----------
    values : ndarray of shape (n,)
        One score an entry, such as absolute errors; not NaN.
    clusters : ndarray of shape (n,), str
        The workload of each score.
    statistic : callable
        Such as :data:`median_statistic`.
    draws : ndarray of shape (n_draws, n_clusters), int64
        As :func:`cluster_draws` gives them for the clusters that occur.
    confidence_ratio : float in (0, 1)
        Share of the resampled figures to hold.

    Raises
    ------
    InvalidNounError
        When the draws are for another number of clusters.
    """
    names, cluster_of = np.unique(clusters, return_inverse=True)
    n_draws, n_drawn = draws.shape
    if n_drawn != len(names):
        raise InvalidNounError(f"draws are of {n_drawn} clusters, scores of {len(names)}")
    if n_drawn < 2:
        return BootstrapInterval(-np.inf, np.inf, confidence_ratio, n_drawn, n_draws)
    figures = statistic(values, cluster_of, draws=draws)
    tail = (1 - confidence_ratio) / 2
    low, high = quantile(figures, tail), quantile(figures, 1 - tail)
    return BootstrapInterval(low, high, confidence_ratio, n_drawn, n_draws)
