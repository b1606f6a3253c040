"""Fill in what a run's hyper-parameters say: executed FLOP, and what its steps were made of."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import GroundTruth, Run, Target
from flopwitness.physics.components import CAST_FORMATS, COMPONENTS, FORMATS, block_share, step_components
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
        "precision_layers",
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
    """Return what a run was made of, shape (8 + n_formats,); NaN where nobody can tell.

    Its components over its steps and GPUs, then the share of its linear FLOP in each of
    ``flopwitness.physics.components.FORMATS``; what is left ran in half precision.
    """
    shape, times, shares = _shape(run), _times(run), _format_shares(run)
    if shape is None or times is None:
        return np.append(np.full(len(COMPONENTS), np.nan), shares)
    return np.append(step_components(_shape_row(run, shape)) * times, shares)


def _shape_row(run: Run, shape: TransformerShape) -> NDArray[np.float64]:
    """Return the columns of a shape as ``flopwitness.physics.components`` orders them."""
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
    return np.array(row, dtype=np.float64)


def _format_shares(run: Run) -> NDArray[np.float64]:
    """Return the share of the linear FLOP in each format; casts leave the output head in half precision."""
    shares = np.zeros(len(FORMATS))
    precision, shape = run.config.parameters.get("precision"), _shape(run)
    if precision in FORMATS:
        shares[FORMATS.index(str(precision))] = 1.0
        n_layers, n_cast = (run.config.integers(name) or (0,) for name in ("n_layers", "precision_layers"))
        is_part = 0 < n_cast[0] < n_layers[0]
        if shape is not None and (is_part or precision in CAST_FORMATS):
            of_cast = (n_cast[0] if is_part else shape.n_layers) / shape.n_layers
            shares *= of_cast * block_share(_shape_row(run, shape))
    return shares


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
    is_plain = config.parameters.get("kind", "train") == "train" and set(config.parameters) <= UNDERSTOOD
    if numbers is None or not is_plain or any(number < 1 for number in numbers):
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
