"""A learning curve: sizes that differ in nothing but the number of workloads calibrated on."""

import json

import numpy as np
import pytest

from evaluate.made import FailingEstimator, ShareEstimator, SilentEstimator, noisy_examples
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.learning_curve import BAND, LearningCurve, curve_object, growing_splits
from flopwitness.evaluate.protocols import Protocol, score_split

ESTIMATORS = {"share": ShareEstimator, "failing": FailingEstimator, "silent": SilentEstimator}


def growing(examples: Examples, n_draws: int = 5, seed: int = 0):
    """Return the splits by size."""
    return growing_splits(examples, n_draws=n_draws, rng=np.random.default_rng(seed))


def curve_of(examples: Examples, n_draws: int = 5) -> LearningCurve:
    """Return the curve of three estimators."""
    return LearningCurve(
        {
            size: Evaluation(
                Protocol.RANDOM,
                examples,
                tuple(score_split(ESTIMATORS, examples, split) for split in splits),
            )
            for size, splits in growing(examples, n_draws).items()
        }
    )


def test_every_size_of_a_draw_is_scored_on_the_same_workloads():
    """Otherwise the curve would show luck with what was held out."""
    by_size = growing(noisy_examples(24, 2))

    tested = [[split.test.tolist() for split in splits] for splits in by_size.values()]

    assert list(by_size) == [4, 8, 16]
    assert all(one == tested[0] for one in tested)


def test_a_larger_calibration_holds_the_smaller_one_and_no_tested_workload():
    """Sizes are nested within a draw; whole workloads are on one side."""
    examples = noisy_examples(24, 3)
    by_size = growing(examples)

    for splits in zip(*by_size.values(), strict=True):
        trained = [set(examples.workloads[split.train].tolist()) for split in splits]
        tested = set(examples.workloads[splits[0].test].tolist())

        assert [len(names) for names in trained] == list(by_size)
        assert trained[0] < trained[1] < trained[2]
        assert not trained[2] & tested


def test_draws_differ_and_a_seed_gives_them_again():
    """Chance is an argument."""
    examples = noisy_examples(24, 1)
    first, again, other = (growing(examples, seed=seed)[4] for seed in (1, 1, 2))

    rows = [[split.train.tolist() for split in splits] for splits in (first, again, other)]

    assert rows[0] == rows[1] != rows[2]
    assert rows[0][0] != rows[0][1]


def test_sizes_leave_a_quarter_of_the_workloads():
    """With 68 workloads, 64 would leave four to score."""
    assert list(growing(noisy_examples(68, 1), n_draws=1)) == [4, 8, 16, 32]


@pytest.mark.parametrize(("n_workloads", "n_draws"), [(5, 1), (24, 0)])
def test_too_few_workloads_or_draws_are_refused(n_workloads: int, n_draws: int) -> None:
    """A curve of nothing says nothing."""
    with pytest.raises(BadInputError, match="at least 6 workloads"):
        growing(noisy_examples(n_workloads, 1), n_draws)


def test_a_curve_needs_a_point():
    """An empty one cannot be said."""
    with pytest.raises(InvalidNounError):
        LearningCurve({})


def test_a_point_is_the_middle_and_the_band_of_the_draws():
    """Each draw gives the median over its held-out traces; the figures are quantiles of these."""
    curve = curve_of(noisy_examples(24, 2), n_draws=7)
    evaluation = curve.evaluations[8]
    by_hand = [
        float(
            np.median(
                np.abs(
                    score.predictions["share"].point_flop / evaluation.examples.truth_flop[score.split.test]
                    - 1
                )
            )
        )
        for score in evaluation.scores
    ]

    (point,) = (
        one for one in curve_object(curve)["estimators"]["share"] if one["n_calibration_workloads"] == 8
    )

    assert curve.medians("share", 8) == pytest.approx(by_hand)
    assert point["median_abs_error_ratio"] == pytest.approx(np.median(by_hand))
    assert [point["low_ratio"], point["high_ratio"]] == pytest.approx(np.quantile(by_hand, BAND))


def test_the_object_is_json_and_says_what_was_done():
    """An estimator that never answers has no finite error: null."""
    found = json.loads(json.dumps(curve_object(curve_of(noisy_examples(24, 2))), allow_nan=False))

    expected = {
        "target": "executed",
        "draws": 5,
        "n_workloads": 24,
        "n_traces": 48,
        "n_held_out_workloads": 8,
    }
    assert {name: found[name] for name in expected} == expected
    assert list(found["estimators"]) == list(ESTIMATORS)
    assert found["estimators"]["silent"][0]["median_abs_error_ratio"] is None
