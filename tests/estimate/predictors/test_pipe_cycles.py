"""Pipe cycles as FLOP: as they are, and with one constant for the chip."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimate.made import NAN
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import (
    BYPRODUCT_RATIO,
    USUAL_ATTENTION_RATIO,
    CalibratedPipeState,
    PipeSumState,
    vector_excess,
)

FLOP = st.floats(0, 1e20)
CALIBRATED = CalibratedPipeState(
    flop_per_pipe_flop=0.92,
    vector_ratio=0.05,
    integer_per_pipe_flop=0.5,
    double_per_pipe_flop=0.8,
    byproduct_per_pipe_flop=0.6,
)


def test_nothing_fitted_is_a_sum():
    """Matrix and vector pipes at full rate."""
    assert PipeSumState().predict([[3e15, 1e14]]).tolist() == [3.1e15]


def test_an_active_cycle_is_worth_less_than_its_full_rate():
    """Element-wise work beside matrix work is counted by no FLOP convention, and left out."""
    assert CALIBRATED.predict([[1e15, 0.04e15]]) == pytest.approx([0.92e15])


def test_vector_work_beyond_the_usual_counts_in_full():
    """What exceeds 5 % of the matrix work is work of its own; its usual attention is not counted twice."""
    served = USUAL_ATTENTION_RATIO * 0.20e15 / 0.6

    flop = CALIBRATED.predict([[1e15, 0.25e15]])

    assert flop == pytest.approx([0.92e15 + 0.20e15 - served * (0.92 - 0.6)])


@pytest.mark.parametrize(("vector", "is_network"), [(0.05 + 1.01 / BYPRODUCT_RATIO, True), (0.9, False)])
def test_beside_a_network_on_cuda_cores_the_matrix_pipe_does_its_attention(
    vector: float, *, is_network: bool
):
    """Up to 1.1 times the vector work all of it is that by-product; beyond, what attention usually asks."""
    excess = vector - 0.05
    served = 1.0 if is_network else USUAL_ATTENTION_RATIO * excess / 0.6

    assert CALIBRATED.byproduct(np.array([[1.0, vector]])) == pytest.approx([served])
    assert CALIBRATED.predict([[1.0, vector]]) == pytest.approx([0.92 + excess - served * (0.92 - 0.6)])


def test_integer_and_double_work_is_nobodys_by_product():
    """They have counters of their own: decoy vector work takes nothing off."""
    alone, beside = CALIBRATED.predict([[1.0, 0.05, 0.6, 0.4], [1.0, 2.0, 0.6, 0.4]])

    assert alone == pytest.approx(0.6 * 0.5 + 0.4 * 0.8)
    assert beside == pytest.approx(alone + 1.95)


@given(matrix=st.floats(0, 1), vector=st.floats(0, 3), byproduct=st.floats(0, 0.92))
def test_vector_work_beside_products_never_hides_them(matrix: float, vector: float, byproduct: float):
    """Whatever a by-product is worth, 98 % of what the matrix pipe's work is worth alone are left."""
    state = replace(CALIBRATED, byproduct_per_pipe_flop=byproduct)

    assert state.predict([[matrix, vector]])[0] >= 0.98 * 0.92 * matrix


@given(
    done=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    more=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    byproduct=st.floats(0.06, 0.92),
)
def test_the_least_holds_whatever_else_was_done(done: list[float], more: list[float], byproduct: float):
    """Nobody saw the rest: no more work on any pipe makes a session worth less than that."""
    state = replace(CALIBRATED, byproduct_per_pipe_flop=byproduct)
    seen = [done[0] + done[2] + done[3], *done[1:]]
    whole = np.add(seen, [more[0] + more[2] + more[3], *more[1:]])

    least = state.least([seen])[0]

    assert least <= state.predict([seen])[0] * (1 + 1e-12)
    assert least <= state.predict([whole])[0] * (1 + 1e-9)


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


def test_every_matrix_pipe_has_a_constant_of_its_own():
    """10 in all, of which 3 on the integer and 2 on the FP64 pipe: the other 5 are common."""
    flop = CALIBRATED.predict([[10e15, 0.0, 3e15, 2e15]])

    assert flop == pytest.approx([5e15 * 0.92 + 3e15 * 0.5 + 2e15 * 0.8])


@pytest.mark.parametrize("apart", [[], [NAN, NAN], [0.0, 0.0]])
def test_matrix_work_that_is_not_told_apart_is_common(apart: list[float]):
    """A source without those counters loses no work."""
    assert CALIBRATED.predict([[1e15, 0.0, *apart]]).tolist() == [0.92e15]


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
