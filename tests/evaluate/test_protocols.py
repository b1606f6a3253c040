"""Scoring one split: a fresh estimator sees one side and is asked about the other."""

import pickle
from functools import partial

import numpy as np
import pytest

from evaluate.made import GroupedEstimator, ShareEstimator, examples_of, noisy_examples
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.ports import Estimator
from flopwitness.evaluate.protocols import Predictions, SplitScores, score_split
from flopwitness.evaluate.splits import Split, random_splits

SPLIT = Split(np.array([0, 1]), np.array([2]), "by hand")


def test_an_estimator_is_asked_about_the_held_out_side_alone() -> None:
    """The feature is half the truth, so the learned share is two and the answer exact."""
    examples = examples_of(["a", "b", "c"])

    scores = score_split({"share": ShareEstimator}, examples, SPLIT)

    assert scores.predictions["share"].point_flop.tolist() == [3e15]
    assert scores.predictions["share"].bounds_flop.tolist() == [[3e15, 3e15]]
    assert scores.n_train_workloads == 2


def test_the_held_out_truth_has_no_influence() -> None:
    """Another truth of the tested example changes no estimate."""
    features = examples_of(["a", "b", "c"])
    other = examples_of(["a", "b", "c"], truth_flop=[1e15, 2e15, 9e15])

    expected = score_split({"share": ShareEstimator}, features, SPLIT).predictions["share"].point_flop / 3
    actual = score_split({"share": ShareEstimator}, other, SPLIT).predictions["share"].point_flop / 9

    assert expected.tolist() == actual.tolist()


def test_each_split_gets_a_fresh_estimator() -> None:
    """Nothing learned in one split may reach the next."""
    made: list[ShareEstimator] = []

    def make() -> Estimator:
        made.append(ShareEstimator())
        return made[-1]

    for _ in range(2):
        score_split({"share": make}, examples_of(["a", "b", "c"]), SPLIT)

    assert made[0] is not made[1]


def test_an_estimator_that_takes_groups_is_told_the_workloads() -> None:
    """Its own calibration keeps the traces of a workload together too."""
    made = GroupedEstimator()

    score_split({"grouped": lambda: made}, examples_of(["a", "b", "c"]), SPLIT)

    assert np.asarray(made.groups_).tolist() == ["a", "b"]


def test_the_nominal_coverage_travels_with_the_intervals() -> None:
    """Achieved coverage means nothing without what was promised."""
    make = partial(ShareEstimator, coverage_ratio=0.8)

    scores = score_split({"share": make}, examples_of(["a", "b", "c"]), SPLIT)

    assert scores.predictions["share"].nominal_coverage_ratio == 0.8


def test_an_error_of_an_estimator_goes_through() -> None:
    """An evaluation that broke is not an evaluation with fewer scores."""
    with pytest.raises(IndexError):
        score_split({"broken": partial(ShareEstimator, column=5)}, examples_of(["a", "b", "c"]), SPLIT)


def test_everything_travels_to_a_worker_process_and_back() -> None:
    """Splits are scored side by side; pickling changes no answer."""
    examples = noisy_examples(6, 2)
    (split,) = random_splits(examples, n_splits=1, rng=np.random.default_rng(0))
    arguments = ({"share": partial(ShareEstimator, column=0)}, examples, split)

    expected = score_split(*arguments)
    sent = pickle.loads(pickle.dumps(arguments))  # noqa: S301 - our own bytes
    actual = pickle.loads(pickle.dumps(score_split(*sent)))  # noqa: S301 - our own bytes

    assert actual.split.test.tolist() == expected.split.test.tolist()
    assert (
        actual.predictions["share"].point_flop.tolist() == expected.predictions["share"].point_flop.tolist()
    )


def test_answers_that_do_not_fit_together_are_refused() -> None:
    """One point and two bounds an example."""
    with pytest.raises(InvalidNounError, match="points and bounds"):
        Predictions(np.ones(2), np.ones((3, 2)))


def test_answers_to_another_question_are_refused() -> None:
    """An estimator that leaves out a held-out example cannot be scored as if it had not."""
    with pytest.raises(InvalidNounError, match="answered for 2 examples, asked for 1"):
        SplitScores(SPLIT, 2, {"short": Predictions(np.ones(2), np.ones((2, 2)))})
