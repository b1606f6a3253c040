"""Learn from recordings how much the signature of a run varies, and how much two workloads differ."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.dataset import Dataset
from flopwitness.detect.jobs.likeness import Likeness
from flopwitness.detect.jobs.signature import SIGNALS, step_signature

MIN_SCALE = 0.01
"""Log differences below 1 % are not told apart: sensors are not better than that."""

PERIOD_SCALE = 0.1
"""Of a step period: one sample in a second. Too few runs show a rhythm at 10 Hz to learn it."""

MAD_TO_SIGMA = 1.4826
"""Of normally spread values: standard deviation over median absolute deviation."""

N_NEWTON_STEPS = 50
RIDGE = 1e-3
"""Keeps the line finite where no distance belongs to both kinds."""


def fitted_likeness(datasets: Sequence[Dataset]) -> Likeness:
    """Fit scales and odds on logged runs.

    One run: the two halves of a run, its devices against each other, and the same workload on two datasets (a
    restart elsewhere). Two runs: different workloads of one dataset. Both kinds weigh the same.

    Parameters
    ----------
    datasets : sequence of Dataset
        Benign sweeps, more than one workload in all.
    """
    same, other = _pairs(datasets)
    scales = np.maximum(MAD_TO_SIGMA * _medians(np.abs(same)), MIN_SCALE)
    scales[SIGNALS.index("step period")] = PERIOD_SCALE
    plain = Likeness(tuple(float(scale) for scale in scales), 1.0, 1.0)
    zeros = np.zeros(len(SIGNALS))
    logs = [np.log(plain.distances(rows, zeros)) for rows in (same, other)]
    logs = [values[np.isfinite(values)] for values in logs]
    intercept, slope = _logistic(*logs)
    return Likeness(plain.scales, float(np.exp(-intercept / slope)), -slope)


def _pairs(datasets: Sequence[Dataset]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    same, other = [], []
    whole: list[dict[str, NDArray[np.float64]]] = []
    for dataset in datasets:
        traces, found = dataset.recording.traces, {}
        for run in dataset.runs:
            middle_ns = (run.start_ns + run.stop_ns) // 2
            halves = [
                step_signature(traces, *ends)
                for ends in ((run.start_ns, middle_ns), (middle_ns, run.stop_ns))
            ]
            each = [step_signature([trace], run.start_ns, run.stop_ns) for trace in traces]
            same += [halves[0] - halves[1], *(one - two for one, two in combinations(each, 2))]
            found[run.config.name] = step_signature(traces, run.start_ns, run.stop_ns)
        other += [one - two for one, two in combinations(found.values(), 2)]
        whole.append(found)
    for before, after in combinations(whole, 2):
        same += [before[name] - after[name] for name in before if name in after]
    return np.array(same), np.array(other)


def _medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each column without its NaN; 0 where there is nothing else."""
    return np.array(
        [np.median(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0 for column in values.T]
    )


def _logistic(same: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """Return intercept and slope of the log odds over a value; both kinds weigh the same."""
    values = np.concatenate([same, other])
    is_same = np.concatenate([np.ones(len(same)), np.zeros(len(other))])
    weights = np.concatenate([np.full(len(same), 1 / len(same)), np.full(len(other), 1 / len(other))])
    design = np.column_stack([np.ones(len(values)), values])
    found = np.zeros(2)
    for _ in range(N_NEWTON_STEPS):
        odds = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (weights * (is_same - odds)) - RIDGE * found
        curvature = (design * (weights * odds * (1 - odds))[:, None]).T @ design + RIDGE * np.eye(2)
        found += np.linalg.solve(curvature, gradient)
    return float(found[0]), float(found[1])
