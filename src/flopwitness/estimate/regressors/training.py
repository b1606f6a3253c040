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
    flat, weights = _one_vector([_initial(plan.n_members, *pair, random) for pair in pairwise(sizes)])
    decay, decay_of = _one_vector([np.full_like(layer, plan.weight_decay) for layer in weights])
    for matrix in decay_of:
        matrix[:, -1] = 0.0  # a bias does not decay
    mean, square = np.zeros_like(flat), np.zeros_like(flat)
    drawn = (plan.n_members, len(inputs), plan.n_hidden)
    for epoch in range(1, plan.n_epochs + 1):
        masks = [_mask(drawn, plan.dropout_ratio, random) for _ in range(2)]
        slope = np.concatenate([part.ravel() for part in _slopes(weights, inputs, target, masks)])
        slope += decay * flat
        mean += (1 - DECAY_OF_MEAN) * (slope - mean)
        square += (1 - DECAY_OF_SQUARE) * (slope * slope - square)
        size = np.sqrt(square / (1 - DECAY_OF_SQUARE**epoch)) + EPSILON
        flat -= (LEARNING_RATE / (1 - DECAY_OF_MEAN**epoch)) * mean / size
    return weights


def _one_vector(layers: Weights) -> tuple[NDArray[np.float64], Weights]:
    """Put layers end to end in one vector; return it and the layers as views of it.

    Small arrays cost more to start on than to work through: one vector is updated in one go.
    """
    flat = np.concatenate([layer.ravel() for layer in layers])
    ends = np.cumsum([layer.size for layer in layers])[:-1]
    views = [part.reshape(layer.shape) for part, layer in zip(np.split(flat, ends), layers, strict=True)]
    return flat, views


def _mask(shape: tuple[int, ...], dropout_ratio: float, random: Any) -> NDArray[np.float64]:
    """Draw which units stay, scaled up by how many do; a byte a unit, so ratios step by 1/256."""
    n_kept = min(max(round(256 * (1 - dropout_ratio)), 1), 256)
    drawn = np.frombuffer(random.bytes(int(np.prod(shape))), dtype=np.uint8).reshape(shape)
    return np.where(drawn < n_kept, 256 / n_kept, 0.0)


def _initial(n_members: int, n_in: int, n_out: int, random: Any) -> NDArray[np.float64]:
    """Draw uniform weights within 1 / sqrt(n_in), as torch.nn.Linear does."""
    reach = 1 / float(np.sqrt(n_in))
    drawn: NDArray[np.float64] = random.uniform(-reach, reach, (n_members, n_in + 1, n_out))
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
