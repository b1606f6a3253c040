"""Training of the networks: the gradient, what is learned, and that chance is a parameter."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from flopwitness.estimate.regressors.network import NetworkRegressor
from flopwitness.estimate.regressors.training import TrainingPlan, Weights, _slopes, trained

N_RUNS, N_INPUTS, N_HIDDEN, N_MEMBERS = 7, 3, 4, 2
KEEP = 0.75


def drawn() -> tuple[Weights, NDArray[np.float64], NDArray[np.float64], Weights]:
    """Return weights, inputs, target and the units that dropout leaves."""
    rng = np.random.default_rng(1)
    sizes = [(N_INPUTS, N_HIDDEN), (N_HIDDEN, N_HIDDEN), (N_HIDDEN, 1)]
    weights = [rng.normal(size=(N_MEMBERS, n_in + 1, n_out)) for n_in, n_out in sizes]
    masks = [(rng.random((N_MEMBERS, N_RUNS, N_HIDDEN)) < KEEP) / KEEP for _ in range(2)]
    return weights, rng.normal(size=(N_RUNS, N_INPUTS)), rng.normal(size=(N_RUNS, 1)), masks


def losses(weights: Weights, inputs: NDArray[np.float64], target: NDArray[np.float64], masks: Weights):
    """Return each member's mean squared error, written out by hand."""
    found = []
    for member in range(N_MEMBERS):
        layer = inputs
        for matrix, mask in zip(weights[:2], masks, strict=True):
            layer = np.maximum(layer @ matrix[member, :-1] + matrix[member, -1], 0) * mask[member]
        answer = layer @ weights[2][member, :-1] + weights[2][member, -1]
        found.append(np.mean((answer - target) ** 2))
    return np.array(found)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_gradient_is_that_of_the_mean_squared_error(depth: int):
    """Every weight and bias of every member, against central differences, units left out as drawn."""
    weights, inputs, target, masks = drawn()
    expected = np.zeros_like(weights[depth])
    for index in np.ndindex(expected.shape):
        for sign in (1, -1):
            moved = [layer.copy() for layer in weights]
            moved[depth][index] += sign * 1e-6
            expected[index] += sign * losses(moved, inputs, target, masks)[index[0]] / 2e-6

    assert_allclose(_slopes(weights, inputs, target, masks)[depth], expected, atol=1e-7)


def trained_on(plan: TrainingPlan, seed: int = 0) -> Weights:
    """Train on the drawn runs."""
    _, inputs, target, _ = drawn()
    return trained(inputs, target, plan, random=np.random.RandomState(seed))


PLAN = TrainingPlan(n_hidden=8, n_members=3, n_epochs=10, dropout_ratio=0.1, weight_decay=1e-3)


def test_a_seed_decides_everything():
    """The same seed gives the same bits; another one gives other weights."""
    first, again, other = trained_on(PLAN), trained_on(PLAN), trained_on(PLAN, seed=1)

    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_members_differ():
    """An ensemble of one opinion would be no ensemble."""
    hidden = trained_on(PLAN)[0]

    assert not np.array_equal(hidden[0], hidden[1])


def test_weights_start_small_and_within_the_usual_bounds():
    """Before the first epoch: uniform within 1 / sqrt(n_in), as in the experiment's library."""
    plan = TrainingPlan(n_hidden=8, n_members=3, n_epochs=0, dropout_ratio=0.1, weight_decay=0.0)

    for layer, n_in in zip(trained_on(plan), (N_INPUTS, 8, 8), strict=True):
        assert layer.shape[1] == n_in + 1
        assert np.abs(layer).max() <= 1 / np.sqrt(n_in)


def test_steps_are_adams():
    """Four epochs by hand (arXiv:1412.6980, algorithm 1), no dropout: weights decay, biases do not."""
    _, inputs, target, _ = drawn()
    plan = TrainingPlan(n_hidden=4, n_members=2, n_epochs=4, dropout_ratio=0.0, weight_decay=0.5)
    weights = trained(inputs, target, replace(plan, n_epochs=0), random=np.random.RandomState(0))
    every_unit = [np.ones((2, N_RUNS, 4))] * 2
    moments = [[0.0 * layer, 0.0 * layer] for layer in weights]
    for epoch in range(1, 5):
        slopes = _slopes(weights, inputs, target, every_unit)
        for layer, slope, moment in zip(weights, slopes, moments, strict=True):
            slope[:, :-1] += 0.5 * layer[:, :-1]
            moment[0] = 0.9 * moment[0] + 0.1 * slope
            moment[1] = 0.999 * moment[1] + 0.001 * slope**2
            mean, square = moment[0] / (1 - 0.9**epoch), moment[1] / (1 - 0.999**epoch)
            layer[...] = layer - 3e-3 * mean / (np.sqrt(square) + 1e-8)

    for expected, actual in zip(weights, trained_on(plan), strict=True):
        assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


def ratio_runs(n_runs: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two columns and the law FLOP = 1e15 x first / second."""
    X = np.random.default_rng(seed).uniform(1, 10, (n_runs, 2))
    return X, 1e15 * X[:, 0] / X[:, 1]


def test_a_simple_law_is_learned():
    """The ratio of two columns, on runs that were not seen, within a few per cent."""
    X, y = ratio_runs(200, seed=0)
    unseen, truth = ratio_runs(100, seed=1)
    network = NetworkRegressor(dropout_ratio=0.0, n_members=3, n_epochs=300).fit(X, y)

    error = np.abs(network.predict(unseen) / truth - 1)

    assert np.median(error) < 0.02
    assert np.quantile(error, 0.9) < 0.05


def test_the_residual_network_starts_from_power():
    """FLOP in proportion to energy up to 1 %: little is left to correct, however short the training."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 10, (30, 2))
    y = 1e12 * X[:, 0] * np.exp(rng.normal(0, 0.01, 30))
    network = NetworkRegressor(is_residual=True, n_members=2, n_epochs=5).fit(X, y)

    assert network.state_.base_flop_per_joule == pytest.approx(1e12, rel=0.01)
    assert_allclose(network.predict(X), y, rtol=0.05)


def test_another_seed_is_another_estimate():
    """And the same one is the same, which the contract holds."""
    X, y = ratio_runs(30, seed=0)
    quick = {"n_members": 1, "n_epochs": 5}

    one, other = (NetworkRegressor(random_state=seed, **quick).fit(X, y).predict(X) for seed in (0, 1))

    assert not np.array_equal(one, other)


def test_the_published_settings_are_the_defaults():
    """Two hidden layers of 32, dropout 0.1, weight decay 1e-3, 400 epochs, five seeds."""
    network = NetworkRegressor()

    settings = (
        network.n_hidden,
        network.dropout_ratio,
        network.weight_decay,
        network.n_epochs,
        network.n_members,
    )
    assert settings == (32, 0.1, 1e-3, 400, 5)
    assert_array_equal([layer.shape[2] for layer in trained_on(PLAN)], [8, 8, 1])
