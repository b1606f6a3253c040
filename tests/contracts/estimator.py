"""What every estimator promises."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone

from flopwitness.core.ports import Estimator
from flopwitness.estimate.conformal import conformal_interval
from flopwitness.estimate.regressors.base import ALWAYS, WORKLOAD_FOLDS, FlopRegressor


class KnownRuns(NamedTuple):
    """What an estimator is fitted on; components where it can use them."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    components: NDArray[np.float64] | None = None

    def first(self, n_runs: int) -> "KnownRuns":
        """Return the first runs alone."""
        components = None if self.components is None else self.components[:n_runs]
        return KnownRuns(self.X[:n_runs], self.y[:n_runs], components)


class EstimatorContract:
    """Subclass, say how to make one and what to fit it on, and inherit the tests.

    Attributes
    ----------
    scales_with_truth : bool
        Whether it answers c times as much when every truth it learned was c times as much.
    """

    scales_with_truth = True

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one, without calibration of the interval."""
        raise NotImplementedError

    def known_runs(self) -> KnownRuns:
        """Return at least 40 runs of positive FLOP."""
        raise NotImplementedError

    def fitted(self, runs: KnownRuns | None = None, *, n_folds: int = 0) -> FlopRegressor:
        """Return one that has learned."""
        runs = self.known_runs() if runs is None else runs
        estimator = self.make_estimator().set_params(n_folds=n_folds)
        return estimator.fit(runs.X, runs.y, components=runs.components)

    def test_it_offers_what_the_port_asks_for(self):
        """Whoever composes knows the port alone."""
        assert isinstance(self.make_estimator(), Estimator)

    @pytest.mark.parametrize("n_folds", [0, 4])
    def test_the_interval_holds_the_point(self, n_folds: int):
        """Calibrated or not: 0 <= low <= point <= high."""
        runs, estimator = self.known_runs(), self.fitted(n_folds=n_folds)

        low, high = estimator.predict_interval(runs.X).T
        point = estimator.predict(runs.X)

        assert np.all((low >= 0) & (low <= point) & (point <= high))

    def test_without_calibration_nothing_is_promised(self):
        """An interval that no held-out run has tested reaches from 0 to infinity."""
        runs = self.known_runs()

        bounds = self.fitted().predict_interval(runs.X)

        assert_array_equal(bounds, np.tile([0.0, np.inf], (len(runs.X), 1)))

    def test_too_few_runs_promise_nothing(self):
        """18 held-out runs cannot promise 90 %, each side with half of the misses; 19 are needed."""
        runs = self.known_runs().first(18)

        bounds = self.fitted(runs, n_folds=3).predict_interval(runs.X)

        assert_array_equal(bounds, np.tile([0.0, np.inf], (len(runs.X), 1)))

    def test_enough_runs_give_a_finite_interval(self):
        """The promise is kept by an interval that says something."""
        runs = self.known_runs()

        bounds = self.fitted(n_folds=4).predict_interval(runs.X)

        assert np.isfinite(bounds).all()

    def test_one_group_alone_calibrates_nothing(self):
        """Runs that are held out together leave none to learn from."""
        runs = self.known_runs()
        estimator = self.make_estimator().set_params(n_folds=4)

        estimator.fit(runs.X, runs.y, groups=np.zeros(len(runs.y)), components=runs.components)

        assert estimator.interval_ == (-np.inf, np.inf)

    def test_runs_that_are_always_learned_from_are_never_held_out(self):
        """The interval rests on the others, each answered by a fit that saw these and none of its group."""
        runs = self.known_runs()
        groups = np.array([f"group {number % 4}" for number in range(len(runs.y) - 8)] + [ALWAYS] * 8)
        estimator = self.make_estimator().set_params(n_folds=4)
        estimator.fit(runs.X, runs.y, groups=groups, components=runs.components)
        scores = []
        for group in np.unique(groups[:-8]):
            held = groups == group
            learned = KnownRuns(*(None if part is None else part[~held] for part in runs))
            fold = self.fitted(learned)
            ratios = np.log(runs.y[held] / fold.predict(runs.X[held]))
            scores.extend(ratios / fold.spread(runs.X[held]))

        assert estimator.interval_ == pytest.approx(conformal_interval(scores, 0.9), abs=1e-9)

    def test_with_workloads_the_interval_holds_for_them_too(self):
        """Families held out, and workloads held out whose families stay: the wider end of both."""
        runs = self.known_runs()
        names = np.array([f"workload {number // 2}" for number in range(len(runs.y))])
        families = np.array([f"family {number % 8 // 2}" for number in range(len(runs.y))])
        whole, alone = (
            self.make_estimator()
            .set_params(n_folds=n_folds)
            .fit(runs.X, runs.y, groups=groups, components=runs.components, workloads=names)
            for groups, n_folds in ((families, 4), (names, WORKLOAD_FOLDS))
        )

        assert whole.interval_.low <= alone.interval_.low
        assert whole.interval_.high >= alone.interval_.high

    def test_no_session_has_less_than_the_usual_spread(self):
        """1 is the usual one, where nobody can tell too."""
        runs = self.known_runs()

        assert np.all(self.fitted().spread(runs.X) >= 1)

    def test_fit_returns_itself_and_writes_to_nothing(self):
        """Inputs are evidence."""
        runs = KnownRuns(*(None if part is None else part.copy() for part in self.known_runs()))
        for part in runs:
            if part is not None:
                part.flags.writeable = False
        estimator = self.make_estimator()

        assert estimator.fit(runs.X, runs.y, components=runs.components) is estimator
        assert_array_equal(runs.X, self.known_runs().X)
        assert_array_equal(runs.y, self.known_runs().y)

    def test_predicting_changes_nothing(self):
        """Neither the constants nor the question; asked twice it answers the same."""
        runs, estimator = self.known_runs(), self.fitted(n_folds=4)
        constants, question = json.dumps(estimator.state_.to_plain()), runs.X.copy()

        once, twice = estimator.predict(question), estimator.predict(question)

        assert_array_equal(once, twice)
        assert_array_equal(question, runs.X)
        assert json.dumps(estimator.state_.to_plain()) == constants

    def test_sessions_do_not_depend_on_their_neighbours(self):
        """In another order, or alone, each session gets the same answer."""
        runs, estimator = self.known_runs(), self.fitted()
        order = np.random.default_rng(0).permutation(len(runs.X))

        together = estimator.predict(runs.X)
        alone = [estimator.predict(row[None])[0] for row in runs.X[:8]]

        assert_allclose(estimator.predict(runs.X[order]), together[order], rtol=1e-9)
        assert_allclose(alone, together[:8], rtol=1e-9)

    def test_truths_that_are_scaled_scale_the_estimates(self):
        """FLOP or half FLOP is a choice of unit; what learns nothing cannot follow it."""
        runs = self.known_runs()
        scaled = KnownRuns(runs.X, runs.y * 8, runs.components)
        factor = 8.0 if self.scales_with_truth else 1.0

        assert_allclose(
            self.fitted(scaled).predict(runs.X), factor * self.fitted(runs).predict(runs.X), rtol=1e-6
        )

    def test_fitting_again_gives_the_same_bits(self):
        """Chance comes from a seed that is a parameter."""
        runs, estimator = self.known_runs(), self.fitted(n_folds=4)

        again = clone(estimator).fit(runs.X, runs.y, components=runs.components)

        assert_array_equal(again.predict_interval(runs.X), estimator.predict_interval(runs.X))

    def test_constants_survive_a_file(self):
        """As JSON and back they predict bit for bit the same, without scikit-learn."""
        runs, estimator = self.known_runs(), self.fitted()
        plain = json.loads(json.dumps(estimator.state_.to_plain(), allow_nan=False))

        state = type(estimator.state_).from_plain(plain)

        assert_array_equal(state.predict(runs.X), estimator.predict(runs.X))
