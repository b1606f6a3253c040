"""What a training step is made of: against the closed form, and its laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flopwitness.physics.components import (
    CAST_FORMATS,
    COMPONENTS,
    FORMATS,
    MIN_KERNEL_HEAD_WIDTH,
    SHAPE_COLUMNS,
    block_share,
    is_half_precision,
    replaced_by,
    step_components,
    step_flop_pair,
    touched_by,
)
from flopwitness.physics.training import Attention, TransformerShape, parameter_count, step_flop

RECORDED = json.loads(Path(__file__).with_name("recorded_counts.json").read_text())
"""What FlopCounterMode counted on two nodes of two H200s, one row a workload; vocabulary 32,000."""

VOCABULARY = 32_000


def row_of(recorded: dict[str, int], *, is_adam: int = 1) -> list[float]:
    """Return a recorded shape in the order of ``SHAPE_COLUMNS``."""
    known = {**recorded, "is_adam": is_adam, "vocabulary": VOCABULARY}
    return [float(known[name]) for name in SHAPE_COLUMNS]


ROWS = np.array([row_of(recorded) for recorded in RECORDED])

SHAPES = [
    TransformerShape(
        **{name: row[name] for name in ("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch")},
        vocabulary=VOCABULARY,
    )
    for row in RECORDED
]


def component(name: str, rows: np.ndarray) -> np.ndarray:
    """Return one component of each shape."""
    return step_components(rows)[..., COMPONENTS.index(name)]


def test_algorithmic_flop_are_those_that_were_counted():
    """Every recorded run, to the last FLOP."""
    assert_array_equal(step_flop_pair(ROWS)[1], [row["flops_per_step_per_gpu"] for row in RECORDED])


@pytest.mark.parametrize(("which", "attention"), [(0, Attention.CAUSAL), (1, Attention.FULL)])
def test_both_counts_are_those_of_the_closed_form(which: int, attention: Attention):
    """Executed FLOP with a causal mask, algorithmic FLOP without: two modules, one truth."""
    expected = [float(step_flop(shape, attention=attention)) for shape in SHAPES]

    assert_array_equal(step_flop_pair(ROWS)[which], expected)


def test_linear_flop_are_what_attention_leaves():
    """The first component: six FLOP a token and weight, the embedding lookup left out."""
    expected = [
        float(2 * step_flop(shape, attention=Attention.CAUSAL) - step_flop(shape)) for shape in SHAPES
    ]

    assert_array_equal(component("linear_flop", ROWS), expected)


def test_parameters_are_those_of_the_closed_form():
    """Blocks, embedding and head; Adam keeps its own for each of them, SGD none."""
    expected = [float(parameter_count(shape)) for shape in SHAPES]
    with_sgd = np.array([row_of(recorded, is_adam=0) for recorded in RECORDED])

    assert_array_equal(component("parameters", ROWS), expected)
    assert_array_equal(component("adam_parameters", ROWS), expected)
    assert_array_equal(component("adam_parameters", with_sgd), np.zeros(len(RECORDED)))


def test_attention_elements_are_14_flop_where_no_head_is_padded():
    """Two products forward and five backward of 2 FLOP; a causal kernel does half of the elements."""
    rows = ROWS[ROWS[:, 2] / ROWS[:, 5] >= MIN_KERNEL_HEAD_WIDTH]
    executed, _ = step_flop_pair(rows)

    assert len(rows) > 60
    assert_array_equal(component("attention_elements", rows) * 14, executed - component("linear_flop", rows))


def test_narrow_heads_are_padded():
    """Kernels work on 64 columns a head, though 32 carry anything: twice the elements, the same FLOP."""
    wide, narrow = np.array([[4, 1024, 1024, 8, 4096, heads, 1, VOCABULARY] for heads in (16, 32)])

    assert component("attention_elements", narrow) == 2 * component("attention_elements", wide)
    assert step_flop_pair(narrow) == step_flop_pair(wide)


counts = st.integers(1, 10**4)


@given(
    shape=st.tuples(counts, counts, counts, counts, counts, counts, st.integers(0, 1), counts),
    factor=st.integers(2, 9),
)
def test_all_but_the_parameters_grow_with_the_batch(shape: tuple[int, ...], factor: int):
    """Twice the sequences are twice the work of every kernel but the optimiser and the links."""
    larger = (shape[0] * factor, *shape[1:])

    assert step_components(larger) == pytest.approx(step_components(shape) * [*[factor] * 6, 1, 1])
    assert step_flop_pair(larger) == pytest.approx(np.multiply(step_flop_pair(shape), factor))


@given(shape=st.tuples(counts, counts, counts, counts, counts, counts, st.integers(0, 1), counts))
def test_executed_flop_are_between_half_and_all_of_the_algorithmic(shape: tuple[int, ...]):
    """The mask skips half of attention and nothing else."""
    executed, algorithmic = step_flop_pair(shape)

    assert algorithmic / 2 <= executed <= algorithmic


def test_shapes_may_stand_in_any_array():
    """The last axis is the shape, whatever stands before it."""
    grid = ROWS[:60].reshape(3, 4, 5, 8)

    assert step_components(grid).shape == (3, 4, 5, len(COMPONENTS))
    assert_array_equal(step_components(grid).reshape(60, -1), step_components(ROWS[:60]))
    assert_array_equal(step_flop_pair(grid)[0].ravel(), step_flop_pair(ROWS[:60])[0])


def named(taken: np.ndarray) -> set[str]:
    """Return the names of components that a mask holds."""
    return {name for name, is_taken in zip(COMPONENTS, taken, strict=True) if is_taken}


@pytest.mark.parametrize("precision", sorted(CAST_FORMATS))
def test_a_cast_format_takes_over_linear_layers_alone(precision: str):
    """Attention, softmax and optimiser stay as they are; casts of inputs and weights come on top."""
    assert named(replaced_by(precision)) == {"linear_flop"}
    assert named(touched_by(precision)) == {"linear_flop", "stream_elements", "hidden_elements", "parameters"}


@pytest.mark.parametrize("precision", sorted(set(FORMATS) - CAST_FORMATS))
def test_a_wider_format_takes_over_all_but_the_optimiser(precision: str):
    """Values of 32 bits in every product and kernel; parameters are kept in 32 bits in any case."""
    assert named(replaced_by(precision)) == set(COMPONENTS) - {"parameters", "adam_parameters"}
    assert_array_equal(touched_by(precision), replaced_by(precision))


@pytest.mark.parametrize("precision", FORMATS)
def test_a_format_touches_whatever_it_takes_over(precision: str):
    """Or that part of the work would leave no trace."""
    assert named(replaced_by(precision)) <= named(touched_by(precision))


def test_the_share_of_the_blocks_is_what_the_output_head_leaves():
    """Of the linear FLOP: six a token and weight of the head are not theirs."""
    head = 6 * ROWS[:, 0] * ROWS[:, 1] * VOCABULARY * ROWS[:, 2]

    share = block_share(ROWS)

    assert share == pytest.approx(1 - head / component("linear_flop", ROWS))
    assert block_share(ROWS[:60].reshape(3, 20, 8)).shape == (3, 20)


def test_formats_with_a_counter_of_their_own_are_no_hypothesis():
    """What the integer, the FP64 and the FP32 pipe did is counted there."""
    assert set(FORMATS) == {"fp8", "fp8-fast", "tf32"}
    assert set(FORMATS) > CAST_FORMATS


NAN = float("nan")


@pytest.mark.parametrize(("shares", "expected"), [((0.0, 0.0, 0.0), True), ((0.0, 0.1, 0.0), False)])
def test_half_precision_is_a_run_without_another_format(shares: tuple[float, ...], *, expected: bool):
    """Also where its shape is not known, and its components blank."""
    components = np.array([[*[NAN] * len(COMPONENTS), *shares]])

    assert is_half_precision(components, 1).tolist() == [expected]


@pytest.mark.parametrize("components", [None, np.ones((2, len(COMPONENTS)))])
def test_without_shares_every_run_is_in_half_precision(components: np.ndarray | None):
    """Where nobody said otherwise."""
    assert is_half_precision(components, 2).tolist() == [True, True]
