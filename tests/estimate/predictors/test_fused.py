"""The fused estimate: what answers where, and what falls back on the constant."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimate.fused_made import ASKED, FP8_RUNS, RUNS, by_constant, fitted, is_unexplained, with_fp8
from estimate.made import NAN
from flopwitness.estimate.predictors.fused import (
    FIRST_SIGNAL,
    FUSED_COLUMNS,
    OWN_PIPE_RATIO,
    TYPICAL_MISFIT,
    FusedState,
    inverted_signature,
    kernel,
)
from flopwitness.estimate.predictors.signature import SignatureState
from flopwitness.estimate.regressors.fused import UNKNOWN_LOG, FusedRegressor


def test_the_signature_moves_the_answer():
    """Where it is known and some shape explains it."""
    known = RUNS.X[ASKED]

    assert not any(is_unexplained(known))
    assert np.all(np.abs(fitted().predict(known) / by_constant(known) - 1) > 1e-6)


@pytest.mark.parametrize("value", [NAN, 0.0, -1.0])
@pytest.mark.parametrize("column", range(FIRST_SIGNAL, len(FUSED_COLUMNS)))
def test_a_signature_with_a_hole_falls_back(column: int, value: float):
    """One signal that is blank, or 0 as that of a pipe that rested: the constant answers for that session."""
    X = RUNS.X[40:43].copy()
    X[1, column] = value

    answers = fitted().predict(X)

    assert is_unexplained(X) == [False, True, False]
    assert_allclose(answers[1], by_constant(X)[1])
    assert_allclose(answers[[0, 2]], fitted().predict(RUNS.X[40:43])[[0, 2]])


def test_a_signature_that_nothing_explains_falls_back():
    """A hundred times the memory traffic: no transformer does that, and no format is known."""
    odd = RUNS.X[40:45] * [*[1] * 7, 100, 1, 1]
    answer = fitted().answer(odd)

    assert all(is_unexplained(odd))
    assert_allclose(answer.point_flop, by_constant(odd))
    assert not answer.is_identified.any()
    assert np.isnan(answer.probability).all()
    assert_allclose(np.array([answer.low_log, answer.high_log]).T, np.tile(UNKNOWN_LOG, (5, 1)))


@pytest.mark.parametrize(("ratio", "is_asked"), [(1.0, True), (3.0, False)])
def test_vector_work_beyond_the_usual_leaves_no_signature(ratio: float, *, is_asked: bool):
    """Products on CUDA cores are beside the point of what the common pipe shows."""
    X = RUNS.X[ASKED].copy()
    X[:, 1] = ratio * (fitted().vector_ratio + OWN_PIPE_RATIO / 2) * X[:, 0]

    assert (not all(is_unexplained(X))) == is_asked


@pytest.mark.parametrize("rows", [RUNS.X[ASKED], FP8_RUNS.X[ASKED], RUNS.X[ASKED] * [*[1] * 9, 100]])
def test_a_session_ten_times_as_long_spent_ten_times_as_much(rows: np.ndarray):
    """Scaling every signal scales the point and leaves all else, explained or not."""
    once, longer = with_fp8().answer(rows), with_fp8().answer(10 * rows)

    assert_allclose(longer.point_flop, 10 * once.point_flop, rtol=1e-6)
    for one, other in zip(once[1:], longer[1:], strict=True):
        assert_allclose(other, one, rtol=1e-5, atol=1e-7)


def test_sessions_do_not_depend_on_their_neighbours():
    """Half precision, FP8, a hole and a stranger in one batch: each as if it were alone."""
    rows = np.concatenate([RUNS.X[40:43], FP8_RUNS.X[40:43], RUNS.X[43:45] * [*[1] * 9, 100]])
    rows[1, 5] = NAN

    together = with_fp8().answer(rows)

    for number, row in enumerate(rows):
        for whole, alone in zip(together, with_fp8().answer(row[None]), strict=True):
            assert_allclose(alone[0], whole[number], rtol=1e-6, atol=1e-9)


def own_pipe(matrix_flop: float, integer_flop: float, double_flop: float) -> np.ndarray:
    """Return a session whose matrix pipes did this, every signal known."""
    return np.array([[matrix_flop, 0.0, integer_flop, double_flop, *RUNS.signals[40]]])


def test_integer_and_double_matrix_work_is_counted_by_its_own_constant():
    """Each pipe's share of the matrix FLOP by what a cycle of it is worth, and no signature is asked."""
    state = replace(fitted(), integer_per_pipe_flop=0.5, double_per_pipe_flop=0.8)

    answer = state.answer(own_pipe(10e15, 3e15, 2e15))

    assert answer.point_flop == pytest.approx([5e15 * state.flop_per_pipe_flop + 3e15 * 0.5 + 2e15 * 0.8])
    assert np.isinf(answer.misfit).all()


