"""The fused estimate where the number format is open: what is named, what bounds cover."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimate.fused_made import ASKED, FP8, FP8_RUNS, RUNS, by_constant, fitted, with_fp8
from estimate.made import Runs, simulated_runs
from flopwitness.estimate.predictors.format_choice import IDENTIFIED, PLAUSIBLE
from flopwitness.estimate.predictors.fused import FIRST_SIGNAL, FusedState, inverted_signature
from flopwitness.estimate.predictors.signature import SignatureState


def test_half_precision_is_known_as_such():
    """One format, nothing left open."""
    answer = with_fp8().answer(RUNS.X[ASKED])

    assert answer.is_identified.all()
    assert (answer.probability[:, 0] == 1).all()
    assert_array_equal([answer.low_log, answer.high_log], np.zeros((2, 20)))


def test_a_calibrated_format_is_named_and_counted():
    """FP8 runs that were held out: FP8 is the likeliest for most, FLOP within 6 % for half, 21 % for all.

    The constant, to which a cycle is a cycle, misses more than a fifth of each on average.
    """
    held_out = FP8_RUNS.of(ASKED)
    answer = with_fp8().answer(held_out.X)
    error = np.abs(answer.point_flop / held_out.executed_flop - 1)

    assert (answer.probability.argmax(axis=1) == FP8).mean() > 0.8
    assert np.median(error) < 0.06
    assert error.max() < 0.21
    assert np.mean(1 - by_constant(held_out.X) / held_out.executed_flop) > 0.2


def test_a_format_that_was_not_calibrated_is_unexplained_and_open():
    """Without FP8 in the calibration most such runs are unexplained, and bounds hold what those spent.

    The few that pass for half precision are named as it, and short of what they spent.
    """
    runs = simulated_runs(200, seed=9, fp8_shares=(0.3, 1.0))
    answer = fitted().answer(runs.X)
    short = np.log(runs.executed_flop / answer.point_flop)
    is_open = np.isinf(answer.misfit)

    assert is_open.mean() > 0.9
    assert (short <= answer.high_log)[is_open].all()
    assert (short >= answer.low_log)[is_open].all()
    assert answer.is_identified[~is_open].all()
    assert (short > 0.1)[~is_open].all()


def little_in_fp8() -> Runs:
    """Return runs with so little in FP8 that half precision explains some of them."""
    return simulated_runs(60, seed=2, fp8_shares=(0.1, 0.4))


@cache
def doubtful() -> FusedState:
    """Return constants to which FP8 is known twice as sharply, and explains nearly anything, as half does."""
    state = with_fp8()
    return replace(
        state,
        format_whitening=2 * state.format_whitening,
        largest_misfits=state.largest_misfits + 1000,
    )


def flop_log_of(state: FusedState, X: np.ndarray) -> np.ndarray:
    """Return ln(FLOP in each format / point), shape (n_runs, 1 + n_formats)."""
    inverted = inverted_signature(
        SignatureState(state.response, state.whitening, state.format_response, state.format_whitening), X
    )
    return inverted.executed_log + np.log(X[:, [FIRST_SIGNAL]] / state.answer(X).point_flop[:, None])


def test_formats_that_are_plausible_are_held_by_the_interval():
    """Where half precision explains a run and FP8 is as plausible as one in a hundred: up to FP8's answer."""
    state = doubtful()
    X = np.concatenate([FP8_RUNS.X, little_in_fp8().X])
    answer = state.answer(X)
    is_open = (answer.probability[:, [0, FP8]] >= PLAUSIBLE).all(axis=1)
    is_half = ~answer.is_identified | (answer.probability[:, 0] >= IDENTIFIED)
    chosen = is_open & is_half

    assert chosen.sum() > 3
    assert_allclose(answer.high_log[chosen], np.maximum(flop_log_of(state, X)[chosen, FP8], 0), atol=1e-9)
    assert (answer.high_log == answer.low_log)[~is_open].all()


def test_formats_that_are_possible_are_held_by_the_bound_for_hostile_workloads():
    """Below the gate the interval is half precision's, and the most is what FP8 would have been."""
    X = little_in_fp8().X
    answer = with_fp8().answer(X)
    passed = answer.probability[:, 0] >= IDENTIFIED

    assert passed.sum() > 5
    assert (answer.high_log[passed] == 0).all()
    assert_allclose(
        answer.most_log[passed], np.maximum(flop_log_of(with_fp8(), X)[passed, FP8], 0), atol=1e-9
    )


@pytest.mark.parametrize("state", [fitted, with_fp8])
def test_what_is_possible_holds_what_is_plausible(state: Callable[[], FusedState]):
    """The bound for hostile workloads never lies below that of the interval."""
    rows = np.concatenate([RUNS.X, FP8_RUNS.X, little_in_fp8().X, RUNS.X[:9] * [*[1] * 9, 100]])
    answer = state().answer(rows)

    assert (answer.most_log >= answer.high_log).all()


def test_honest_runs_are_hardly_opened():
    """A little FP8 cannot be excluded for runs in half precision: it adds a tenth at most."""
    most = with_fp8().answer(RUNS.X[ASKED]).most_log

    assert 0.03 < np.median(most) < 0.1
    assert most.max() < 0.12


def test_the_point_lies_between_the_formats_that_cannot_be_excluded():
    """What the point says is one of them, or what the constant says where nothing explains the signals."""
    for state in (fitted(), with_fp8()):
        answer = state.answer(np.concatenate([RUNS.X, FP8_RUNS.X]))

        assert (answer.low_log <= 0).all()
        assert (answer.high_log >= 0).all()


def test_a_format_is_identified_where_it_is_nearly_certain():
    """And only there; probabilities sum to 1, or are blank where no format explains the signals."""
    rows = np.concatenate([RUNS.X, FP8_RUNS.X, little_in_fp8().X, RUNS.X[:9] * [*[1] * 9, 1000]])
    answer = doubtful().answer(rows)
    explained = np.isfinite(answer.misfit)

    assert not explained.all()
    assert not answer.is_identified[explained].all()

    assert_array_equal(
        answer.is_identified[explained], answer.probability[explained].max(axis=1) >= IDENTIFIED
    )
    assert_allclose(answer.probability[explained].sum(axis=1), 1.0)
    assert np.isnan(answer.probability[~explained]).all()
