"""The networks' inputs and what their plain constants answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flopwitness.estimate.predictors.network import PURE_LOGS, RESIDUAL_LOGS, NetworkState, logarithms

ROW = np.array([[1000.0, 4.0, 2e12, 1e11]])
"""Net joules, seconds, DRAM and NVLink bytes."""


def test_inputs_are_the_published_ones():
    """Logarithms of E, t, D, N, P, E/D, N/D; for the residual network of P, E/D, N/D, D/t, N/t, t."""
    E, t, D, N = ROW[0]

    assert_allclose(logarithms(ROW, PURE_LOGS)[0], np.log([E, t, D, N, E / t, E / D, N / D]))
    assert_allclose(logarithms(ROW, RESIDUAL_LOGS)[0], np.log([E / t, E / D, N / D, D / t, N / t, t]))


def test_other_columns_are_taken_as_they_are():
    """Where the columns are not the four, each logarithm is an input."""
    assert_allclose(logarithms(ROW[:, :2], PURE_LOGS)[0], np.log(ROW[0, :2]))


def test_what_has_no_logarithm_is_tiny_and_finite():
    """A session whose net energy is below its idle baseline still gets an answer."""
    assert np.isfinite(logarithms([[-5.0, 0.0, 1.0, 1.0]], PURE_LOGS)).all()


def constant_network(*answers: float, base: float = 0.0) -> NetworkState:
    """Return members that answer with a constant each."""
    n_members = len(answers)
    output = np.zeros((n_members, 3, 1))
    output[:, -1, 0] = answers
    return NetworkState(
        combinations=np.eye(1),
        input_mean=np.zeros(1),
        input_scale=np.ones(1),
        target_mean=1.0,
        target_scale=2.0,
        base_flop_per_joule=base,
        hidden_1=np.zeros((n_members, 2, 2)),
        hidden_2=np.zeros((n_members, 3, 2)),
        output=output,
    )


def test_the_median_member_answers():
    """One seed that went astray does not matter."""
    state = constant_network(3.0, 3.5, 1e6)

    assert state.predict([[5.0]]) == pytest.approx([np.exp(3.5 * 2 + 1)])


def test_the_residual_network_corrects_power():
    """Its output multiplies FLOP per joule x joules; energy below the baseline is no work."""
    state = constant_network(0.0, base=1e12)

    assert state.predict([[5.0], [-5.0]]) == pytest.approx([np.e * 5e12, 0.0])


def test_an_absurd_output_stays_a_number():
    """The exponential never overflows: far outside of what it was fitted on it is wrong, not infinite."""
    assert np.isfinite(constant_network(1e6).predict([[5.0]])).all()


def test_a_hidden_unit_passes_what_is_positive():
    """One path of weights, by hand: input 2, doubled, plus one; a negative unit is silent."""
    state = constant_network(0.0)
    state.hidden_1[0] = [[2.0, -1.0], [0.0, 0.0]]
    state.hidden_2[0] = [[1.0, 0.0], [5.0, 0.0], [0.0, 0.0]]
    state.output[0] = [[1.0], [0.0], [1.0]]

    assert state.predict([[np.exp(2.0)]]) == pytest.approx([np.exp((2 * 2 + 1) * 2 + 1)])
