"""Every method by its name, made for a target, with the columns that are its own."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from estimate.made import simulated_runs
from flopwitness.core.workload import Target
from flopwitness.estimate.features.row import FEATURE_NAMES
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.regressors.factories import columns_factory, regressor_factory

EVERY_METHOD = pytest.mark.parametrize("name", METHODS)


@EVERY_METHOD
@pytest.mark.parametrize("target", Target)
def test_every_method_can_be_made(name: str, target: Target):
    """Fresh each time, with settings that are given on."""
    make = regressor_factory(name, target)

    assert make(n_folds=3).n_folds == 3
    assert make() is not make()


@EVERY_METHOD
def test_a_method_learns_the_constants_that_its_calibration_holds(name: str):
    """What is fitted is what a calibration file can be read into."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 10, (8, len(METHODS[name].columns)))
    settings = {"n_epochs": 2, "n_members": 1} if name.startswith("mlp") else {}

    estimator = regressor_factory(name, Target.EXECUTED)(**settings).fit(X, X[:, 0])

    assert type(estimator.state_) is METHODS[name].state


def test_columns_exist():
    """Every column that a method reads is a feature, and the first ones are what it needs."""
    for method in METHODS.values():
        assert set(method.columns) <= set(FEATURE_NAMES)
        assert method.required == method.columns[: len(method.required)]
        assert method.required


@pytest.mark.parametrize(
    ("target", "expected"), [(Target.ALGORITHMIC, (True, 1.0)), (Target.EXECUTED, (False, 0.5))]
)
def test_fused_knows_its_target(target: Target, expected: tuple[bool, float]):
    """It follows the signature all the way where attention counts twice, half where the constant is good."""
    fused = regressor_factory("fused", target)()

    assert (fused.is_algorithmic, fused.blend_ratio) == expected


def test_an_unknown_name_is_refused():
    """No method is made from a guess."""
    with pytest.raises(KeyError, match="crystal-ball"):
        regressor_factory("crystal-ball", Target.EXECUTED)


def test_an_estimator_reads_its_own_columns_of_all():
    """Handed every feature it answers as with its own alone, though others are blank."""
    runs = simulated_runs(30)
    everything = np.full((30, 12), np.nan)
    everything[:, [7, 2]] = runs.X[:, :2]

    wide = columns_factory("pipe-cycles-calibrated", Target.EXECUTED, (7, 2), 3)()
    narrow = regressor_factory("pipe-cycles-calibrated", Target.EXECUTED)(n_folds=3)
    wide.fit(everything, runs.executed_flop)
    narrow.fit(runs.X[:, :2], runs.executed_flop)

    assert_array_equal(wide.predict(everything), narrow.predict(runs.X[:, :2]))
    assert_array_equal(wide.predict_interval(everything), narrow.predict_interval(runs.X[:, :2]))


@pytest.mark.parametrize(("n_folds", "expected"), [(0, None), (3, 0.9)])
def test_an_interval_travels_with_the_coverage_that_it_was_calibrated_for(
    n_folds: int, expected: float | None
):
    """None where it was not calibrated."""
    assert columns_factory("pipe-cycles", Target.EXECUTED, (0, 1), n_folds)().coverage_ratio == expected


@EVERY_METHOD
def test_a_recipe_can_be_sent_to_another_process(name: str):
    """Evaluation fits many at once."""
    make = columns_factory(name, Target.EXECUTED, (0, 1), 3)

    assert pickle.loads(pickle.dumps(make))().indices == [0, 1]  # noqa: S301  our own bytes
