"""Calibrations of known constants, so that what they answer follows from the samples by hand."""

from pathlib import Path

import numpy as np

from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import LogInterval
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import PipeSumState
from flopwitness.storage.calibrations import write_calibration


def calibration_of(*, worth: float = 1.0) -> Calibration:
    """Return power alone, worth 1.4 TFLOP a joule times a factor, and pipe cycles at full rate."""
    fitted = {
        "linear-power": Fitted(LinearState(1.4e12 * worth, np.array([0.0])), LogInterval(-0.3, 0.3)),
        "pipe-cycles": Fitted(PipeSumState(), LogInterval(-0.2, 0.1)),
    }
    return Calibration("H200-SXM", "", {"elsewhere": "ab" * 32}, 12, 7, 0.9, dict.fromkeys(Target, fitted))


def write_calibration_of(path: Path, *, worth: float = 1.0) -> Path:
    """Write one as a file that commands can open."""
    write_calibration(path, calibration_of(worth=worth).to_payload())
    return path
