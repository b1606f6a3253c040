"""A small calibration on made-up runs, and features of those runs, that tests of the estimates share."""

import numpy as np

from estimate.made import Runs, simulated_runs
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import LogInterval
from flopwitness.estimate.features.row import FEATURE_NAMES, SessionFeatures
from flopwitness.estimate.methods import METHODS, PIPES_APART
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, PipeSumState
from flopwitness.estimate.regressors.fused import FusedRegressor

RUNS = simulated_runs(40)
FP8_RUNS = simulated_runs(60, seed=1, fp8_shares=(0.3, 1.0))
INTERVAL = LogInterval(-0.05, 0.04)
LOOSE = LogInterval(-0.3, 0.25)
GUARD, LOOSE_GUARD = 0.1, 0.5


def fused_on(runs: Runs) -> FusedState:
    """Return what is learned from runs of known shape."""
    return FusedRegressor().fit(runs.X, runs.executed_flop, components=runs.components).state_


FUSED = fused_on(RUNS)
CONSTANT = CalibratedPipeState(0.92, 0.05, 0.5, 0.8, 0.6)
FITTED = {
    "pipe-cycles": Fitted(PipeSumState(), LOOSE),
    "pipe-cycles-calibrated": Fitted(CONSTANT, LOOSE, LOOSE_GUARD),
    "fused": Fitted(FUSED, INTERVAL, GUARD),
    "linear-power": Fitted(LinearState(1e12, np.array([1e13])), INTERVAL, GUARD),
}


def calibration(**fitted: Fitted) -> Calibration:
    """Return a calibration for executed FLOP on the H200, of every method above where none is given."""
    return Calibration("H200-SXM", "", {}, 68, 60, 0.9, {Target.EXECUTED: fitted or FITTED})


def features_from_run(number: int, runs: Runs = RUNS, **changed: float) -> SessionFeatures:
    """Return features that are a simulated run, wholly observed unless said."""
    values = dict.fromkeys(FEATURE_NAMES, 0.0)
    values |= dict(zip(METHODS["fused"].columns, runs.X[number], strict=True))
    values |= {"duration_seconds": 4.0, "net_energy_joules": 2000.0}
    values |= {f"observed_{name}": values[name] for name in PIPES_APART}
    return SessionFeatures({**values, **changed}, (), ("H200-SXM",), 1)


def bounds(estimate: Estimate) -> tuple[float, float, float]:
    """Return low, point and high."""
    return estimate.low_flop, estimate.point_flop, estimate.high_flop


def figures(estimate: Estimate) -> tuple[float, ...]:
    """Return every figure of an estimate."""
    return (*bounds(estimate), estimate.most_flop)
