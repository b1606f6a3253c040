"""Executed FLOP are derived only where every hyper-parameter is understood and the count fits."""

import numpy as np
import pytest

from flopwitness.app.truth import run_components, with_executed_truth
from flopwitness.core.dataset import Dataset
from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.physics.components import CAST_FORMATS, COMPONENTS, FORMATS

SHAPE = {"d_model": 64, "n_layers": 2, "n_heads": 4, "d_ff": 256, "seq_len": 32, "batch": 4}
TIMES = {"steps": 10, "n_gpus": 2}
LINEAR = 6 * 4 * 32 * (2 * (4 * 64**2 + 2 * 64 * 256) + 32_000 * 64)
ATTENTION = 14 * 4 * 32**2 * 64 * 2
COUNTED = (LINEAR + ATTENTION) * 20


def run_of(counted: float | None = COUNTED, **changed: float | str) -> Run:
    """Return a run with these hyper-parameters."""
    config = WorkloadConfig("tiny", "made", {**SHAPE, **TIMES, **changed})
    return Run(config, 0, 10**9, GroundTruth(algorithmic_flop=counted))


def derived(run: Run) -> float | None:
    """Return the executed FLOP that a dataset of this run gets."""
    recording = Recording("made", (Trace(Device("GPU-a"), [0], {}),), Provenance("made"))
    return with_executed_truth(Dataset(recording, (run,))).runs[0].truth.executed_flop


def test_half_of_attention_is_left_out():
    """A causal kernel skips what the mask hides; FlopCounterMode counts it."""
    assert derived(run_of()) == (LINEAR + ATTENTION / 2) * 20


@pytest.mark.parametrize(
    "run",
    [
        run_of(counted=COUNTED * 1.01),
        run_of(counted=None),
        run_of(recompute="full"),
        run_of(d_model=65),
        run_of(batch=4.5),
        run_of(n_layers=0),
    ],
    ids=["count differs", "no count", "unknown setting", "head width", "fraction", "zero"],
)
def test_what_does_not_follow_is_not_derived(run: Run):
    """Such a run counts for the algorithmic target alone."""
    assert derived(run) is None


def test_a_count_that_the_source_gives_is_kept():
    """What was measured is never replaced by what was derived."""
    run = Run(run_of().config, 0, 10**9, GroundTruth(COUNTED, executed_flop=7.0))

    assert derived(run) == 7.0


def test_components_are_those_of_all_steps_and_gpus():
    """They scale with the work, as the signals do."""
    once, twice = run_components(run_of()), run_components(run_of(steps=20))

    assert twice.tolist() == (2 * once).tolist()
    assert once[COMPONENTS.index("linear_flop")] == LINEAR * 20


def test_sgd_has_no_adam_parameters():
    """The optimiser is part of what a run was made of."""
    column = COMPONENTS.index("adam_parameters")

    assert run_components(run_of(optimizer="sgd"))[column] == 0
    assert run_components(run_of(optimizer="adamw"))[column] > 0


def shares_of(run: Run) -> dict[str, float]:
    """Return the shares of a run that are not 0, by format."""
    shares = run_components(run)[len(COMPONENTS) :]
    assert len(shares) == len(FORMATS)
    return {name: share for name, share in zip(FORMATS, shares.tolist(), strict=True) if share}


BLOCKS = 2 * (4 * 64**2 + 2 * 64 * 256)
HEAD = 32_000 * 64


@pytest.mark.parametrize("precision", [None, "bf16", "fp16", "fp32", "int8", "fp64"])
def test_half_precision_and_pipes_of_their_own_have_no_share(precision: str | None):
    """What is left after the shares ran in half precision, or where a counter of its own tells."""
    run = run_of() if precision is None else run_of(precision=precision)

    assert shares_of(run) == {}


@pytest.mark.parametrize("precision", sorted(CAST_FORMATS))
def test_casts_leave_the_output_head_in_half_precision(precision: str):
    """The share of the blocks' weights in all that multiply."""
    assert shares_of(run_of(precision=precision)) == {precision: pytest.approx(BLOCKS / (BLOCKS + HEAD))}


@pytest.mark.parametrize("precision", sorted(set(FORMATS) - CAST_FORMATS))
def test_formats_without_casts_run_everything(precision: str):
    """The output head too."""
    assert shares_of(run_of(precision=precision)) == {precision: 1.0}


@pytest.mark.parametrize("precision", FORMATS)
def test_some_blocks_in_another_format_are_their_part_of_the_blocks(precision: str):
    """One of two: half of the blocks' weights, the head in half precision, whichever format it is."""
    run = run_of(precision=precision, precision_layers=1)

    assert shares_of(run) == {precision: pytest.approx(BLOCKS / 2 / (BLOCKS + HEAD))}


@pytest.mark.parametrize("n_layers", [0, 2, 5])
@pytest.mark.parametrize("precision", FORMATS)
def test_no_number_of_blocks_or_all_of_them_is_the_whole_model(precision: str, n_layers: int):
    """0 is the setting's word for all."""
    whole, said = run_of(precision=precision), run_of(precision=precision, precision_layers=n_layers)

    assert shares_of(said) == shares_of(whole)


def test_products_alone_have_a_share_and_no_components():
    """A run of nothing but matrix products is of no transformer's shape, and of a known format."""
    run = Run(
        WorkloadConfig("tiny", "made", {"kind": "gemm", "precision": "tf32", **TIMES}),
        0,
        10**9,
        GroundTruth(),
    )

    assert np.isnan(run_components(run)[: len(COMPONENTS)]).all()
    assert shares_of(run) == {"tf32": 1.0}


def test_prefill_is_no_training():
    """Forward passes alone are made of other components, whatever the shape says."""
    assert np.isnan(run_components(run_of(kind="prefill"))[: len(COMPONENTS)]).all()
    assert derived(run_of(kind="prefill")) is None


def test_a_run_of_unknown_shape_has_unknown_components():
    """NaN, which the estimators leave out of their fit; which formats it ran in may be known all the same."""
    assert np.isnan(run_components(run_of(recompute="full"))[: len(COMPONENTS)]).all()
