"""One constant a chip, fitted so that few odd runs do not matter."""

import numpy as np
import pytest

from flopwitness.estimate.regressors.pipe_cycles import (
    NEGLIGIBLE_RATIO,
    VECTOR_MARGIN,
    CalibratedPipeRegressor,
    fit_constant,
)

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


def apart(**work: float) -> np.ndarray:
    """Return sessions with columns for the pipes apart, shares of the matrix FLOP by name of the pipe."""
    shares = [work.get(pipe, 0.0) for pipe in ("integer", "double")]
    return np.column_stack([X, MATRIX[:, None] * shares])


MIXED_CALIBRATION = np.concatenate([apart(), apart(integer=1.0), apart(double=0.99)])
WORTH = np.concatenate([factor * MATRIX for factor in (0.92, 0.5, 0.8)])


def test_each_matrix_pipe_is_learned_from_runs_on_it():
    """Three kinds of runs, three constants."""
    state = fit_constant(MIXED_CALIBRATION, WORTH)

    constants = (state.flop_per_pipe_flop, state.integer_per_pipe_flop, state.double_per_pipe_flop)
    assert constants == pytest.approx((0.92, 0.5, 0.8))


def test_a_pipe_without_runs_is_worth_what_the_common_one_is():
    """Nothing better is known."""
    state = fit_constant(apart(), 0.92 * MATRIX)

    assert (state.integer_per_pipe_flop, state.double_per_pipe_flop) == pytest.approx((0.92, 0.92))


def test_a_mixture_teaches_no_constant():
    """Half integer, half common: which of them was worth less cannot be told."""
    columns = np.concatenate([apart(), apart(integer=0.5)])

    state = fit_constant(columns, np.concatenate([0.92 * MATRIX, 0.1 * MATRIX]))

    assert (state.flop_per_pipe_flop, state.integer_per_pipe_flop) == pytest.approx((0.92, 0.92))


def test_the_common_pipe_is_measured_in_half_precision():
    """Runs with a share in another format are left out; without shares every run is one."""
    components = np.zeros((42, 12))
    components[21:, 8] = 0.3
    columns, flop = np.concatenate([X, X]), np.concatenate([0.92 * MATRIX, 1.8 * MATRIX])

    assert fit_constant(columns, flop, components).flop_per_pipe_flop == pytest.approx(0.92)
    assert fit_constant(columns, flop, components[:, :8]).flop_per_pipe_flop > 0.92


def test_runs_on_cuda_cores_teach_the_matrix_pipe_nothing():
    """Where the vector pipes did more than the matrix pipes, products ran there."""
    columns = np.concatenate([X, X * [0.01, 50]])

    state = fit_constant(columns, np.concatenate([0.92 * MATRIX, MATRIX]))

    assert (state.flop_per_pipe_flop, state.vector_ratio) == pytest.approx((0.92, 0.02 * VECTOR_MARGIN))


def beside_cuda_cores(share: float) -> np.ndarray:
    """Return runs whose products ran on CUDA cores, the matrix pipes at this share of the vector work."""
    return np.column_stack([share * MATRIX, MATRIX])


def test_what_matrix_work_beside_fp32_products_is_worth_is_learned_from_such_runs():
    """What the vector work leaves of the FLOP, over the matrix work: their attention."""
    columns = np.concatenate([X, beside_cuda_cores(0.5)])
    excess = MATRIX * (1 - 0.02 * VECTOR_MARGIN * 0.5)

    state = fit_constant(columns, np.concatenate([0.92 * MATRIX, excess + 0.1 * 0.5 * MATRIX]))

    assert state.byproduct_per_pipe_flop == pytest.approx(0.1)


@pytest.mark.parametrize(("worth", "expected"), [(-0.2, 0.0), (3.0, 0.92)])
def test_a_by_product_is_worth_between_nothing_and_a_product(worth: float, expected: float):
    """Whatever the runs say."""
    columns = np.concatenate([X, beside_cuda_cores(0.5)])
    flop = np.concatenate([0.92 * MATRIX, MATRIX * (1 + 0.5 * worth)])

    assert fit_constant(columns, flop).byproduct_per_pipe_flop == pytest.approx(expected)


@pytest.mark.parametrize("share", [NEGLIGIBLE_RATIO / 2, 2.0])
def test_other_runs_say_nothing_of_by_products(share: float):
    """Products alone leave no matrix work to measure, a mixture is mostly that: worth a product then."""
    columns = np.concatenate([X, beside_cuda_cores(share)[:5]])

    state = fit_constant(columns, np.concatenate([0.92 * MATRIX, MATRIX[:5] * (1 + 0.1 * share)]))

    assert state.byproduct_per_pipe_flop == pytest.approx(0.92)
