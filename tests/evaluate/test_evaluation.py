"""Pooled figures agree with a slow reference, whatever the order of examples, splits and scale."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluate.made import FailingEstimator, ShareEstimator, SilentEstimator, examples_of, noisy_examples
from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.bootstrap import cluster_draws, median_statistic
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.protocols import Predictions, Protocol, SplitScores, score_split
from flopwitness.evaluate.splits import Split, folds, random_splits

ESTIMATORS = {"share": ShareEstimator, "failing": FailingEstimator, "silent": SilentEstimator}
SEEDS = st.integers(0, 10_000)
N_RATIOS = 7
"""How many of the figures below are ratios; points follow."""


def evaluated(examples: Examples, protocol: Protocol = Protocol.RANDOM, *, seed: int = 0) -> Evaluation:
    """Score the fakes by one protocol."""
    rng = np.random.default_rng(seed)
    make = folds if protocol is Protocol.FOLDS else random_splits
    extra = {"n_folds": 3, "n_repeats": 2} if protocol is Protocol.FOLDS else {"n_splits": 5}
    splits = make(examples, rng=rng, **extra)
    return Evaluation(protocol, examples, tuple(score_split(ESTIMATORS, examples, split) for split in splits))


def by_hand(points: list[float], *, protocol: Protocol = Protocol.RANDOM) -> Evaluation:
    """Return an evaluation of four traces of two held-out workloads with truth 100, points as given."""
    examples = examples_of(["a", "a", "b", "b", "c"], truth_flop=[100.0] * 5)
    split = Split(np.array([4]), np.arange(4), "by hand")
    point = np.array(points)
    predictions = {"hand": Predictions(point, np.column_stack([point - 5, point + 5]))}
    return Evaluation(protocol, examples, (SplitScores(split, 1, predictions),))


def sorted_middle(values: NDArray[np.float64]) -> float:
    """Return the median by its definition."""
    ranked = sorted(values.tolist())
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


def slow_errors(evaluation: Evaluation, estimator: str) -> list[float]:
    """Walk over splits, workloads and traces one by one."""
    examples, found = evaluation.examples, []
    for score in evaluation.scores:
        signed: dict[str, list[float]] = {}
        for row, point in zip(score.split.test, score.predictions[estimator].point_flop, strict=True):
            error = point / examples.truth_flop[row] - 1
            signed.setdefault(str(examples.workloads[row]), []).append(np.inf if np.isnan(error) else error)
        for errors in signed.values():
            found += [float(np.median(errors))] if evaluation.protocol is Protocol.FOLDS else errors
    return found


@pytest.mark.parametrize("protocol", [Protocol.RANDOM, Protocol.FOLDS])
@pytest.mark.parametrize("estimator", ["share", "failing"])
@given(seed=SEEDS)
def test_pooled_figures_equal_a_slow_reference(protocol: Protocol, estimator: str, seed: int) -> None:
    """The median is over all held-out scores of all splits, as in the published experiment."""
    evaluation = evaluated(noisy_examples(7, 3, seed=seed), protocol, seed=seed)

    expected = slow_errors(evaluation, estimator)
    summary = evaluation.errors(estimator).summary()

    assert summary.n == len(expected)
    assert summary.n_failed == int(np.isinf(expected).sum())
    assert summary.mean_abs_error_ratio == pytest.approx(float(np.mean(np.abs(expected))))
    assert summary.median_abs_error_ratio == pytest.approx(sorted_middle(np.abs(expected)))
    assert summary.worst_under_ratio == pytest.approx(min(0.0, *expected))


@given(seed=SEEDS, order=st.permutations(range(18)))
def test_figures_do_not_depend_on_the_order_of_examples(seed: int, order: list[int]) -> None:
    """Rows of a table have no rank."""
    examples = noisy_examples(6, 3, seed=seed)

    expected, actual = evaluated(examples, seed=seed), evaluated(examples.take(order), seed=seed)

    for name in ESTIMATORS:
        assert figures_of(actual, name) == pytest.approx(figures_of(expected, name))


def figures_of(evaluation: Evaluation, name: str) -> list[float]:
    """Return the figures of one estimator that could depend on order."""
    summary, coverage = evaluation.errors(name).summary(), evaluation.coverage(name)
    draws = cluster_draws(
        len(np.unique(evaluation.errors(name).workloads)), n_draws=30, rng=np.random.default_rng(1)
    )
    interval = evaluation.interval(name, statistic=median_statistic, draws=draws)
    return [
        summary.median_abs_error_ratio,
        summary.mean_abs_error_ratio,
        summary.p90_abs_error_ratio,
        coverage.coverage_ratio,
        coverage.median_width_ratio,
        interval.low,
        interval.high,
        *evaluation.workload_medians(name).point_flop.tolist(),
    ]


@given(scale=st.floats(1e-3, 1e3))
def test_scaling_every_truth_scales_no_ratio(scale: float) -> None:
    """An estimator that learns the new unit is as good as before."""
    examples = noisy_examples(6, 2)
    scaled = replace(examples, truth_flop=examples.truth_flop * scale)

    expected, actual = evaluated(examples), evaluated(scaled)

    assert figures_of(actual, "share")[:N_RATIOS] == pytest.approx(figures_of(expected, "share")[:N_RATIOS])


def test_a_trace_protocol_scores_every_trace() -> None:
    """Two traces of each of two workloads are four scores."""
    errors = by_hand([110, 130, 100, 60]).errors("hand")

    assert errors.signed_error_ratio.tolist() == pytest.approx([0.1, 0.3, 0.0, -0.4])


def test_folds_score_the_median_of_a_workload() -> None:
    """One value a held-out workload: the median of its predictions."""
    errors = by_hand([110, 130, 100, 60], protocol=Protocol.FOLDS).errors("hand")

    assert errors.signed_error_ratio.tolist() == pytest.approx([0.2, -0.2])
    assert errors.workloads.tolist() == ["a", "b"]


def test_worst_cases_have_names() -> None:
    """A worst case that cannot be looked up cannot be explained."""
    assert by_hand([110, 130, 100, 60]).errors("hand").worst_workloads() == ("b", "a")
    assert by_hand([100, 100, 100, 100]).errors("hand").worst_workloads() == (None, None)


def test_dots_are_medians_over_the_splits_that_held_a_workload_out() -> None:
    """Each workload has one dot: its truth and its median estimate."""
    evaluation = by_hand([110, 130, 100, 60])
    twice = replace(evaluation, scores=evaluation.scores * 2)

    dots = twice.workload_medians("hand")

    assert dots.workloads.tolist() == ["a", "b"]
    assert dots.point_flop.tolist() == pytest.approx([120.0, 80.0])
    assert dots.truth_flop.tolist() == [100.0, 100.0]
    assert dots.n_scores.tolist() == [4, 4]


def test_an_estimator_that_never_answers_is_infinitely_wrong() -> None:
    """Silence is the worst score, not a missing row."""
    summary = evaluated(noisy_examples(6, 2)).errors("silent").summary()

    assert summary.median_abs_error_ratio == np.inf
    assert summary.n_failed == summary.n == 20


def test_families_are_summed_up_apart() -> None:
    """Pooling families hides the bad one."""
    evaluation = by_hand([110, 110, 150, 150])
    families = np.array(["good", "good", "bad", "bad", "good"])
    evaluation = replace(evaluation, examples=replace(evaluation.examples, families=families))

    errors, coverage = evaluation.errors("hand").by_family(), evaluation.coverage_by_family("hand")

    assert list(errors) == list(coverage) == ["bad", "good"]
    assert errors["bad"].median_abs_error_ratio == pytest.approx(0.5)
    assert errors["good"].n == coverage["good"].n == 2


def test_coverage_counts_traces_and_trusts_workloads() -> None:
    """Half of the intervals hold the truth; two workloads say little of the next."""
    coverage = by_hand([103, 97, 110, 90]).coverage("hand")

    assert coverage.coverage_ratio == 0.5
    assert (coverage.n, coverage.n_workloads) == (4, 2)
    assert coverage.high_ratio - coverage.low_ratio > 0.8


def test_a_nominal_coverage_is_named_only_where_all_splits_agree() -> None:
    """One number cannot stand for two promises."""
    evaluation = evaluated(noisy_examples(6, 2))
    (first, *_) = evaluation.scores
    other = replace(
        first, predictions={n: replace(p, nominal_coverage_ratio=0.5) for n, p in first.predictions.items()}
    )

    assert evaluation.nominal_coverage_ratio("share") == 0.9
    assert replace(evaluation, scores=(first, other)).nominal_coverage_ratio("share") is None


def test_an_evaluation_of_nothing_is_refused() -> None:
    """Without a split there is no score."""
    with pytest.raises(InvalidNounError, match="at least one split"):
        Evaluation(Protocol.RANDOM, examples_of(["a"]), ())


def test_splits_of_different_estimators_are_refused() -> None:
    """An estimator that is missing from a split was not scored on the same workloads."""
    evaluation = evaluated(noisy_examples(6, 2))
    short = replace(evaluation.scores[0], predictions={})

    with pytest.raises(InvalidNounError, match="has estimators"):
        replace(evaluation, scores=(*evaluation.scores, short))
