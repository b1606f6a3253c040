"""The closed form of a training step: against recorded counts, against the formula, and its laws."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.physics.training import (
    Attention,
    Recompute,
    TransformerShape,
    attention_forward_flop,
    backward_flop,
    forward_flop,
    gemm_flop,
    parameter_count,
    recomputed_flop,
    step_flop,
    step_flop_from_forward,
    target_flop,
)

RECORDED = json.loads(Path(__file__).with_name("recorded_counts.json").read_text())
"""What FlopCounterMode counted on two nodes of two H200s, one row a workload; vocabulary 32,000."""

EVERY_RECORDED = pytest.mark.parametrize("row", RECORDED, ids=[row["name"] for row in RECORDED])

COUNTS = ("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch")

DENSE = TransformerShape(d_model=64, n_layers=3, n_heads=8, d_ff=256, seq_len=32, batch=2, vocabulary=100)

dense_shapes = st.builds(
    lambda d_head, **counts: TransformerShape(d_model=d_head * counts["n_heads"], **counts),
    d_head=st.integers(1, 256),
    n_layers=st.integers(1, 200),
    n_heads=st.integers(1, 128),
    d_ff=st.integers(1, 10**5),
    seq_len=st.integers(1, 10**6),
    batch=st.integers(1, 10**4),
    vocabulary=st.integers(1, 10**6),
)


def shape_of(row: dict[str, int]) -> TransformerShape:
    """Return the shape of a recorded run."""
    return TransformerShape(**{name: row[name] for name in COUNTS}, vocabulary=32_000)


def closed_form(shape: TransformerShape, n_attention_products: int) -> int:
    """Return the formula as it stands in papers, dense models only."""
    d, n_layers = shape.d_model, shape.n_layers
    per_token = n_layers * (4 * d**2 + 2 * d * shape.d_ff) + shape.vocabulary * d
    attention = n_attention_products * shape.batch * shape.seq_len**2 * d * n_layers
    return 6 * shape.batch * shape.seq_len * per_token + attention


@EVERY_RECORDED
def test_a_step_equals_the_recorded_count(row: dict[str, int]) -> None:
    """FlopCounterMode on the real program and the closed form agree to the last FLOP."""
    assert step_flop(shape_of(row)) == row["flops_per_step_per_gpu"]


@EVERY_RECORDED
def test_parameters_equal_the_recorded_count(row: dict[str, int]) -> None:
    """What the count leaves out is there: biases of all matrices but the head, and norms of two vectors."""
    shape = shape_of(row)
    d, n_layers = shape.d_model, shape.n_layers
    biases, norms = n_layers * (5 * d + shape.d_ff), 2 * d * (2 * n_layers + 1)

    assert parameter_count(shape) + biases + norms == row["params"]


@given(dense_shapes)
def test_the_dense_case_is_the_known_formula(shape: TransformerShape) -> None:
    """Full attention has 14 b s^2 d L, a causal kernel half of it; integers stay exact at any size."""
    assert step_flop(shape) == closed_form(shape, 14)
    assert step_flop(shape, attention=Attention.CAUSAL) == closed_form(shape, 7)
    assert step_flop(shape, attention=Attention.EXPLICIT) == closed_form(shape, 12)


@given(dense_shapes)
def test_targets_differ_by_half_the_attention(shape: TransformerShape) -> None:
    """Algorithmic counts the mask's other half; executed does not."""
    halved = 7 * shape.batch * shape.seq_len**2 * shape.d_model * shape.n_layers

    assert target_flop(shape, Target.ALGORITHMIC) - target_flop(shape, Target.EXECUTED) == halved


@given(dense_shapes)
def test_only_the_executed_target_sees_recomputation(shape: TransformerShape) -> None:
    """Recomputed blocks are executed FLOP, and no algorithmic ones."""
    extra = recomputed_flop(shape, Recompute.BLOCKS, attention=Attention.CAUSAL)
    executed = [
        target_flop(shape, Target.EXECUTED, recompute=how) for how in (Recompute.BLOCKS, Recompute.NONE)
    ]

    assert executed[0] - executed[1] == extra > 0
    assert target_flop(shape, Target.ALGORITHMIC, recompute=Recompute.BLOCKS) == step_flop(shape)


@given(dense_shapes, st.sampled_from(Attention))
def test_recomputation_is_the_forward_without_the_head(shape: TransformerShape, attention: Attention) -> None:
    """Checkpointing by block leaves the head alone."""
    head = gemm_flop(shape.n_tokens, shape.vocabulary, n_inner=shape.d_model)

    recomputed = recomputed_flop(shape, Recompute.BLOCKS, attention=attention)

    assert recomputed == forward_flop(shape, attention=attention) - head


