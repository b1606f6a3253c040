"""Rows and the JSON object: every number finite or null, every figure that of the evaluation."""

import json

import numpy as np
import pytest

from evaluate.made import FailingEstimator, ShareEstimator, SilentEstimator, examples_of, noisy_examples
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.protocols import Protocol, score_split
from flopwitness.evaluate.splits import frozen, random_splits
from flopwitness.evaluate.tables import (
    estimator_rows,
    evaluation_object,
    family_rows,
    run_objects,
    workload_rows,
)

ESTIMATORS = {"share": ShareEstimator, "failing": FailingEstimator, "silent": SilentEstimator}
FIGURES = (
    "median_abs_error_ratio",
    "mean_abs_error_ratio",
    "p90_abs_error_ratio",
    "worst_under_ratio",
    "worst_over_ratio",
)


@pytest.fixture
def evaluation() -> Evaluation:
    """Return 10 random splits of 9 workloads, one estimator good, one failing, one silent."""
    examples = noisy_examples(9, 2)
    splits = random_splits(examples, n_splits=10, rng=np.random.default_rng(0))
    scores = tuple(score_split(ESTIMATORS, examples, split) for split in splits)
    return Evaluation(Protocol.RANDOM, examples, scores)


@pytest.fixture
def frozen_evaluation() -> Evaluation:
    """Return three calibrated workloads against two tested ones."""
    calibration = examples_of(["a", "b", "c"], truth_flop=[1e15, 2e15, 3e15])
    test = examples_of(["d", "e"], truth_flop=[2e15, 4e15], families=["new", "new"], datasets=["y", "y"])
    examples, split = frozen(calibration, test)
    return Evaluation(Protocol.FROZEN, examples, (score_split(ESTIMATORS, examples, split),))


def printed(evaluation: Evaluation) -> dict:
    """Return the object as a reader of the output gets it."""
    found = evaluation_object(evaluation, rng=np.random.default_rng(0), n_draws=50)
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_object_says_what_was_evaluated(evaluation: Evaluation) -> None:
    """Protocol, target and sizes stand before any figure."""
    found = printed(evaluation)

    expected = {"protocol": "random", "target": "executed", "splits": 10, "n_workloads": 9, "n_traces": 18}
    expected |= {"n_held_out_workloads": 9, "n_calibration_workloads": 6, "score_unit": "trace"}

    assert {name: found[name] for name in expected} == expected
    assert list(found["estimators"]) == list(ESTIMATORS)
    assert "runs" not in found


def test_figures_are_those_of_the_evaluation(evaluation: Evaluation) -> None:
    """The object copies, it does not compute."""
    found = printed(evaluation)["estimators"]["share"]
    summary = evaluation.errors("share").summary()

    assert {name: found[name] for name in FIGURES} == {name: getattr(summary, name) for name in FIGURES}
    assert (found["n_scores"], found["n_failed"]) == (60, 0)
    assert found["coverage"]["nominal_ratio"] == 0.9
    assert found["coverage"]["coverage_ratio"] == evaluation.coverage("share").coverage_ratio
    assert list(found["families"]) == ["family-0", "family-1", "family-2"]


def test_an_interval_holds_its_figure_and_states_its_clusters(evaluation: Evaluation) -> None:
    """An interval without the number of clusters says nothing."""
    found = printed(evaluation)["estimators"]["share"]
    interval = found["median_abs_error_ratio_interval"]

    assert interval["low_ratio"] <= found["median_abs_error_ratio"] <= interval["high_ratio"]
    assert (interval["n_clusters"], interval["n_draws"], interval["confidence_ratio"]) == (9, 50, 0.95)


def test_what_has_no_bound_is_null(evaluation: Evaluation) -> None:
    """JSON has no infinity; null is unbounded, never zero and never absent."""
    found = printed(evaluation)["estimators"]["silent"]

    assert found["median_abs_error_ratio"] is None
    assert found["worst_over_ratio"] is None
    assert found["worst_under_ratio"] == 0.0
    assert found["n_failed"] == found["n_scores"] == 60
    assert found["coverage"]["median_width_ratio"] is None


def test_the_same_seed_prints_the_same_object(evaluation: Evaluation) -> None:
    """Chance is an argument."""
    assert printed(evaluation) == printed(evaluation)


def test_frozen_lists_every_tested_run(frozen_evaluation: Evaluation) -> None:
    """The feature is half the truth, so the share estimator is exact and its interval a point."""
    found = printed(frozen_evaluation)
    (first, second) = found["runs"]

    assert (found["n_workloads"], found["n_traces"], found["n_calibration_workloads"]) == (2, 2, 3)
    assert {name: first[name] for name in ("name", "family", "dataset", "truth_flop")} == {
        "name": "d",
        "family": "new",
        "dataset": "y",
        "truth_flop": 2e15,
    }
    assert second["estimates"]["share"] == {"point_flop": 4e15, "low_flop": 4e15, "high_flop": 4e15}


def test_a_run_without_an_answer_is_listed_with_nulls(frozen_evaluation: Evaluation) -> None:
    """An estimator that fails stays in the list."""
    _, second = run_objects(frozen_evaluation)

    assert second["estimates"]["failing"] == {"point_flop": None, "low_flop": 0.0, "high_flop": None}


def test_estimator_rows_are_flat(evaluation: Evaluation) -> None:
    """A table has cells, not objects."""
    rows = estimator_rows(evaluation)

    assert [row["estimator"] for row in rows] == list(ESTIMATORS)
    assert {type(cell) for row in rows for cell in row.values()} <= {str, int, float, type(None)}
    assert rows[0]["worst_under_workload"] in evaluation.examples.workloads


def test_family_rows_cover_every_estimator_and_family(evaluation: Evaluation) -> None:
    """Three estimators, three families, nine rows, and no score lost."""
    rows = family_rows(evaluation)

    assert len({(row["estimator"], row["family"]) for row in rows}) == 9
    assert sum(row["n_scores"] for row in rows if row["estimator"] == "failing") == 60


def test_workload_rows_give_the_dots(evaluation: Evaluation) -> None:
    """One row an estimator and workload, with truth and median estimate."""
    rows = [row for row in workload_rows(evaluation) if row["estimator"] == "share"]

    assert [row["workload"] for row in rows] == sorted(set(evaluation.examples.workloads.tolist()))
    assert sum(row["n_scores"] for row in rows) == 60
    assert all(0.3 < row["point_flop"] / row["truth_flop"] < 3 for row in rows)
