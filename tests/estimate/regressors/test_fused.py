"""How the fused estimate learns: constants, the signature of runs of known shape, what both got wrong."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from estimate.made import NAN, Runs, simulated_runs
from flopwitness.estimate.predictors.format_choice import GATE_MISFIT
from flopwitness.estimate.predictors.fused import inverted_signature
from flopwitness.estimate.predictors.signature import SignatureState
from flopwitness.estimate.regressors.fused import (
    MIN_RUNS,
    MISFIT_MARGIN,
    UNKNOWN_LOG,
    UNKNOWN_MARGIN_LOG,
    FusedRegressor,
)
from flopwitness.estimate.regressors.pipe_cycles import CalibratedPipeRegressor
from flopwitness.physics.components import FORMATS

RUNS = simulated_runs(70)
FIT, HELD_OUT = slice(0, 45), slice(45, 70)
FP8_RUNS = simulated_runs(40, seed=1, fp8_shares=(0.5, 1.0))


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
    assert np.isinf(fused.state_.answer(RUNS.X).misfit).all()
    assert (fused.strangeness(RUNS.X) == 1).all()


@pytest.mark.parametrize(("n_known", "is_enough"), [(MIN_RUNS - 1, False), (MIN_RUNS, True)])
def test_few_runs_of_known_shape_are_as_good_as_none(n_known: int, *, is_enough: bool):
    """Eight components a signal cannot be fixed by a handful; NaN components are not known."""
    components = RUNS.components[FIT].copy()
    components[n_known:] = NAN

    fused = FusedRegressor().fit(RUNS.X[FIT], RUNS.executed_flop[FIT], components=components)
    same = np.allclose(fused.predict(RUNS.X[HELD_OUT]), constant_answers(RUNS.executed_flop), rtol=1e-9)

    assert same == (not is_enough)


def test_calibration_runs_with_holes_are_left_out():
    """A blank signal, one of 0, or work on another matrix pipe: nothing that a signature is learned from."""
    X = RUNS.X[:30].copy()
    X[3, 4], X[5, 8], X[7, 2] = NAN, 0.0, 0.1 * X[7, 0]

    fused = FusedRegressor().fit(X, RUNS.executed_flop[:30], components=RUNS.components[:30])

    assert len(fused.state_.neighbour_signatures) == 27
    assert np.isfinite(fused.predict(X)).all()


@pytest.mark.parametrize("asked", [FIT, HELD_OUT])
def test_a_constant_fault_of_all_runs_is_learned_once(asked: slice):
    """Truths 3 % higher than the pipes say, all alike: 3 % for strangers, and no more for neighbours."""
    fused = FusedRegressor(blend_ratio=1.0)
    fused.fit(RUNS.X[FIT], 1.03 * RUNS.executed_flop[FIT], components=RUNS.components[FIT])

    ratio = fused.predict(RUNS.X[asked]) / RUNS.executed_flop[asked]

    assert np.median(ratio) == pytest.approx(1.03, abs=0.005)


def fitted_on(runs: Runs, **settings: float) -> FusedRegressor:
    """Return an estimator that learned executed FLOP from runs of known shape."""
    return FusedRegressor(**settings).fit(runs.X, runs.executed_flop, components=runs.components)


def test_runs_in_another_format_change_nothing_for_half_precision():
    """Constants and corrections are learned from runs in half precision alone."""
    without, together = fitted_on(RUNS.of(FIT)), fitted_on(RUNS.of(FIT).with_more(FP8_RUNS))

    for name in ("flop_per_pipe_flop", "vector_ratio", "correction_log"):
        assert getattr(together.state_, name) == getattr(without.state_, name)
    assert_allclose(together.predict(RUNS.X[HELD_OUT]), without.predict(RUNS.X[HELD_OUT]), rtol=1e-9)


def test_formats_of_the_calibration_say_what_a_cycle_may_be_worth():
    """From the least that any run was worth to the most that hardware can do, and a margin on either side."""
    state = fitted_on(RUNS.of(FIT).with_more(FP8_RUNS)).state_
    worth = np.log(FP8_RUNS.executed_flop / FP8_RUNS.X[:, 0] / state.flop_per_pipe_flop)

    assert worth.max() < UNKNOWN_LOG[1]
    assert state.unknown_high_log == pytest.approx(UNKNOWN_LOG[1] + UNKNOWN_MARGIN_LOG)
    assert state.unknown_low_log == pytest.approx(-UNKNOWN_MARGIN_LOG)


def test_without_formats_in_the_calibration_the_hardware_says_it():
    """A quarter for split FP32 values, twice for FP8: nobody measured it here."""
    state = fitted_on(RUNS.of(FIT)).state_

    assert (state.unknown_low_log, state.unknown_high_log) == UNKNOWN_LOG


@pytest.mark.parametrize("scale", [0.0, 0.05])
def test_signals_are_explained_up_to_what_the_worst_calibration_run_shows_and_some_room(scale: float):
    """Half precision no less than the gate lets pass; all other formats share the limit of the worst."""
    runs = RUNS.of(FIT).with_more(FP8_RUNS)
    noise = np.exp(np.random.default_rng(0).normal(0, scale, runs.signals.shape))
    noisy = runs._replace(X=np.column_stack([runs.X[:, :4], runs.signals * noise]))
    state = fitted_on(noisy, error_inflation=0.5 if scale else 2.0).state_
    misfit = inverted_signature(
        SignatureState(state.response, state.whitening, state.format_response, state.format_whitening),
        noisy.X,
    ).misfit

    half, fp8 = misfit[:45, 0].max(), misfit[45:, 1].max()

    assert state.largest_misfits == pytest.approx(
        [max(MISFIT_MARGIN * half, GATE_MISFIT), *[MISFIT_MARGIN * fp8] * len(FORMATS)]
    )
    assert (half * MISFIT_MARGIN > GATE_MISFIT) == (scale > 0)


def test_no_calibration_run_of_a_known_format_is_unexplained():
    """Each of them is answered by its signature."""
    runs = RUNS.of(FIT).with_more(FP8_RUNS)

    assert np.isfinite(fitted_on(runs).state_.answer(runs.X).misfit).all()


def test_runs_on_cuda_cores_teach_the_signature_nothing():
    """Vector work beyond the usual: what the common pipe shows is not all of what was done."""
    X = np.concatenate([RUNS.X[:30], RUNS.X[30:40] * [0.5, 1, 1, 1, 0.5, 1, 1, 1, 1, 1]])
    X[30:, 1] = 2 * X[30:, 0]

    fused = FusedRegressor().fit(X, RUNS.executed_flop[:40], components=RUNS.components[:40])

    assert len(fused.state_.neighbour_signatures) == 30


def test_the_guard_is_calibrated_on_runs_that_were_held_out():
    """From 99 runs on it is finite; with fewer, or without folds, nothing is promised."""
    many = simulated_runs(105, seed=3)

    assert 0 <= fitted_on(many, n_folds=3).guard_log_ < 0.2
    assert fitted_on(RUNS, n_folds=3).guard_log_ == np.inf
    assert fitted_on(many).guard_log_ == np.inf


def test_what_lies_far_from_the_calibration_is_strange():
    """1 where the signature fits exactly, more the worse it fits."""
    fused = fitted_on(RUNS.of(FIT))
    known = fused.strangeness(RUNS.X[HELD_OUT])
    moved = fused.strangeness(RUNS.X[HELD_OUT] * [*[1] * 8, 1.05, 1])

    assert (known >= 1).all()
    assert known.max() < 1.3
    assert np.median(moved) > np.median(known)
