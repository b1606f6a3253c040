"""How the fused estimate learns: the mixture from runs of known shape, the rest from what it got wrong."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from estimate.made import NAN, RESPONSE, simulated_runs
from flopwitness.estimate.predictors.signature import log_ratios
from flopwitness.estimate.regressors.fused import MIN_RUNS, FusedRegressor, fit_signature
from flopwitness.estimate.regressors.pipe_cycles import CalibratedPipeRegressor

RUNS = simulated_runs(70)
FIT, HELD_OUT = slice(0, 45), slice(45, 70)


def test_the_mixture_is_recovered():
    """Exact signals give back the response that made them, as far as the shapes can tell."""
    signature = fit_signature(RUNS.signals, RUNS.components, inflation=1.0)

    assert_allclose(RUNS.components @ signature.response.T, RUNS.signals, rtol=1e-6)
    assert (signature.response >= 0).all()
    assert signature.response[0, :2] == pytest.approx(RESPONSE[0, :2], rel=1e-3)


def test_noisier_signals_are_trusted_less():
    """Errors come out at unit size: what scatters by 5 % weighs a tenth of what scatters by 0.5 %."""
    rng = np.random.default_rng(0)
    scatter = np.array([0.0, 0.05, 0.005, 0.005, 0.005, 0.005, 0.005])
    noisy = RUNS.signals * np.exp(rng.normal(size=RUNS.signals.shape) * scatter)

    signature = fit_signature(noisy, RUNS.components, inflation=1.0)
    errors = log_ratios(noisy / (RUNS.components @ signature.response.T)) @ signature.whitening

    assert errors.std(axis=0) == pytest.approx(np.full(6, 0.75), abs=0.3)
    assert np.linalg.norm(signature.whitening[0]) < 0.3 * np.linalg.norm(signature.whitening[1])


def test_inflation_makes_every_error_larger():
    """Twice the errors are half the weight."""
    single, double = (fit_signature(RUNS.signals, RUNS.components, inflation=size) for size in (1.0, 2.0))

    assert_allclose(double.whitening, single.whitening / 2)


@pytest.mark.parametrize("is_algorithmic", [False, True])
def test_runs_that_were_held_out_are_answered_better_than_by_the_constant(*, is_algorithmic: bool):
    """Less than half of the constant's error, for both targets."""
    truth = RUNS.algorithmic_flop if is_algorithmic else RUNS.executed_flop
    fused = FusedRegressor(is_algorithmic=is_algorithmic, blend_ratio=1.0)
    fused.fit(RUNS.X[FIT], truth[FIT], components=RUNS.components[FIT])
    constant = CalibratedPipeRegressor().fit(RUNS.X[FIT, :2], truth[FIT])

    def mean_error(answers: np.ndarray) -> float:
        return float(np.abs(answers / truth[HELD_OUT] - 1).mean())

    assert mean_error(fused.predict(RUNS.X[HELD_OUT])) < 0.5 * mean_error(
        constant.predict(RUNS.X[HELD_OUT, :2])
    )


def constant_answers(y: np.ndarray) -> np.ndarray:
    """Return what pipe-cycles-calibrated answers for the held-out runs."""
    return CalibratedPipeRegressor().fit(RUNS.X[FIT, :2], y[FIT]).predict(RUNS.X[HELD_OUT, :2])


def test_without_shapes_it_is_the_calibrated_constant():
    """No components: bit for bit what one constant answers, up to a logarithm and back."""
    fused = FusedRegressor().fit(RUNS.X[FIT], RUNS.executed_flop[FIT])

    assert_allclose(fused.predict(RUNS.X[HELD_OUT]), constant_answers(RUNS.executed_flop), rtol=1e-12)
    assert not fused.state_.lacks_signature(RUNS.X).any()


@pytest.mark.parametrize(("n_known", "is_enough"), [(MIN_RUNS - 1, False), (MIN_RUNS, True)])
def test_few_runs_of_known_shape_are_as_good_as_none(n_known: int, *, is_enough: bool):
    """Eight components a signal cannot be fixed by a handful; NaN components are not known."""
    components = RUNS.components[FIT].copy()
    components[n_known:] = NAN

    fused = FusedRegressor().fit(RUNS.X[FIT], RUNS.executed_flop[FIT], components=components)
    same = np.allclose(fused.predict(RUNS.X[HELD_OUT]), constant_answers(RUNS.executed_flop), rtol=1e-9)

    assert same == (not is_enough)


def test_calibration_runs_with_holes_are_left_out():
    """A run with a blank signal, or one of 0, teaches the constant and no signature."""
    X = RUNS.X[:30].copy()
    X[3, 4], X[5, 8] = NAN, 0.0

    fused = FusedRegressor().fit(X, RUNS.executed_flop[:30], components=RUNS.components[:30])

    assert len(fused.state_.neighbour_signatures) == 28
    assert np.isfinite(fused.predict(X)).all()


@pytest.mark.parametrize("asked", [FIT, HELD_OUT])
def test_a_constant_fault_of_all_runs_is_learned_once(asked: slice):
    """Truths 3 % higher than the pipes say, all alike: 3 % for strangers, and no more for neighbours."""
    fused = FusedRegressor(blend_ratio=1.0)
    fused.fit(RUNS.X[FIT], 1.03 * RUNS.executed_flop[FIT], components=RUNS.components[FIT])

    ratio = fused.predict(RUNS.X[asked]) / RUNS.executed_flop[asked]

    assert np.median(ratio) == pytest.approx(1.03, abs=0.005)
