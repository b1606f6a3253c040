"""The signature inverted: signals of a known mixture lead back to the FLOP that made them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from estimate.made import RESPONSE, Runs, simulated_runs
from flopwitness.estimate.predictors.signature import Inverted, SignatureState, log_ratios

STATE = SignatureState(RESPONSE, np.eye(len(RESPONSE) - 1) / 0.005)
"""Signals are trusted to half of a per cent each."""


@cache
def known() -> Runs:
    """Return runs of common shapes."""
    return simulated_runs(100)


def errors(inverted: Inverted, runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """Return relative errors of executed and of algorithmic FLOP."""
    reference = runs.signals[:, 0]
    return (
        np.abs(np.exp(inverted.executed_log) * reference / runs.executed_flop - 1),
        np.abs(np.exp(inverted.algorithmic_log) * reference / runs.algorithmic_flop - 1),
    )


def test_known_flop_are_recovered():
    """Executed FLOP within 1 % of every run; algorithmic ones within 1 % of half of the runs, 3 % of all."""
    executed, algorithmic = errors(STATE.invert(known().signals), known())

    assert executed.max() < 0.01
    assert np.median(algorithmic) < 0.01
    assert algorithmic.max() < 0.03


def test_it_knows_what_one_constant_cannot():
    """Attention fills the pipe less and counts twice: ratios scatter, the inverted ones do not."""
    runs = known()
    ratio = runs.algorithmic_flop / runs.signals[:, 0]
    by_constant = np.abs(np.median(ratio) / ratio - 1)

    _, algorithmic = errors(STATE.invert(runs.signals), runs)

    assert algorithmic.mean() < 0.3 * by_constant.mean()


def test_noise_of_the_expected_size_does_little_harm():
    """Half of a per cent on each signal: half of the runs stay within 1 %."""
    runs = known()
    noise = np.exp(np.random.default_rng(0).normal(0, 0.005, runs.signals.shape))
    noisy = runs._replace(X=runs.X * np.column_stack([np.ones((len(noise), 2)), noise]))

    executed, algorithmic = errors(STATE.invert(noisy.signals), noisy)

    assert np.median(executed) < 0.01
    assert np.median(algorithmic) < 0.01


def test_narrow_and_wide_heads_are_recovered_for_most_runs():
    """Heads of 32 look much like half as many of 64 to a padded kernel; the median run is not affected."""
    runs = simulated_runs(80, head_widths=(32, 64, 128, 256))

    executed, algorithmic = errors(STATE.invert(runs.signals), runs)

    assert np.median(executed) < 0.01
    assert np.median(algorithmic) < 0.02


@settings(deadline=None, max_examples=25)
@given(signals=st.lists(st.floats(1e-3, 1e18), min_size=7, max_size=7))
def test_executed_flop_are_between_half_and_all_of_the_algorithmic(signals: list[float]):
    """Whatever the signals: every shape obeys it, so every mean over shapes does. No answer is blank."""
    inverted = STATE.invert([signals])

    assert np.isfinite(inverted).all()
    assert inverted.executed_log[0] <= inverted.algorithmic_log[0] + 1e-12
    assert inverted.algorithmic_log[0] <= inverted.executed_log[0] + np.log(2) + 1e-12


def test_longer_runs_of_one_shape_have_the_same_signature():
    """Only proportions count: ten times as many steps give the same answer."""
    signals = known().signals[:20]

    once, longer = STATE.invert(signals), STATE.invert(10 * signals)

    assert_allclose(longer.executed_log, once.executed_log, atol=1e-9)
    assert_allclose(longer.misfit, once.misfit, rtol=1e-6, atol=1e-9)


def test_sessions_do_not_depend_on_their_neighbours():
    """Each is inverted by itself."""
    together = STATE.invert(known().signals[:10])
    alone = [STATE.invert(row[None]).executed_log[0] for row in known().signals[:10]]

    assert_allclose(alone, together.executed_log, rtol=1e-9)


def test_what_no_transformer_does_fits_badly():
    """A hundred times the memory traffic, no integer work to speak of: the misfit tells."""
    odd = known().signals[:5] * [1, 1, 0.001, 100, 1, 1, 1]

    assert STATE.invert(odd).misfit.min() > 100 * STATE.invert(known().signals).misfit.max()


def test_whitening_makes_errors_alike():
    """Half of a per cent of a signal is one standard deviation."""
    signals = known().signals[:3]
    off = signals * [1, np.exp(0.005), 1, 1, 1, 1, 1]

    moved = STATE.whitened(off) - STATE.whitened(signals)

    assert_allclose(moved, np.tile([1.0, 0, 0, 0, 0, 0], (3, 1)), atol=1e-6)
    assert log_ratios([[1.0, np.e, 1.0]]) == pytest.approx(np.array([[1.0, 0.0]]))
