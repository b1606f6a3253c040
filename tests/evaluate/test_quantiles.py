"""Quantiles agree with numpy's where numpy's are defined, and stay defined where values are infinite."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.evaluate.quantiles import grouped_median, quantile, resampled_quantile

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12)
ROWS = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6)), min_size=1, max_size=20)
RATIOS = st.floats(0, 1)


@given(values=VALUES, ratio=RATIOS)
def test_a_quantile_of_finite_values_is_numpys(values: list[float], ratio: float) -> None:
    """Linear interpolation, so that figures compare with published ones."""
    expected = np.quantile(values, ratio)

    assert quantile(np.array(values), ratio) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(rows=ROWS, ratio=RATIOS, seed=st.integers(0, 1000))
def test_a_resampled_quantile_is_that_of_the_repeated_values(
    rows: list[tuple[int, float]], ratio: float, seed: int
) -> None:
    """Counting is repeating, without the memory."""
    cluster_of = np.unique([cluster for cluster, _ in rows], return_inverse=True)[1]
    values = np.array([value for _, value in rows])
    n_clusters = cluster_of.max() + 1
    draws = np.random.default_rng(seed).multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=4)

    expected = [np.quantile(np.repeat(values, draw[cluster_of]), ratio) for draw in draws]
    actual = resampled_quantile(values, cluster_of, draws=draws, ratio=ratio)

    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "ratio", "expected"),
    [
        ([1.0, 2.0, np.inf], 0.5, 2.0),
        ([1.0, np.inf], 0.5, np.inf),
        ([1.0, np.inf, np.inf], 0.5, np.inf),
        ([-np.inf, 1.0], 0.5, -np.inf),
        ([-np.inf, np.inf], 0.5, np.inf),
        ([1.0, np.inf], 0.0, 1.0),
    ],
)
def test_an_infinite_value_counts_at_its_rank(values: list[float], ratio: float, expected: float) -> None:
    """Beyond every number is a place in the order, not an excuse to answer NaN."""
    assert quantile(np.array(values), ratio) == expected


@given(rows=ROWS)
def test_a_grouped_median_is_the_median_of_each_group(rows: list[tuple[int, float]]) -> None:
    """Sorting once gives what a loop over groups gives."""
    groups = np.array([group for group, _ in rows])
    values = np.array([value for _, value in rows])

    expected = [np.median(values[groups == group]) for group in np.unique(groups)]

    assert grouped_median(values, groups).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-6)
