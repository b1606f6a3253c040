"""Number formats on what a node really gave, learned from other nodes and other shapes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flopwitness.app.examples import examples_of
from flopwitness.app.opening import open_dataset
from flopwitness.core.workload import Target
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.predictors.format_choice import KINDS
from flopwitness.estimate.predictors.fused import FusedAnswer, FusedState
from flopwitness.estimate.regressors.factories import regressor_factory
from flopwitness.evaluate.examples import Examples
from flopwitness.physics.components import FORMATS

DATASETS = Path(__file__).parents[2] / "datasets"
LEARNED = ("h200x2-c1", "h200x2-c2", "h200x2-c3", "h200x2-f-formats")
EVERY_TARGET = pytest.mark.parametrize("target", Target)


@cache
def known(names: tuple[str, ...], target: Target) -> Examples:
    """Return the runs of datasets with their truth."""
    return examples_of([open_dataset(DATASETS / name) for name in names], target)


def columns(runs: Examples) -> NDArray[np.float64]:
    """Return the columns of the fused estimate."""
    indices = [runs.feature_names.index(name) for name in METHODS["fused"].columns]
    return np.asarray(runs.features[:, indices])


@cache
def fitted(target: Target) -> FusedState:
    """Return what 279 benign runs and 93 in known formats teach."""
    runs = known(LEARNED, target)
    fused = regressor_factory("fused", target)()
    state = fused.fit(columns(runs), runs.truth_flop, components=runs.components).state_
    assert isinstance(state, FusedState)
    return state


@cache
def unlike(target: Target) -> tuple[Examples, FusedAnswer]:
    """Return runs of another node in known formats, of shapes that nobody learned from, and the answers."""
    runs = known(("h200x2-g-formats",), target)
    return runs, fitted(target).answer(columns(runs))


@EVERY_TARGET
def test_every_run_is_told_by_its_kind_of_format(target: Target):
    """FP8 of either accumulation, or TF32: all of 20 runs, whole models and parts of them."""
    runs, answer = unlike(target)
    truth = [1 + FORMATS.index(name.removeprefix("format-")) for name in runs.families.tolist()]

    assert len(runs) == 20
    assert answer.is_identified.all()
    assert KINDS[answer.probability.argmax(axis=1)].tolist() == KINDS[truth].tolist()


@EVERY_TARGET
def test_runs_in_other_formats_are_counted_within_a_tenth(target: Target):
    """Half within 4 %, all within 6 % but one: a third of its blocks in FP8, 12 % too many."""
    runs, answer = unlike(target)
    error = np.abs(answer.point_flop / runs.truth_flop - 1)
    is_third_in_fp8 = np.char.startswith(runs.workloads, "fp8-1280-15")

    assert np.median(error) < 0.04
    assert error[~is_third_in_fp8].max() < 0.06
    assert error[is_third_in_fp8].max() < 0.12


@EVERY_TARGET
def test_one_constant_would_miss_every_one_of_them(target: Target):
    """By a tenth at least, by 41 % for FP8 and a factor of three for TF32 at worst."""
    runs, _ = unlike(target)
    by_constant = columns(runs)[:, 0] * fitted(target).flop_per_pipe_flop

    ratio = by_constant / runs.truth_flop

    assert np.abs(ratio - 1).min() > 0.1
    assert ratio.min() < 0.6
    assert ratio.max() > 2.5


@EVERY_TARGET
def test_runs_that_taught_the_formats_are_explained_by_them(target: Target):
    """Every transformer in another format, and nearly every one in half precision."""
    runs = known(LEARNED, target)
    is_half = np.nan_to_num(runs.components)[:, -len(FORMATS) :].sum(axis=1) == 0
    has_shape = np.isfinite(runs.components).all(axis=1)

    is_explained = np.isfinite(fitted(target).answer(columns(runs)).misfit)

    assert is_explained[~is_half & has_shape].all()
    assert is_explained[np.char.startswith(runs.datasets, "h200x2-c")].mean() > 0.99


def test_integer_products_and_by_products_of_cuda_cores_are_known():
    """A cycle of the integer pipe is worth two thirds of a common one, FP32's attention next to nothing."""
    state = fitted(Target.EXECUTED)

    assert state.integer_per_pipe_flop == pytest.approx(0.61, abs=0.01)
    assert 0 < state.byproduct_per_pipe_flop < 0.2
