"""What attacks do to estimators: medians over traces, beside a twin on the same boards."""

from math import inf, isnan

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.redteam.scoring import Contest, Trial, benign_bands, effects_of
from redteam.made import trial

METHODS = ("mlp", "fused")
EXACT = {"mlp": (1.1, 1.5), "fused": (1.0, 1.1)}


def contest(*trials: Trial, twins: tuple[Trial, ...] = (trial("twin", EXACT),)) -> Contest:
    """Return trials of one attack beside their twins."""
    return Contest("batch", trials, twins)


def test_an_effect_is_the_median_over_traces_and_its_distance_from_the_twins():
    """Signed error, movement in points of the twin's error, hidden share."""
    attacked = [trial("batch-64", {"mlp": (ratio, 1.2), "fused": (1.0, 1.1)}) for ratio in (0.5, 0.8, 0.9)]

    mlp, fused = effects_of(contest(*attacked), METHODS)

    assert (mlp.method, mlp.n_traces, mlp.strength) == ("mlp", 3, "64")
    assert mlp.signed_error_ratio == pytest.approx(-0.2)
    assert mlp.twin_error_ratio == pytest.approx(0.1)
    assert mlp.movement_ratio == pytest.approx(-0.3)
    assert mlp.hidden_ratio == pytest.approx(0.2)
    assert mlp.worst_error_ratio == pytest.approx(-0.5)
    assert (fused.hidden_ratio, fused.movement_ratio) == (0.0, 0.0)


def test_a_high_bound_holds_or_does_not_run_by_run():
    """At the truth it holds; what lies above the bound is hidden from it in the median."""
    highs = (0.7, 0.8, 1.0)
    attacked = [trial("batch-64", {"fused": (0.6, high)}) for high in highs]

    (effect,) = effects_of(contest(*attacked), ("fused",))

    assert effect.n_high_holds == 1
    assert effect.high_error_ratio == pytest.approx(-0.2)
    assert effect.hidden_from_high_ratio == pytest.approx(0.2)
    assert effect.width_ratio == pytest.approx(0.8 / 0.6)


def test_a_bound_without_end_holds_and_is_infinitely_wide():
    """It is no hiding place, and no answer either."""
    (effect,) = effects_of(contest(trial("batch-64", {"fused": (0.5, inf)})), ("fused",))

    assert (effect.n_high_holds, effect.width_ratio, effect.hidden_from_high_ratio) == (1, inf, 0.0)


def test_a_method_that_did_not_answer_hides_nothing_and_says_nothing():
    """No answer counts as infinitely too high, as in every evaluation."""
    (effect,) = effects_of(contest(trial("batch-64", {})), ("fused",))

    assert (effect.signed_error_ratio, effect.width_ratio, effect.n_high_holds) == (inf, inf, 1)


def test_each_setting_and_method_is_one_effect_in_the_order_of_the_trials():
    """Weakest first, as they were given."""
    trials = [trial(f"batch-{size}", EXACT) for size in (16, 128, 16, 128)]

    found = [(one.configuration, one.method) for one in effects_of(contest(*trials), METHODS)]

    assert found == [(f"batch-{size}", method) for size in (16, 128) for method in METHODS]


def test_twins_on_the_same_boards_are_preferred_and_others_marked():
    """Boards differ by more than attacks do; a twin elsewhere is better than none, and is said to be."""
    here, elsewhere = trial("twin", {"fused": (1.2, 2)}), trial("twin", {"fused": (0.7, 2)}, gpus=("GPU-z",))
    attacked = trial("batch-64", {"fused": (1.0, 2)})

    (same,) = effects_of(contest(attacked, twins=(elsewhere, here)), ("fused",))
    (other,) = effects_of(contest(attacked, twins=(elsewhere,)), ("fused",))

    assert (same.twin_error_ratio, same.has_same_gpus) == (pytest.approx(0.2), True)
    assert (other.twin_error_ratio, other.has_same_gpus) == (pytest.approx(-0.3), False)


def test_without_a_twin_movement_and_cost_are_not_known():
    """The error itself still is."""
    (effect,) = effects_of(contest(trial("batch-64", {"fused": (0.8, 1)}), twins=()), ("fused",))

    assert effect.signed_error_ratio == pytest.approx(-0.2)
    assert isnan(effect.movement_ratio)
    assert isnan(effect.cost.gpu_time_ratio)


def test_the_cost_stands_beside_the_effect():
    """Three times the GPU time for the same work is out of the game."""
    (effect,) = effects_of(contest(trial("batch-64", EXACT, gpu_seconds=12.0)), ("fused",))

    assert effect.cost.gpu_time_ratio == pytest.approx(3.0)
    assert not effect.cost.is_in_budget


def test_a_format_is_identified_only_where_it_is_in_every_trace():
    """One doubtful trace makes the setting doubtful."""
    trials = [trial("batch-64", EXACT, identified=number > 0) for number in range(3)]

    (effect,) = effects_of(contest(*trials), ("fused",))

    assert not effect.is_format_identified


def test_the_benign_band_holds_nine_tenths():
    """5th to 95th percentile of signed errors; nothing benign, no band."""
    calm = [trial("twin", {"fused": (0.9 + number / 100, 2)}) for number in range(21)]

    bands = benign_bands(calm, ("fused",))

    assert bands["fused"] == pytest.approx((-0.09, 0.09))
    assert benign_bands((), ("fused",)) == {}


def test_a_truth_that_cannot_be_one_is_refused():
    """Errors are relative to it."""
    one = trial("twin", EXACT)

    with pytest.raises(InvalidNounError, match="must be positive"):
        Trial("x", "", one.gpus, 0.0, one.answers, one.spending)