def test_early_stop_spares_a_third_of_a_short_block() -> None:
    """Of 12 d^2 products in a block with d_ff = 4 d, the last matrix has 4."""
    shape = replace(DENSE, seq_len=1, batch=1)
    attention = attention_forward_flop(shape)

    full, stopped = (
        recomputed_flop(shape, how) - attention for how in (Recompute.BLOCKS, Recompute.BLOCKS_EARLY_STOP)
    )

    assert 3 * stopped == 2 * full


def test_fused_attention_of_a_known_size() -> None:
    """A query of (1, 12, 64, 64) takes 12,582,912 FLOP, where a counter on a CPU says 0."""
    shape = TransformerShape(d_model=768, n_layers=1, n_heads=12, d_ff=1, seq_len=64, batch=1, vocabulary=1)

    assert attention_forward_flop(shape) == 12_582_912


def test_model_and_hardware_flop_are_apart() -> None:
    """A forward of 10 GFLOP is 30 a step for the model, 40 for the hardware if all is recomputed once."""
    forward = 10 * 10**9

    model, hardware = (step_flop_from_forward(forward, n_recomputed_forwards=n) for n in (0, 1))

    assert (model, hardware) == (30 * 10**9, 40 * 10**9)


def test_a_square_matrix_product_of_8192() -> None:
    """2 N^3."""
    assert gemm_flop(8192, 8192, n_inner=8192) == 1_099_511_627_776


@given(dense_shapes)
def test_without_attention_a_step_is_three_forwards(shape: TransformerShape) -> None:
    """Backward costs two forwards but for the scores that a fused kernel computes again."""
    attention = attention_forward_flop(shape)

    assert backward_flop(shape) - 2 * (forward_flop(shape) - attention) == 5 * attention // 2


def test_grouped_queries_save_projections_and_no_attention() -> None:
    """Two key heads instead of eight: keys and values are a quarter as wide."""
    grouped = replace(DENSE, n_kv_heads=2)
    saved_entries = DENSE.n_layers * 2 * 64 * (64 - 16)

    assert attention_forward_flop(grouped) == attention_forward_flop(DENSE)
    assert step_flop(DENSE) - step_flop(grouped) == 6 * DENSE.n_tokens * saved_entries
    assert parameter_count(DENSE) - parameter_count(grouped) == saved_entries


def test_experts_store_all_and_use_few() -> None:
    """Eight experts, two a token: eight times stored, twice used, and a router for each block."""
    experts = replace(DENSE, mlp_matrices=3, n_experts=8, experts_per_token=2)
    gated = replace(DENSE, mlp_matrices=3)
    mlp, router = 3 * 64 * 256, 64 * 8

    assert step_flop(experts) - step_flop(gated) == 6 * DENSE.n_tokens * DENSE.n_layers * (mlp + router)
    assert parameter_count(experts) - parameter_count(gated) == DENSE.n_layers * (7 * mlp + router)


def test_tied_embeddings_are_stored_once() -> None:
    """The head's product stays; its parameters do not count twice."""
    assert parameter_count(DENSE) - parameter_count(DENSE, tied=True) == 100 * 64


def test_frozen_weights_spare_a_third() -> None:
    """No gradient of weights: 4 FLOP a parameter and token, not 6, in a deep model with thin adapters."""
    deep = replace(DENSE, n_layers=1000, seq_len=1)

    lora = step_flop(replace(deep, lora_rank=1))

    assert lora / step_flop(deep) == pytest.approx(4 / 6, rel=0.01)


@given(dense_shapes, st.integers(1, 64))
def test_adapters_never_cost_more_than_training_them_in_full(shape: TransformerShape, rank: int) -> None:
    """LoRA stays below full training plus 6 FLOP for each of its own parameters and tokens."""
    lora = replace(shape, lora_rank=rank)
    adapters = 6 * shape.n_tokens * (parameter_count(lora) - parameter_count(shape))

    assert step_flop(lora) < step_flop(shape) + adapters


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch": 0}, "batch must be positive, got 0"),
        ({"n_kv_heads": 0}, "n_kv_heads must be positive, got 0"),
        ({"lora_rank": 0}, "lora_rank must be positive, got 0"),
        ({"n_heads": 7}, "heads do not divide"),
        ({"n_kv_heads": 3}, "heads do not divide"),
        ({"mlp_matrices": 4}, "an MLP has 2 or 3 matrices, not 4"),
        ({"experts_per_token": 2}, "2 experts a token, but only 1"),
        ({"lora_rank": 4, "lora_matrices": frozenset({"gate"})}, "cannot adapt"),
        ({"lora_rank": 4, "lora_matrices": frozenset({"router"}), "n_experts": 2}, "cannot adapt"),
        ({"lora_rank": 4, "lora_matrices": frozenset()}, "cannot adapt"),
    ],
)
def test_an_impossible_shape_is_refused(change: dict[str, object], message: str) -> None:
    """A shape checks itself, in one line."""
    with pytest.raises(InvalidNounError, match=message):
        replace(DENSE, **change)  # type: ignore[arg-type]
