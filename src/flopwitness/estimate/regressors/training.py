"""Full-batch Adam for an ensemble of small networks, all members at once, in NumPy."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEARNING_RATE = 3e-3
DECAY_OF_MEAN, DECAY_OF_SQUARE, EPSILON = 0.9, 0.999, 1e-8
"""Adam's constants (Kingma and Ba, arXiv:1412.6980, section 2)."""

Weights = list[NDArray[np.float64]]
"""One array a layer, shape (n_members, n_in + 1, n_out); the bias stands in the last row."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How an ensemble is trained.

    Attributes
    ----------
    n_hidden, n_members, n_epochs : int
        Width of both hidden layers, seeds, full-batch epochs.
    dropout_ratio, weight_decay : float
        Share of hidden units left out at each epoch; L2 penalty.
    """

    n_hidden: int
    n_members: int
    n_epochs: int
    dropout_ratio: float
    weight_decay: float


def trained(
    inputs: NDArray[np.float64], target: NDArray[np.float64], plan: TrainingPlan, *, random: Any
) -> Weights:
    """Return the weights that minimise the mean squared error, after ``plan.n_epochs`` epochs.

    Parameters
    ----------
    inputs, target : ndarray of shape (n_runs, n_inputs) and (n_runs, 1)
        Standardised.
    plan : TrainingPlan
        The settings.
    random : numpy.random.RandomState
        Draws the initial weights and the units left out.
    """
    sizes = (inputs.shape[1], plan.n_hidden, plan.n_hidden, 1)
    weights = [_initial(plan.n_members, n_in, n_out, random) for n_in, n_out in pairwise(sizes)]
    moments = [(np.zeros_like(layer), np.zeros_like(layer)) for layer in weights]
    keep = 1 - plan.dropout_ratio
    drawn = (plan.n_members, len(inputs), plan.n_hidden)
    for epoch in range(1, plan.n_epochs + 1):
        masks = [(random.random_sample(drawn) < keep) / keep for _ in range(2)]
        slopes = _slopes(weights, inputs, target, masks)
        for layer, slope, (mean, square) in zip(weights, slopes, moments, strict=True):
            slope[:, :-1] += plan.weight_decay * layer[:, :-1]
            np.add(mean, (1 - DECAY_OF_MEAN) * (slope - mean), out=mean)
            np.add(square, (1 - DECAY_OF_SQUARE) * (slope**2 - square), out=square)
            size = np.sqrt(square / (1 - DECAY_OF_SQUARE**epoch)) + EPSILON
            step = LEARNING_RATE * mean / (1 - DECAY_OF_MEAN**epoch) / size
            np.subtract(layer, step, out=layer)
    return weights


def _initial(n_members: int, n_in: int, n_out: int, random: Any) -> NDArray[np.float64]:
    """Draw uniform weights within 1 / sqrt(n_in), as torch.nn.Linear does."""
    drawn: NDArray[np.float64] = random.uniform(-1, 1, (n_members, n_in + 1, n_out)) / np.sqrt(n_in)
    return drawn


def _slopes(
    weights: Weights, inputs: NDArray[np.float64], target: NDArray[np.float64], masks: Weights
) -> Weights:
    """Return the gradient of every member's mean squared error, layer by layer."""
    layers = [np.broadcast_to(inputs, (len(weights[0]), *inputs.shape))]
    for matrix, mask in zip(weights[:-1], masks, strict=True):
        layers.append(np.maximum(layers[-1] @ matrix[:, :-1] + matrix[:, -1:], 0.0) * mask)
    answer = layers[-1] @ weights[-1][:, :-1] + weights[-1][:, -1:]
    error = 2 * (answer - target) / len(inputs)
    slopes = []
    for depth in (2, 1, 0):
        bias = error.sum(axis=1, keepdims=True)
        slopes.append(np.concatenate([np.swapaxes(layers[depth], 1, 2) @ error, bias], axis=1))
        if depth:
            passed = masks[depth - 1] * (layers[depth] > 0)
            error = (error @ np.swapaxes(weights[depth][:, :-1], 1, 2)) * passed
    return slopes[::-1]
