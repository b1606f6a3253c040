"""Made-up work: sessions of known activity, and a classifier of known constants."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimate.made import GPU_A, every, trace_of
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.estimate.classify.opinion import Classifier
from flopwitness.estimate.classify.state import ClassState
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS, Windows

CHIP = "H200-SXM"

STEADY = {
    "tensor_active_ratio": 0.4,
    "dram_active_ratio": 0.5,
    "sm_active_ratio": 0.9,
    "sm_occupancy_ratio": 0.2,
    "int_active_ratio": 0.1,
    "fp32_active_ratio": 0.2,
}
"""Shares that differ from each other, so that no two columns can be mixed up."""


def work(
    n_samples: int = 63, step_seconds: float = 0.1, device: Device = GPU_A, **changed: ArrayLike | None
) -> Trace:
    """Return steady work, some signals changed, or left out where they are None."""
    columns = {name: values for name, values in (STEADY | changed).items() if values is not None}
    return trace_of(every(step_seconds, n_samples), device, **columns)


def uneven(n_samples: int, *, seed: int = 0, device: Device = GPU_A) -> Trace:
    """Return work whose shares scatter from sample to sample."""
    rng = np.random.default_rng(seed)
    shares = {name: level * rng.uniform(0.5, 1.0, n_samples) for name, level in STEADY.items()}
    return work(n_samples, device=device, **shares)


def scaled(trace: Trace, factor: ArrayLike) -> Trace:
    """Return the same work, every share times a factor."""
    return Trace(trace.device, trace.time_ns, {name: trace[name] * factor for name in trace.channels})


def made_state(columns: Sequence[str] = COLUMNS, *, sharpness: float = 4.0) -> ClassState:
    """Return constants that read one column: below 0 is training, above 0 inference, beyond ±2 other.

    Seen were windows all along the first column, with the others at zero, so that what lies elsewhere is
    unfamiliar.
    """
    n = len(columns)
    weights = np.zeros((3, n + n * (n + 1) // 2))
    weights[0, 0], weights[1, 0] = -sharpness, sharpness
    weights[2, n] = sharpness / 2  # of the square
    along = np.linspace(-6.0, 6.0, 241)
    return ClassState(
        columns=tuple(columns),
        mean=np.zeros(n),
        deviation=np.ones(n),
        weights=weights,
        intercepts=np.array([0.0, 0.0, -2 * sharpness]),
        temperature=1.0,
        references=np.column_stack([along, np.zeros((len(along), n - 1))]),
        reach=0.5,
    )


def drawn_state(seed: int = 0, columns: Sequence[str] = COLUMNS) -> ClassState:
    """Return constants without any order in them."""
    rng = np.random.default_rng(seed)
    n = len(columns)
    return ClassState(
        columns=tuple(columns),
        mean=rng.normal(size=n),
        deviation=rng.uniform(0.5, 2.0, n),
        weights=rng.normal(size=(3, n + n * (n + 1) // 2)),
        intercepts=rng.normal(size=3),
        temperature=1.5,
        references=rng.normal(size=(50, n)),
        reach=1.25,
    )


def made_classifier() -> Classifier:
    """Return one whose two forms read their first column alike."""
    return Classifier(CHIP, made_state(COLUMNS), made_state(LEVELS))


def made_windows(*first: float, step_seconds: float = 0.1, second: float = 0.0) -> Windows:
    """Return windows by their first column; the second is the same in all, the others are zero."""
    values: NDArray[np.float64] = np.zeros((len(first), len(COLUMNS)))
    values[:, 0], values[:, 1] = first, second
    return Windows(values, step_seconds, ())
