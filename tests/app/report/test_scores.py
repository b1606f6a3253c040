"""Every evaluation is summed up once, in one order, with the same draws for all of its estimators."""

import numpy as np
import pytest

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.scores import EQUAL_FOLDS, IN_DISTRIBUTION, chosen, scored
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol


def evaluations(*protocols: Protocol, target: Target = Target.ALGORITHMIC):
    """Return evaluations by their key."""
    return {(protocol, target): evaluation_of(protocol=protocol, target=target) for protocol in protocols}


def test_figures_are_those_of_the_evaluation():
    """Medians of 25, 10 and 1 %; bounds of 10 % around the truth hold all, as they were meant to for 90 %."""
    result = scored_of(evaluation_of())

    medians = {name: score.errors.median_abs_error_ratio for name, score in result.scores.items()}
    assert medians == pytest.approx({"linear-power": 0.25, "mlp": 0.1, "fused": 0.01})
    assert result.best == "fused"
    assert result.scores["mlp"].coverage.coverage_ratio == 1.0
    assert result.scores["mlp"].nominal_coverage_ratio == 0.9


def test_order_does_not_depend_on_the_mapping():
    """Targets, then protocols, as their types list them."""
    given = evaluations(Protocol.FAMILY, Protocol.RANDOM, target=Target.EXECUTED) | evaluations(
        Protocol.FOLDS
    )

    results = scored(given, rng=np.random.default_rng(0))

    order = [(result.target, result.protocol) for result in results]
    assert order == [
        (Target.ALGORITHMIC, Protocol.FOLDS),
        (Target.EXECUTED, Protocol.RANDOM),
        (Target.EXECUTED, Protocol.FAMILY),
    ]


def test_estimators_are_resampled_alike():
    """Two that always say the same have the same interval."""
    result = scored_of(evaluation_of({"one": [0.5, 1.2, 1.3], "other": [0.5, 1.2, 1.3]}))

    assert result.scores["one"].median_interval == result.scores["other"].median_interval


def test_dots_and_bars_take_the_experiments_protocols_first():
    """Random splits for dots, equal folds for bars; what there is, otherwise; never another target."""
    both = scored(evaluations(Protocol.RANDOM, Protocol.FOLDS), rng=np.random.default_rng(0))
    rest = scored(evaluations(Protocol.FROZEN), rng=np.random.default_rng(0))

    assert chosen(both, Target.ALGORITHMIC, IN_DISTRIBUTION).protocol is Protocol.RANDOM
    assert chosen(both, Target.ALGORITHMIC, EQUAL_FOLDS).protocol is Protocol.FOLDS
    assert chosen(rest, Target.ALGORITHMIC, EQUAL_FOLDS).protocol is Protocol.FROZEN
    assert chosen(both, Target.EXECUTED, IN_DISTRIBUTION) is None


def test_orders_name_every_protocol():
    """No evaluation is without figures because nobody thought of it."""
    assert set(IN_DISTRIBUTION) == set(EQUAL_FOLDS) == set(Protocol)
