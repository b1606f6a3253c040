"""The search for a shape: laws of the mixture, of the steps and of what an answer is charged for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimate.made import FP8_RESPONSE, RESPONSE, Runs, simulated_runs
from flopwitness.estimate.predictors.shape_search import PRIOR_MEAN, Choices, ShapeSearch, log_ratios
from flopwitness.physics.components import replaced_by

RUNS = simulated_runs(12)
FP8_RUNS = simulated_runs(12, seed=1, fp8_shares=(0.3, 1.0))
HEADS, ADAM = np.array([64.0, 128.0, 128.0]), np.array([1.0, 0.0, 1.0])
WHITENING = np.eye(len(RESPONSE) - 1) / 0.01
HALF = Choices(HEADS, ADAM, RESPONSE, WHITENING)
FP8 = Choices(HEADS, ADAM, RESPONSE, WHITENING, FP8_RESPONSE, replaced_by("fp8"))


def searched(choices: Choices, signals: np.ndarray) -> ShapeSearch:
    """Return a search that has taken its rounds."""
    search = ShapeSearch(choices, log_ratios(signals))
    search.run()
    return search


def test_only_proportions_are_looked_at():
    """Every signal over the first one, as a logarithm."""
    assert log_ratios([[1.0, np.e, 1.0], [7.0, 7.0, 7 * np.e]]) == pytest.approx(np.array([[1, 0], [0, 1.0]]))


@pytest.mark.parametrize("choices", [HALF, FP8])
def test_half_precision_is_one_mixture(choices: Choices):
    """No share of another format, or a share of 0: each component by its response."""
    share = None if choices is HALF else np.zeros((12, 1))

    assert_allclose(choices.signals(RUNS.counts, share), RUNS.signals)


def test_a_format_takes_over_its_share_and_leaves_the_rest():
    """FP8 does a share of the linear FLOP, its casts scale with that share, attention stays as it was."""
    assert_allclose(FP8.signals(FP8_RUNS.counts, FP8_RUNS.components[:, 8:9]), FP8_RUNS.signals)

    attention = np.eye(8)[1]

    assert_array_equal(FP8.signals(attention, np.array([0.7])), RESPONSE[:, 1])


def test_what_is_searched_for_has_one_size_more_in_another_format():
    """The share of the work in it."""
    assert [len(choices.prior[0]) for choices in (HALF, FP8)] == [len(PRIOR_MEAN), len(PRIOR_MEAN) + 1]


@pytest.mark.parametrize(("choices", "runs"), [(HALF, RUNS), (FP8, FP8_RUNS)])
def test_a_step_that_does_not_help_is_not_taken(choices: Choices, runs: Runs):
    """However many rounds: no choice of any session ends farther away than it began."""
    search = ShapeSearch(choices, log_ratios(runs.signals))
    before = search.distance.copy()

    search.run()

    assert (search.distance <= before).all()
    assert (search.distance.min(axis=1) < 0.05 * before.min(axis=1)).all()


@pytest.mark.parametrize(("choices", "runs", "worst"), [(HALF, RUNS, 0.01), (FP8, FP8_RUNS, 0.12)])
def test_the_nearest_shape_spent_the_flop(choices: Choices, runs: Runs, worst: float):
    """Under its own format, the choice that lies nearest gives back what each run spent."""
    search = searched(choices, runs.signals)
    nearest = search.distance.argmin(axis=1)

    flop_log = search.executed_log[np.arange(12), nearest] + np.log(runs.signals[:, 0])

    assert np.abs(flop_log - np.log(runs.executed_flop)).max() < worst


@settings(deadline=None, max_examples=15)
@given(signals=st.lists(st.floats(1e-6, 1e18), min_size=6, max_size=6), choices=st.sampled_from([HALF, FP8]))
def test_an_answer_never_covers_more_than_the_prior(signals: list[float], choices: Choices):
    """Whatever the signals: finite answers, curvature of at least that of the prior, which is 1 a size."""
    search = searched(choices, np.array([signals]))

    assert np.isfinite(search.executed_log).all()
    assert np.isfinite(search.distance).all()
    assert (search.log_curvature() >= -1e-6).all()


def test_exact_signals_are_charged_more():
    """Signals that are trusted ten times as much leave less of the prior: Occam's factor falls."""
    loose, sharp = (
        searched(Choices(HEADS, ADAM, RESPONSE, WHITENING * factor), RUNS.signals) for factor in (1, 10)
    )

    assert (sharp.log_curvature() > loose.log_curvature()).all()
