"""How the signature is learned: the mixture of each format, and how far signals scatter around it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimate.made import FP8_RESPONSE, RESPONSE, simulated_runs
from flopwitness.estimate.predictors.shape_search import log_ratios
from flopwitness.estimate.regressors.signature import fit_signature
from flopwitness.physics.components import FORMATS, touched_by

RUNS = simulated_runs(70)
FP8_RUNS = simulated_runs(40, seed=1, fp8_shares=(0.3, 1.0))
TOGETHER = RUNS.with_more(FP8_RUNS)
FP8 = FORMATS.index("fp8")


def test_the_mixture_is_recovered():
    """Exact signals give back the response that made them, as far as the shapes can tell."""
    signature = fit_signature(RUNS.signals, RUNS.components, inflation=1.0)

    assert_allclose(RUNS.counts @ signature.response.T, RUNS.signals, rtol=1e-6)
    assert (signature.response >= 0).all()
    assert signature.response[0, :2] == pytest.approx(RESPONSE[0, :2], rel=1e-3)


def test_a_format_is_learned_from_what_its_runs_leave():
    """Half precision explains its part; what is beyond it is the format's response."""
    signature = fit_signature(TOGETHER.signals, TOGETHER.components, inflation=1.0)
    share = FP8_RUNS.components[:, [8 + FP8]]

    learned = (FP8_RUNS.counts * share) @ signature.format_response[FP8].T

    assert_allclose(learned, (FP8_RUNS.counts * share) @ FP8_RESPONSE.T, rtol=1e-3)
    assert (signature.format_response >= 0).all()
    assert signature.format_response[FP8][0, 0] == pytest.approx(FP8_RESPONSE[0, 0], rel=1e-3)


def test_a_format_does_nothing_that_it_does_not_touch():
    """FP8 runs no attention and no output head: those components have no response of their own."""
    signature = fit_signature(TOGETHER.signals, TOGETHER.components, inflation=1.0)

    assert (signature.format_response[FP8][:, ~touched_by("fp8")] == 0).all()


def test_runs_in_another_format_teach_half_precision_nothing():
    """Response and errors of half precision are those without them."""
    without = fit_signature(RUNS.signals, RUNS.components, inflation=2.0)
    together = fit_signature(TOGETHER.signals, TOGETHER.components, inflation=2.0)

    assert_array_equal(together.response, without.response)
    assert_array_equal(together.whitening, without.whitening)


@pytest.mark.parametrize("n_columns", [8, 12])
def test_formats_without_runs_stay_unknown(n_columns: int):
    """All zeros, also where nobody said which format it was."""
    signature = fit_signature(RUNS.signals, RUNS.components[:, :n_columns], inflation=1.0)

    assert not signature.format_response.any()
    assert signature.format_response.shape == (len(FORMATS), *RESPONSE.shape)


def test_noisier_signals_are_trusted_less():
    """Errors come out at unit size: what scatters by 5 % weighs a tenth of what scatters by 0.5 %."""
    rng = np.random.default_rng(0)
    scatter = np.array([0.0, 0.05, 0.005, 0.005, 0.005, 0.005])
    noisy = RUNS.signals * np.exp(rng.normal(size=RUNS.signals.shape) * scatter)

    signature = fit_signature(noisy, RUNS.components, inflation=1.0)
    errors = log_ratios(noisy / (RUNS.counts @ signature.response.T)) @ signature.whitening

    assert errors.std(axis=0) == pytest.approx(np.full(5, 0.75), abs=0.3)
    assert np.linalg.norm(signature.whitening[0]) < 0.3 * np.linalg.norm(signature.whitening[1])


def test_inflation_makes_every_error_larger():
    """Twice the errors are half the weight, in every format."""
    single, double = (
        fit_signature(TOGETHER.signals, TOGETHER.components, inflation=size) for size in (1.0, 2.0)
    )

    assert_allclose(double.whitening, single.whitening / 2)
    assert_allclose(double.format_whitening[FP8], single.format_whitening[FP8] / 2)


def test_a_format_is_trusted_less_than_half_precision():
    """Its response rests on a handful of shapes."""
    signature = fit_signature(TOGETHER.signals, TOGETHER.components, inflation=1.0)

    assert np.linalg.norm(signature.format_whitening[FP8]) < np.linalg.norm(signature.whitening)