@pytest.mark.parametrize(("integer_flop", "is_identified"), [(10e15, True), (5e15, False)])
def test_a_pipe_of_its_own_tells_its_format(integer_flop: float, *, is_identified: bool):
    """All of it on the integer pipe leaves nothing open; what the common pipe did may be in any format."""
    answer = fitted().answer(own_pipe(10e15, integer_flop, 0.0))

    assert answer.is_identified.tolist() == [is_identified]
    assert (answer.high_log[0] == 0) == is_identified
    assert answer.high_log[0] < UNKNOWN_LOG[1]


@pytest.mark.parametrize(("share", "is_asked"), [(OWN_PIPE_RATIO / 2, True), (OWN_PIPE_RATIO * 2, False)])
def test_a_little_work_on_other_pipes_does_not_silence_the_signature(share: float, *, is_asked: bool):
    """An index computed on the integer pipe is no other format."""
    X = RUNS.X[ASKED].copy()
    X[:, 2] = share * X[:, 0]

    assert any(is_unexplained(X)) == (not is_asked)


def test_blank_matrix_pipes_give_no_number():
    """Unknown is not zero."""
    X = RUNS.X[:1].copy()
    X[0, 0] = NAN

    assert np.isnan(fitted().predict(X)).all()


def test_matrix_products_on_cuda_cores_do_not_vanish():
    """FP32 without tensor cores: matrix pipes at 0, vector pipes busy."""
    X = RUNS.X[:1].copy()
    X[0, [0, 1, FIRST_SIGNAL]] = [0.0, 4e14, 0.0]

    assert fitted().predict(X).tolist() == [4e14]


def test_likeness_falls_with_distance():
    """1 for the same signature, e to the minus a half at one length, nothing far away."""
    origin, others = np.zeros((1, 2)), np.array([[0.0, 0.0], [3.0, 0.0], [90.0, 0.0]])

    assert kernel(origin, others, 3.0)[0] == pytest.approx([1.0, np.exp(-0.5), 0.0])


def test_far_from_every_run_only_the_general_correction_is_left():
    """Neighbours speak for what is like them."""
    state = fitted()
    near = state.predict(RUNS.X[40:41])

    stranger = replace(state, neighbour_signatures=state.neighbour_signatures + 1e4)
    without = replace(state, neighbour_weights=0 * state.neighbour_weights)

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


def test_constants_survive_json():
    """With formats and without shapes: every answer, bit for bit."""
    alone = FusedRegressor().fit(RUNS.X, RUNS.executed_flop).state_
    rows = np.concatenate([RUNS.X[ASKED], FP8_RUNS.X[ASKED]])

    for state in (with_fp8(), alone):
        read = FusedState.from_plain(json.loads(json.dumps(state.to_plain(), allow_nan=False)))

        for one, other in zip(read.answer(rows), state.answer(rows), strict=True):
            assert_array_equal(one, other)
        assert_array_equal(read.strangeness(rows), state.strangeness(rows))


def test_strangeness_never_falls_below_one_and_has_an_end():
    """What nothing explains counts as one at the limit of explanation."""
    state = with_fp8()
    odd = RUNS.X[ASKED] * [*[1] * 7, 100, 1, 1]

    assert (state.strangeness(np.concatenate([RUNS.X, FP8_RUNS.X])) >= 1).all()
    assert_allclose(state.strangeness(odd), np.sqrt(1 + state.largest_misfits.max() / TYPICAL_MISFIT))


def test_a_session_that_several_shapes_explain_spreads_more():
    """The strangeness, times the doubt over what is usual, where that is more; never less than 1."""
    state = with_fp8()
    signature = SignatureState(state.response, state.whitening, state.format_response, state.format_whitening)
    doubt = inverted_signature(signature, RUNS.X[ASKED]).target(is_algorithmic=False)[1][:, 0]

    expected = state.strangeness(RUNS.X[ASKED]) * np.maximum(doubt / state.usual_doubt_log, 1)

    assert_allclose(state.spread(RUNS.X[ASKED]), expected)
    assert (expected > 1).all()


def test_what_nothing_explains_spreads_as_the_most_doubtful_calibration_run():
    """Not narrower because nobody knows anything about it."""
    state = with_fp8()
    odd = RUNS.X[ASKED] * [*[1] * 7, 100, 1, 1]

    most = state.largest_doubt_log / state.usual_doubt_log

    assert most >= 1
    assert_allclose(state.spread(odd), state.strangeness(odd) * most)
