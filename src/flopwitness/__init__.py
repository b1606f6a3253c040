"""flopwitness: witness AI training compute from outside the training code."""

from flopwitness.core.dataset import Dataset
from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.verdict import Outcome, Standing, Verdict
from flopwitness.core.workload import Target

__all__ = [
    "Dataset",
    "Device",
    "Estimate",
    "Finding",
    "FlopWitnessError",
    "Outcome",
    "Recording",
    "Session",
    "Standing",
    "Target",
    "Trace",
    "Verdict",
]
