"""Fill in what a run's hyper-parameters say: executed FLOP, and what its steps were made of."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import GroundTruth, Run, Target
from flopwitness.physics.components import COMPONENTS, step_components
from flopwitness.physics.training import target_flop
from flopwitness.physics.transformer import TransformerShape

DEFAULT_VOCABULARY = 32_000
"""Of the workload generator, where a run does not say."""

UNDERSTOOD = frozenset(
    {
        "kind",
        "d_model",
        "n_layers",
        "n_heads",
        "d_ff",
        "seq_len",
        "batch",
        "vocabulary",
        "optimizer",
        "precision",
        "steps",
        "n_gpus",
        "params",
    }
)
"""Hyper-parameters of the plain workload; a run with others did something that these formulas do not know."""

AGREEMENT_RATIO = 1e-9


def with_executed_truth(dataset: Dataset) -> Dataset:
    """Return the dataset with executed FLOP where they follow from the hyper-parameters.

    They do where every hyper-parameter is understood and the closed form gives the counted algorithmic FLOP
    exactly; the executed count then differs by the half of attention that a causal kernel skips.
    """
    return replace(dataset, runs=tuple(_with_executed(run) for run in dataset.runs))


def run_components(run: Run) -> NDArray[np.float64]:
    """Return what a run was made of, over its steps and GPUs, shape (8,); NaN where nobody can tell."""
    shape, times = _shape(run), _times(run)
    if shape is None or times is None:
        return np.full(len(COMPONENTS), np.nan)
    row = (
        shape.batch,
        shape.seq_len,
        shape.d_model,
        shape.n_layers,
        shape.d_ff,
        shape.n_heads,
        run.config.parameters.get("optimizer") != "sgd",
        shape.vocabulary,
    )
    return step_components(np.array(row, dtype=np.float64)) * times


def _with_executed(run: Run) -> Run:
    shape, times = _shape(run), _times(run)
    counted = run.truth.algorithmic_flop
    if run.truth.executed_flop is not None or shape is None or times is None or counted is None:
        return run
    algorithmic = target_flop(shape, Target.ALGORITHMIC) * times
    if abs(algorithmic / counted - 1) > AGREEMENT_RATIO:
        return run
    return replace(run, truth=GroundTruth(counted, float(target_flop(shape, Target.EXECUTED) * times)))


def _shape(run: Run) -> TransformerShape | None:
    config = run.config
    numbers = config.integers("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch")
    if numbers is None or not set(config.parameters) <= UNDERSTOOD or any(number < 1 for number in numbers):
        return None
    vocabulary = config.integers("vocabulary") or (DEFAULT_VOCABULARY,)
    d_model, n_layers, n_heads, d_ff, seq_len, batch = numbers
    if d_model % n_heads:
        return None
    return TransformerShape(
        d_model=d_model,
        n_layers=n_layers,
        n_heads=n_heads,
        d_ff=d_ff,
        seq_len=seq_len,
        batch=batch,
        vocabulary=vocabulary[0],
    )


def _times(run: Run) -> int | None:
    """Return steps x GPUs."""
    numbers = run.config.integers("steps", "n_gpus")
    return None if numbers is None else numbers[0] * numbers[1]
