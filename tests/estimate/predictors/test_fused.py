"""The fused estimate: what answers where, and what falls back on the constant."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimate.made import NAN, simulated_runs
from flopwitness.estimate.predictors.fused import FIRST_SIGNAL, FUSED_COLUMNS, FusedState, kernel
from flopwitness.estimate.regressors.fused import FusedRegressor

RUNS = simulated_runs(60)


@cache
def fitted() -> FusedState:
    """Return the constants as fitted on 40 of the runs, for executed FLOP."""
    return FusedRegressor().fit(RUNS.X[:40], RUNS.executed_flop[:40], components=RUNS.components[:40]).state_


def by_constant(X: np.ndarray) -> np.ndarray:
    """Return what the constant alone answers, no vector work beyond the usual."""
    return X[:, 0] * np.exp(fitted().constant_log)


def test_the_signature_moves_the_answer():
    """Where it is known and some shape explains it."""
    known = RUNS.X[40:]

    assert not fitted().lacks_signature(known).any()
    assert np.all(np.abs(fitted().predict(known) / by_constant(known) - 1) > 1e-6)


@pytest.mark.parametrize("value", [NAN, 0.0, -1.0])
@pytest.mark.parametrize("column", range(FIRST_SIGNAL, len(FUSED_COLUMNS)))
def test_a_signature_with_a_hole_falls_back(column: int, value: float):
    """One signal that is blank, or 0 as NVLink's on a single GPU: the constant answers for that session."""
    X = RUNS.X[40:43].copy()
    X[1, column] = value

    answers = fitted().predict(X)

    assert_array_equal(fitted().lacks_signature(X), [False, True, False])
    assert_allclose(answers[1], by_constant(X)[1])
    assert_allclose(answers[[0, 2]], fitted().predict(RUNS.X[40:43])[[0, 2]])


def test_a_signature_that_nothing_explains_falls_back():
    """A hundred times the memory traffic: no transformer does that."""
    odd = RUNS.X[40:45] * [1, 1, 1, 1, 1, 100, 1, 1, 1]

    assert fitted().lacks_signature(odd).all()
    assert_allclose(fitted().predict(odd), by_constant(odd))


def test_blank_matrix_pipes_give_no_number():
    """Unknown is not zero."""
    X = RUNS.X[:1].copy()
    X[0, 0] = NAN

    assert np.isnan(fitted().predict(X)).all()


def test_matrix_products_on_cuda_cores_do_not_vanish():
    """FP32 without tensor cores: matrix pipes at 0, vector pipes busy."""
    X = RUNS.X[:1].copy()
    X[0, [0, 1, 2]] = [0.0, 4e14, 0.0]

    assert fitted().predict(X).tolist() == [4e14]


def test_likeness_falls_with_distance():
    """1 for the same signature, e to the minus a half at one length, nothing far away."""
    origin, others = np.zeros((1, 2)), np.array([[0.0, 0.0], [3.0, 0.0], [90.0, 0.0]])

    assert kernel(origin, others, 3.0)[0] == pytest.approx([1.0, np.exp(-0.5), 0.0])


def test_far_from_every_run_only_the_general_correction_is_left():
    """Neighbours speak for what is like them."""
    state = fitted()
    near = state.predict(RUNS.X[40:41])

    stranger = FusedState(
        **{
            **{name: getattr(state, name) for name in state.__dataclass_fields__},
            "neighbour_signatures": state.neighbour_signatures + 1e4,
        }
    )
    without = FusedState(
        **{
            **{name: getattr(state, name) for name in state.__dataclass_fields__},
            "neighbour_weights": 0 * state.neighbour_weights,
        }
    )

    assert_allclose(stranger.predict(RUNS.X[40:41]), without.predict(RUNS.X[40:41]))
    assert near != pytest.approx(without.predict(RUNS.X[40:41]), rel=1e-9)


def test_what_was_inverted_before_gives_the_same_answer():
    """Both targets and the bounds ask about the same signatures: that is remembered, per signature."""
    first, second = RUNS.X[40:42], RUNS.X[42:44]
    one, other = fitted().predict(first), fitted().predict(second)

    again = [fitted().predict(rows) for rows in (first, second)]
    together = fitted().predict(np.concatenate([first, second]))

    assert_array_equal(again, [one, other])
    assert_allclose(together, [*one, *other], rtol=1e-9)


def test_constants_of_another_shape_are_no_other_answer_from_memory():
    """The same bytes in another shape are another mixture."""
    known = fitted()
    known.predict(RUNS.X[:1])
    turned = replace(known, response=known.response.reshape(known.response.shape[::-1]))

    with pytest.raises(ValueError, match="matmul"):
        turned.predict(RUNS.X[:1])
