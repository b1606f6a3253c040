"""Fit a classifier on windows of known work; families count alike, however many runs they have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from flopwitness.core.errors import BadInputError
from flopwitness.core.workclass import KNOWN_CLASSES
from flopwitness.estimate.classify.opinion import Classifier
from flopwitness.estimate.classify.state import ClassState, terms
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS

INVERSE_PENALTY = 170.0
"""Of the weights, over the number of windows, so that more of the same changes nothing.

A tenth for each of the first 1,700 windows; chosen on left-out families.
"""

REACH_QUANTILE = 0.95
"""Share of the windows of left-out families of training and inference that are within reach."""

N_FOLDS = 8
"""Folds of families for temperature and reach."""

MAX_REFERENCES = 6
"""Windows of one workload that are kept to be near to."""


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Windows of known work.

    Attributes
    ----------
    values : ndarray of shape (n_windows, 6)
        See ``flopwitness.estimate.classify.windows.COLUMNS``.
    classes, families, workloads : ndarray of shape (n_windows,), str
        What each window is of.
    """

    values: NDArray[np.float64]
    classes: NDArray[np.str_]
    families: NDArray[np.str_]
    workloads: NDArray[np.str_]

    def take(self, rows: NDArray[np.bool_]) -> "Lessons":
        """Return some of the windows."""
        return Lessons(self.values[rows], self.classes[rows], self.families[rows], self.workloads[rows])

    def weights(self) -> NDArray[np.float64]:
        """Return weights with mean one: classes count alike, in them families, in these workloads."""
        family = np.strings.add(self.classes, np.strings.add("\n", self.families))
        workload = np.strings.add(family, np.strings.add("\n", self.workloads))
        window = np.arange(len(workload)).astype(str)
        n_sharing = _members(family, self.classes) * _members(workload, family) * _members(window, workload)
        weights: NDArray[np.float64] = (1.0 / n_sharing) / (1.0 / n_sharing).mean()
        return weights


def _members(inner: NDArray[np.str_], outer: NDArray[np.str_]) -> NDArray[np.int64]:
    """Return for each row how many different inner labels its outer label holds."""
    _, first = np.unique(inner, return_index=True)
    labels, counts = np.unique(outer[first], return_counts=True)
    n_inner: NDArray[np.int64] = counts[np.searchsorted(labels, outer)]
    return n_inner


def fitted_classifier(lessons: Lessons, chip: str) -> Classifier:
    """Fit both forms.

    Raises
    ------
    BadInputError
        When a class has fewer than two families, one to leave out and one to learn from, or there are fewer
        families than folds.
    """
    n_families = len(np.unique(lessons.families))
    of_class = [len(np.unique(lessons.families[lessons.classes == name])) for name in KNOWN_CLASSES]
    if n_families < N_FOLDS or min(of_class) < 2:
        expected = f"training, inference and other work of 2 families or more each, {N_FOLDS} or more in all"
        got = f"{', '.join(map(str, of_class))}, {n_families} in all"
        raise BadInputError("classifier", "", expected=expected, got=got)
    return Classifier(chip, fitted_state(lessons, COLUMNS), fitted_state(lessons, LEVELS))


def fitted_state(lessons: Lessons, columns: Sequence[str]) -> ClassState:
    """Fit one form; temperature and reach are those of families that were left out."""
    folds = _folds(lessons)
    held_out = [_asked(lessons, fold, columns) for fold in folds]
    logits, distances = (np.concatenate(parts) for parts in zip(*held_out, strict=True))
    order = np.concatenate([np.flatnonzero(fold) for fold in folds])
    classes, weights = lessons.classes[order], lessons.weights()[order]
    temperature = _temperature(logits, classes, weights)
    near = classes != "other"
    reach = _quantile(distances[near], weights[near], REACH_QUANTILE)
    fit = _form(lessons, columns)
    return ClassState(tuple(columns), *fit, temperature, _references(lessons, fit, columns), reach)


class _Form(NamedTuple):
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]


def _form(lessons: Lessons, columns: Sequence[str]) -> _Form:
    values, sample_weight = lessons.values[:, : len(columns)], lessons.weights()
    mean = np.average(values, axis=0, weights=sample_weight)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=sample_weight))
    known = terms((values - mean) / deviation)
    centre = np.average(known, axis=0, weights=sample_weight)
    scale = np.sqrt(np.average((known - centre) ** 2, axis=0, weights=sample_weight))
    model = LogisticRegression(C=INVERSE_PENALTY / len(values), max_iter=2_000)
    model.fit((known - centre) / scale, lessons.classes, sample_weight=sample_weight)
    order = [list(model.classes_).index(name) for name in KNOWN_CLASSES]
    weights = model.coef_[order] / scale
    return _Form(mean, deviation, weights, model.intercept_[order] - weights @ centre)


def _folds(lessons: Lessons) -> list[NDArray[np.bool_]]:
    """Return folds of whole families, each class spread over all folds."""
    pairs = sorted(set(zip(lessons.classes.tolist(), lessons.families.tolist(), strict=True)))
    fold_of: dict[str, int] = {}
    for number, (_, family) in enumerate(pairs):
        fold_of.setdefault(family, number % N_FOLDS)
    numbers = np.array([fold_of[family] for family in lessons.families])
    return [numbers == number for number in range(N_FOLDS)]


def _asked(
    lessons: Lessons, left_out: NDArray[np.bool_], columns: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logits and distances of what was left out."""
    rest = lessons.take(~left_out)
    fit = _form(rest, columns)
    state = ClassState(tuple(columns), *fit, 1.0, _references(rest, fit, columns), 1.0)
    values = lessons.values[left_out][:, : len(columns)]
    return state.log_probabilities(values), state.distances(values)


def _references(lessons: Lessons, fit: _Form, columns: Sequence[str]) -> NDArray[np.float64]:
    standardised = (lessons.values[:, : len(columns)] - fit.mean) / fit.deviation
    kept = []
    for workload in np.unique(lessons.workloads):
        rows = np.flatnonzero(lessons.workloads == workload)
        kept.append(rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_REFERENCES)).round().astype(int)])
    references: NDArray[np.float64] = standardised[np.concatenate(kept)]
    return references


def _temperature(
    logits: NDArray[np.float64], classes: NDArray[np.str_], weights: NDArray[np.float64]
) -> float:
    """Return the temperature with which left-out families are least surprising; at least one."""
    right = np.array([KNOWN_CLASSES.index(name) for name in classes.tolist()])

    def surprise(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        logs = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return float(-(weights * logs[np.arange(len(right)), right]).sum())

    best = minimize_scalar(surprise, bounds=(0.0, 3.0), method="bounded")
    return float(np.exp(best.x))


def _quantile(values: NDArray[np.float64], weights: NDArray[np.float64], ratio: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(reached, ratio)])
