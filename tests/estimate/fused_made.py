"""The fused estimate as fitted on made-up runs, with and without a number format, for its tests."""

from functools import cache

import numpy as np

from estimate.made import Runs, simulated_runs
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.estimate.regressors.fused import FusedRegressor
from flopwitness.physics.components import FORMATS

RUNS = simulated_runs(60)
FP8_RUNS = simulated_runs(60, seed=1, fp8_shares=(0.3, 1.0))
FP8 = 1 + FORMATS.index("fp8")
LEARNED, ASKED = slice(0, 40), slice(40, 60)


@cache
def fitted() -> FusedState:
    """Return the constants as fitted on 40 of the runs, for executed FLOP."""
    return state_of(RUNS.of(LEARNED))


@cache
def with_fp8() -> FusedState:
    """Return the constants as fitted on these and on 40 runs in FP8."""
    return state_of(RUNS.of(LEARNED).with_more(FP8_RUNS.of(LEARNED)))


def state_of(runs: Runs) -> FusedState:
    """Return what is learned from runs of known shape."""
    return FusedRegressor().fit(runs.X, runs.executed_flop, components=runs.components).state_


def by_constant(X: np.ndarray) -> np.ndarray:
    """Return what the constant alone answers, no vector work beyond the usual."""
    return X[:, 0] * fitted().flop_per_pipe_flop


def is_unexplained(X: np.ndarray) -> list[bool]:
    """Say for which sessions the signature gave no answer."""
    return np.isinf(fitted().answer(X).misfit).tolist()
