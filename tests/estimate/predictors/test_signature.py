"""The signature inverted: signals of a known mixture lead back to the FLOP and the format that made them."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimate.made import FP8_RESPONSE, RESPONSE, Runs, simulated_runs
from flopwitness.estimate.predictors.format_choice import GATE_MISFIT
from flopwitness.estimate.predictors.signature import Inverted, SignatureState
from flopwitness.physics.components import FORMATS

N_FORMATS, N_RATIOS = len(FORMATS), len(RESPONSE) - 1
FP8 = 1 + FORMATS.index("fp8")
TRUSTED = np.eye(N_RATIOS) / 0.005
"""Signals are trusted to half of a per cent each."""

STATE = SignatureState(RESPONSE, TRUSTED, np.empty(0), np.empty(0))
"""Half precision alone."""

FORMAT_RESPONSE = np.zeros((N_FORMATS, *RESPONSE.shape))
FORMAT_RESPONSE[FP8 - 1] = FP8_RESPONSE
WITH_FP8 = SignatureState(RESPONSE, TRUSTED, FORMAT_RESPONSE, np.tile(TRUSTED, (N_FORMATS, 1, 1)))


@cache
def known() -> Runs:
    """Return runs of common shapes."""
    return simulated_runs(100)


@cache
def in_fp8() -> Runs:
    """Return runs of which 60 to 100 % of the linear FLOP ran in FP8."""
    return simulated_runs(60, seed=1, fp8_shares=(0.6, 1.0))


def errors(inverted: Inverted, runs: Runs, column: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return relative errors of executed and of algorithmic FLOP."""
    reference = runs.signals[:, 0]
    return (
        np.abs(np.exp(inverted.executed_log[:, column]) * reference / runs.executed_flop - 1),
        np.abs(np.exp(inverted.algorithmic_log[:, column]) * reference / runs.algorithmic_flop - 1),
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
    noisy = runs._replace(X=runs.X * np.column_stack([np.ones((len(noise), 4)), noise]))

    executed, algorithmic = errors(STATE.invert(noisy.signals), noisy)

    assert np.median(executed) < 0.01
    assert np.median(algorithmic) < 0.01


def test_narrow_and_wide_heads_are_recovered_for_most_runs():
    """Heads of 32 look much like half as many of 64 to a padded kernel; the median run is not affected."""
    runs = simulated_runs(80, head_widths=(32, 64, 128, 256))

    executed, algorithmic = errors(STATE.invert(runs.signals), runs)

    assert np.median(executed) < 0.01
    assert np.median(algorithmic) < 0.02


SIGNALS = st.lists(st.floats(1e-3, 1e18), min_size=N_RATIOS + 1, max_size=N_RATIOS + 1)


@settings(deadline=None, max_examples=25)
@given(signals=SIGNALS, state=st.sampled_from([STATE, WITH_FP8]))
def test_executed_flop_are_between_half_and_all_of_the_algorithmic(
    signals: list[float], state: SignatureState
):
    """Whatever the signals: every shape obeys it, so every mean over shapes does, in every format asked."""
    inverted = state.invert([signals])
    asked = np.isfinite(inverted.misfit[0])
    executed, algorithmic = inverted.executed_log[0, asked], inverted.algorithmic_log[0, asked]

    assert asked[0]
    assert np.isfinite(executed).all()
    assert (executed <= algorithmic + 1e-12).all()
    assert (algorithmic <= executed + np.log(2) + 1e-12).all()


@settings(deadline=None, max_examples=25)
@given(signals=SIGNALS)
def test_doubt_is_how_far_the_shapes_that_explain_a_session_differ(signals: list[float]):
    """Never negative, and no more than half of the range that executed over algorithmic FLOP can take."""
    inverted = STATE.invert([signals])
    executed, algorithmic = inverted.target(is_algorithmic=False), inverted.target(is_algorithmic=True)

    assert executed == (inverted.executed_log, inverted.executed_doubt_log)
    assert algorithmic == (inverted.algorithmic_log, inverted.algorithmic_doubt_log)
    assert inverted.executed_doubt_log[0, 0] >= 0
    assert inverted.algorithmic_doubt_log[0, 0] >= 0


@settings(deadline=None, max_examples=25)
@given(signals=SIGNALS)
def test_a_format_that_was_never_learned_is_no_answer(signals: list[float]):
    """NaN, an infinite misfit, no evidence; every format that was learned is asked about, whatever it is."""
    inverted = WITH_FP8.invert([signals])
    table = np.array(inverted)
    learned = np.isin(np.arange(1 + N_FORMATS), [0, FP8])

    assert table.shape == (6, 1, 1 + N_FORMATS)
    assert np.isfinite(table[:, :, learned]).all()
    assert np.isnan(table[[0, 1, 4, 5]][:, :, ~learned]).all()
    assert (inverted.misfit[:, ~learned] == np.inf).all()
    assert (inverted.evidence_log[:, ~learned] == -np.inf).all()


def test_half_precision_is_inverted_as_if_no_other_format_were_known():
    """Bit for bit; and runs in it are never likelier in another format that could be any share of them."""
    alone, together = STATE.invert(known().signals), WITH_FP8.invert(known().signals)

    for one, other in zip(alone, together, strict=True):
        assert_array_equal(other[:, 0], one[:, 0])
    assert (together.misfit[:, 0] < GATE_MISFIT).all()
    assert (together.evidence_log[:, 0] > together.evidence_log[:, FP8] + 2).all()


def test_another_format_is_recovered_and_told():
    """FP8 runs that nobody labelled: 1,000 times the evidence, FLOP within 3 % for half, 17 % in all."""
    inverted = WITH_FP8.invert(in_fp8().signals)
    odds_log = inverted.evidence_log[:, FP8] - inverted.evidence_log[:, 0]

    executed, algorithmic = errors(inverted, in_fp8(), FP8)

    assert odds_log.min() > np.log(1000)
    assert np.median(executed) < 0.03
    assert np.median(algorithmic) < 0.03
    assert max(executed.max(), algorithmic.max()) < 0.17


def test_how_sure_a_format_is_of_itself_does_not_count():
    """Evidence rests on how far the nearest shape is, in tails that never call a bad explanation certain."""
    strange = in_fp8().signals * [1, 1, 1, 50, 1, 1]

    odds_log = np.ptp(WITH_FP8.invert(strange).evidence_log[:, [0, FP8]], axis=1)
    misfit = WITH_FP8.invert(strange).misfit[:, [0, FP8]]

    assert (np.abs(np.diff(misfit, axis=1)[:, 0]) / 2 > 5 * odds_log).mean() > 0.9


def test_a_small_share_of_another_format_passes_for_half_precision():
    """The limit of the point: a tenth of the blocks in FP8 mostly passes the gate, and 5 % is missed."""
    runs = simulated_runs(60, seed=1, fp8_shares=(0.1, 0.1))
    inverted = WITH_FP8.invert(runs.signals)
    passed = inverted.misfit[:, 0] <= GATE_MISFIT

    short = np.log(runs.executed_flop / runs.signals[:, 0]) - inverted.executed_log[:, 0]

    assert passed.mean() > 0.5
    assert short[passed].max() < 0.06


def test_without_the_format_nothing_explains_its_runs():
    """Half precision alone fits no run that is mostly in FP8 as well as it fits its own."""
    misfit = STATE.invert(in_fp8().signals).misfit[:, 0]

    assert misfit.min() > 5 * STATE.invert(known().signals).misfit[:, 0].max()


@pytest.mark.parametrize("runs", [known, in_fp8])
def test_longer_runs_of_one_shape_have_the_same_signature(runs: Callable[[], Runs]):
    """Only proportions count: ten times as many steps give the same answer."""
    signals = runs().signals[:20]

    once, longer = WITH_FP8.invert(signals), WITH_FP8.invert(10 * signals)

    for one, other in zip(once, longer, strict=True):
        assert_allclose(other, one, rtol=1e-6, atol=1e-9)


def test_sessions_do_not_depend_on_their_neighbours():
    """Each is inverted by itself, in every format."""
    signals = np.concatenate([known().signals[:6], in_fp8().signals[:6]])

    together = WITH_FP8.invert(signals)
    alone = [WITH_FP8.invert(row[None]) for row in signals]

    for number, part in enumerate(together):
        assert_allclose([one[number][0] for one in alone], part, rtol=1e-6, atol=1e-12)


def test_what_no_transformer_does_fits_badly():
    """A hundred times the memory traffic, no integer work to speak of: the misfit tells, in every format."""
    odd = known().signals[:5] * [1, 1, 0.001, 100, 1, 1]

    assert (
        WITH_FP8.invert(odd).misfit[:, [0, FP8]].min()
        > 100 * STATE.invert(known().signals).misfit[:, 0].max()
    )


def test_whitening_makes_errors_alike():
    """Half of a per cent of a signal is one standard deviation."""
    signals = known().signals[:3]
    off = signals * [1, np.exp(0.005), 1, 1, 1, 1]

    moved = STATE.whitened(off) - STATE.whitened(signals)

    assert_allclose(moved, np.tile([1.0, 0, 0, 0, 0], (3, 1)), atol=1e-6)


def test_a_format_without_runs_is_not_known():
    """All zeros stand for nothing learned."""
    assert STATE.known_formats == ()
    assert WITH_FP8.known_formats == (FORMATS.index("fp8"),)
