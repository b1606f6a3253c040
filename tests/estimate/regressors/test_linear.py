"""Equation (1) fitted: exact where it holds, never rewarding traffic, every size of session alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from estimate.made import energy_runs
from flopwitness.estimate.regressors.linear import LinearEnergyRegressor, fit_linear


def test_the_constants_of_the_law_are_found():
    """Runs that obey equation (1) exactly give back its constants."""
    X, y = energy_runs(30)

    state = fit_linear(X, y)

    assert state.flop_per_joule == pytest.approx(1.2e12)
    assert state.debits == pytest.approx([1e13, 20, 30])


@settings(deadline=None)
@given(seed=st.integers(0, 1000))
def test_no_joule_of_traffic_creates_work(seed: int):
    """Whatever the runs: more energy never means less, more traffic or time never more."""
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(1, 10, (12, 4)), rng.uniform(1, 10, 12)

    state = fit_linear(X, y)

    assert state.flop_per_joule >= 0
    assert (state.debits >= 0).all()


def test_small_runs_count_as_much_as_large_ones():
    """One run a thousand times as large, of another slope: relative errors meet in between."""
    X, y = np.array([[1.0], [1000.0]]), np.array([1.0, 1200.0])

    slope = LinearEnergyRegressor().fit(X, y).state_.flop_per_joule

    assert slope == pytest.approx((1 + 1 / 1.2) / (1 + 1 / 1.2**2))


def test_one_column_is_power_alone():
    """The ablation without time and traffic."""
    X = np.linspace(1, 9, 12)[:, None]

    assert_allclose(LinearEnergyRegressor().fit(X, 3 * X[:, 0]).predict(X), 3 * X[:, 0])


def test_runs_without_work_teach_nothing():
    """A truth of 0 has no relative error."""
    assert fit_linear(np.ones((3, 2)), np.zeros(3)).predict([[5.0, 1.0]]).tolist() == [0.0]
