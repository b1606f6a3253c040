"""The cluster bootstrap: whole workloads are drawn, and few of them say little."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.bootstrap import (
    bootstrap_interval,
    cluster_draws,
    mean_statistic,
    median_statistic,
    p90_statistic,
)

SLOW = {
    "median": (median_statistic, np.median),
    "mean": (mean_statistic, np.mean),
    "p90": (p90_statistic, lambda values: np.quantile(values, 0.9)),
}


def slow_interval(
    values: NDArray[np.float64],
    clusters: NDArray[np.str_],
    *,
    statistic: Callable[[NDArray[np.float64]], float],
    draws: NDArray[np.int64],
) -> tuple[float, float]:
    """Resample by really repeating the scores, one draw at a time."""
    names = np.unique(clusters)
    figures = []
    for draw in draws:
        pieces = [np.tile(values[clusters == name], times) for name, times in zip(names, draw, strict=True)]
        figures.append(statistic(np.concatenate(pieces)))
    return np.quantile(figures, 0.025), np.quantile(figures, 0.975)


@pytest.mark.parametrize("name", SLOW)
@given(scores=st.lists(st.tuples(st.integers(0, 4), st.floats(0, 10)), min_size=2, max_size=25))
def test_the_interval_is_that_of_repeating_workloads(name: str, scores: list[tuple[int, float]]) -> None:
    """Counting agrees with drawing and repeating."""
    fast, slow = SLOW[name]
    clusters = np.array([f"w{workload}" for workload, _ in scores])
    values = np.array([value for _, value in scores])
    n_clusters = len(np.unique(clusters))
    draws = cluster_draws(n_clusters, n_draws=20, rng=np.random.default_rng(0))

    interval = bootstrap_interval(values, clusters, statistic=fast, draws=draws)

    if n_clusters > 1:
        expected = slow_interval(values, clusters, statistic=slow, draws=draws)
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert (interval.n_clusters, interval.n_draws) == (n_clusters, 20)


def test_one_workload_bounds_nothing() -> None:
    """Resampling one cluster gives no spread, which is ignorance and not certainty."""
    draws = cluster_draws(1, n_draws=10, rng=np.random.default_rng(0))

    interval = bootstrap_interval(
        np.array([0.1, 0.2]), np.array(["a", "a"]), statistic=median_statistic, draws=draws
    )

    assert (interval.low, interval.high) == (-np.inf, np.inf)
    assert interval.n_clusters == 1


def test_more_traces_of_the_same_workloads_do_not_narrow_the_interval() -> None:
    """The unit is the workload; copies of a trace are no evidence."""
    values, clusters = np.array([0.1, 0.2, 0.3, 0.4]), np.array(["a", "b", "c", "d"])
    draws = cluster_draws(4, n_draws=200, rng=np.random.default_rng(0))

    once = bootstrap_interval(values, clusters, statistic=mean_statistic, draws=draws)
    copied = bootstrap_interval(
        np.tile(values, 9), np.tile(clusters, 9), statistic=mean_statistic, draws=draws
    )

    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))


def test_failed_scores_reach_the_upper_end() -> None:
    """A workload that fails makes the mean unbounded wherever it is drawn."""
    draws = cluster_draws(3, n_draws=200, rng=np.random.default_rng(0))

    interval = bootstrap_interval(
        np.array([0.1, 0.2, np.inf]), np.array(["a", "b", "c"]), statistic=mean_statistic, draws=draws
    )

    assert interval.high == np.inf
    assert 0.1 <= interval.low <= 0.2


def test_draws_for_other_clusters_are_refused() -> None:
    """Draws say how often each of exactly these workloads occurs."""
    draws = cluster_draws(3, n_draws=10, rng=np.random.default_rng(0))

    with pytest.raises(InvalidNounError, match="3 clusters, scores of 2"):
        bootstrap_interval(
            np.array([0.1, 0.2]), np.array(["a", "b"]), statistic=median_statistic, draws=draws
        )


def test_each_draw_is_as_large_as_the_set() -> None:
    """As many workloads are drawn as there are, with replacement."""
    draws = cluster_draws(7, n_draws=50, rng=np.random.default_rng(0))

    assert draws.shape == (50, 7)
    assert set(draws.sum(axis=1).tolist()) == {7}
    assert draws.max() > 1
