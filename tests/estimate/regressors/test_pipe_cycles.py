"""One constant a chip, fitted so that few odd runs do not matter."""

import numpy as np
import pytest

from flopwitness.estimate.regressors.pipe_cycles import VECTOR_MARGIN, CalibratedPipeRegressor, fit_constant

MATRIX = np.linspace(1e15, 5e15, 21)
X = np.column_stack([MATRIX, 0.02 * MATRIX])


def test_the_constant_is_the_median_ratio():
    """A few runs of which nobody knows what they did do not move it."""
    flop = 0.92 * MATRIX
    flop[:5] *= 3

    assert fit_constant(X, flop).flop_per_pipe_flop == pytest.approx(0.92)


def test_usual_vector_work_is_the_most_that_was_seen_and_some_room():
    """Element-wise work up to half as much again is no work of its own."""
    columns = X.copy()
    columns[7, 1] = 0.04 * columns[7, 0]

    state = fit_constant(columns, 0.92 * MATRIX)

    assert state.vector_ratio == pytest.approx(0.04 * VECTOR_MARGIN)


def test_calibration_runs_have_no_vector_work_of_their_own():
    """Each of them is answered by the constant alone."""
    assert CalibratedPipeRegressor().fit(X, 0.92 * MATRIX).predict(X) == pytest.approx(0.92 * MATRIX)


def test_without_a_vector_column_the_matrix_pipes_answer():
    """The constant is the same."""
    state = fit_constant(X[:, :1], 0.92 * MATRIX)

    assert (state.flop_per_pipe_flop, state.vector_ratio) == (pytest.approx(0.92), 0.0)


@pytest.mark.parametrize("flop", [np.zeros(21), np.full(21, -1.0)])
def test_runs_without_work_teach_nothing(flop: np.ndarray):
    """Then an active cycle counts at its full rate."""
    state = fit_constant(X, flop)

    assert (state.flop_per_pipe_flop, state.vector_ratio) == (1.0, 0.0)
