"""Pipe cycles as FLOP: as they are, and with one constant for the chip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimate.made import NAN
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, PipeSumState, vector_excess

FLOP = st.floats(0, 1e20)
CALIBRATED = CalibratedPipeState(flop_per_pipe_flop=0.92, vector_ratio=0.05)


def test_nothing_fitted_is_a_sum():
    """Matrix and vector pipes at full rate."""
    assert PipeSumState().predict([[3e15, 1e14]]).tolist() == [3.1e15]


def test_an_active_cycle_is_worth_less_than_its_full_rate():
    """Element-wise work beside matrix work is counted by no FLOP convention, and left out."""
    assert CALIBRATED.predict([[1e15, 0.04e15]]) == pytest.approx([0.92e15])


def test_vector_work_beyond_the_usual_counts_in_full():
    """What exceeds 5 % of the matrix work is work of its own."""
    assert CALIBRATED.predict([[1e15, 0.25e15]]) == pytest.approx([0.92e15 + 0.20e15])


def test_matrix_products_on_cuda_cores_do_not_vanish():
    """FP32 without tensor cores: the matrix pipes read 0, and the estimate does not."""
    assert CALIBRATED.predict([[0.0, 4e14]]).tolist() == [4e14]


def test_nobody_watched_the_vector_pipes():
    """Then the matrix pipes answer alone, where the column is blank or absent."""
    assert CALIBRATED.predict([[1e15, NAN], [1e15, 0.0]]).tolist() == [0.92e15] * 2
    assert CALIBRATED.predict([[1e15]]).tolist() == [0.92e15]


def test_blank_matrix_pipes_give_no_number():
    """Unknown is not zero."""
    assert np.isnan(CALIBRATED.predict([[NAN, 1e14]])).all()


@given(matrix=FLOP, vector=FLOP, ratio=st.floats(0, 1))
def test_no_vector_work_is_counted_twice(matrix: float, vector: float, ratio: float):
    """The excess lies between nothing and all of it."""
    excess = float(vector_excess(np.array([[matrix, vector]]), ratio)[0])

    assert 0 <= excess <= vector


@given(
    columns=st.lists(st.tuples(FLOP, FLOP), min_size=1, max_size=4),
    factor=st.sampled_from([0.25, 2.0, 1024.0]),
)
def test_twice_the_cycles_are_twice_the_flop(columns: list[tuple[float, float]], factor: float):
    """A session of two equal halves is worth both of them."""
    for state in (PipeSumState(), CALIBRATED):
        assert state.predict(np.multiply(columns, factor)) == pytest.approx(state.predict(columns) * factor)


def test_what_is_left_of_the_energy_is_work():
    """Equation (1): energy earns, time and traffic take away."""
    state = LinearState(flop_per_joule=1e12, debits=np.array([1e13, 20.0]))

    assert state.predict([[2000.0, 4.0, 1e12]]) == pytest.approx([2e15 - 4e13 - 2e13])


def test_energy_that_is_all_overhead_is_no_negative_work():
    """FLOP are never below 0."""
    state = LinearState(flop_per_joule=1e12, debits=np.array([1e13]))

    assert state.predict([[1.0, 400.0]]).tolist() == [0.0]
