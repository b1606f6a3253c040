"""What is learned from benign runs alone, what from runs in other number formats too."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from flopwitness.app.calibrating import FORMAT_METHODS, calibrated, recording_sha256
from flopwitness.app.opening import open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
POWER, PIPES = "linear-power", "pipe-cycles-calibrated"


@cache
def opened(name: str) -> Dataset:
    """Return a shipped dataset, opened once."""
    return open_dataset(DATASETS / name)


@cache
def fitted_on(formats: str) -> Calibration:
    """Return what is fitted for executed FLOP on node b, and on a dataset of formats where one is named."""
    others = [opened(formats)] if formats else []
    return calibrated([opened("h200x2-b")], [Target.EXECUTED], formats=others, methods=(POWER, PIPES))


def method(name: str, formats: str = "h200x2-f-formats") -> Fitted:
    """Return one fitted method."""
    return fitted_on(formats).for_target(Target.EXECUTED)[name]


def pipes(formats: str = "h200x2-f-formats") -> CalibratedPipeState:
    """Return the constants of the pipes."""
    state = method(PIPES, formats).state
    assert isinstance(state, CalibratedPipeState)
    return state


def test_power_learns_from_benign_runs_alone():
    """A joule of FP8 is worth twice the FLOP: bit for bit the same with formats as without."""
    assert POWER not in FORMAT_METHODS
    assert method(POWER).state.to_plain() == method(POWER, "").state.to_plain()
    assert method(POWER).interval == method(POWER, "").interval


def test_pipes_learn_what_their_formats_are_worth():
    """Integer cycles and by-products of CUDA cores from runs on them; half precision hardly moves."""
    without, known = pipes(""), pipes()

    assert known.flop_per_pipe_flop == pytest.approx(without.flop_per_pipe_flop, rel=0.01)
    assert without.integer_per_pipe_flop == without.flop_per_pipe_flop
    assert known.integer_per_pipe_flop == pytest.approx(0.61, abs=0.01)
    assert without.byproduct_per_pipe_flop == without.flop_per_pipe_flop
    assert 0 <= known.byproduct_per_pipe_flop < 0.2


def test_runs_in_other_formats_are_never_held_out():
    """TF32 is worth less than half of what the constant says; the interval does not stretch to it."""
    interval, without = method(PIPES).interval, method(PIPES, "").interval

    assert interval == pytest.approx(without, abs=0.02)
    assert np.isfinite(interval).all()


def test_a_calibration_names_all_that_it_was_fitted_on():
    """Both datasets, their digests and their runs."""
    benign, formats = opened("h200x2-b"), opened("h200x2-f-formats")
    known = fitted_on("h200x2-f-formats")

    assert known.data == {dataset.recording.name: recording_sha256(dataset) for dataset in (benign, formats)}
    assert known.n_runs == len(benign.runs) + len(formats.runs)
    assert known.chip == "H200-SXM"


def test_only_the_methods_that_are_asked_for_are_fitted():
    """For every target."""
    both = calibrated([opened("h200x2-b")], methods=("pipe-cycles",))

    assert {target: set(by_name) for target, by_name in both.fitted.items()} == {
        target: {"pipe-cycles"} for target in Target
    }


def test_formats_of_another_chip_are_refused():
    """An active cycle there is worth something else."""
    device = Device("GPU-x", chip="A100-SXM")
    other = Dataset(Recording("other", (Trace(device, [0], {}),), Provenance("made")), ())

    with pytest.raises(BadInputError, match="A100-SXM, H200-SXM"):
        calibrated([opened("h200x2-b")], formats=[other], methods=(POWER,))
