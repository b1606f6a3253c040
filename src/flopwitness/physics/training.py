"""How many FLOP a training step of a decoder-only transformer needs, in closed form and exact integers.

Counts matrix products only, a multiply-add as two; norms, activations, softmax, the embedding lookup, the
optimiser and communication count nothing: the convention of FlopCounterMode (torch.utils.flop_counter).
Knows no chip and no sample.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from flopwitness.core.workload import Target
from flopwitness.physics.transformer import Matrix, TransformerShape

__all__ = [
    "Attention",
    "Recompute",
    "TransformerShape",
    "attention_forward_flop",
    "backward_flop",
    "forward_flop",
    "gemm_flop",
    "parameter_count",
    "recomputed_flop",
    "step_flop",
    "step_flop_from_forward",
    "target_flop",
]


class Attention(StrEnum):
    """How the two products of attention and their gradients are counted.

    ``full``: as FlopCounterMode counts a fused kernel: 2 products forward, 5 backward (one of them repeats
    the scores), the mask ignored. ``causal``: as such a kernel executes under a causal mask: half of that.
    ``explicit``: matrix products written out, 2 forward and 4 backward, masked after they are computed; with
    LoRA a gradient that nobody needs may be left out, so it is exact for full training only.
    """

    FULL = "full"
    CAUSAL = "causal"
    EXPLICIT = "explicit"


class Recompute(StrEnum):
    """Which activations are computed a second time in the backward pass.

    ``blocks``: every block's forward once more. ``blocks_early_stop``: the same without each block's last
    product, since nothing needs its result; ``torch.utils.checkpoint`` without re-entrance stops there by
    default, which spares a third of a block of a dense model with ``d_ff = 4 d_model`` and short context.
    """

    NONE = "none"
    BLOCKS = "blocks"
    BLOCKS_EARLY_STOP = "blocks_early_stop"


FORWARD_MULTIPLE: Mapping[Attention, int] = MappingProxyType(
    {Attention.FULL: 4, Attention.CAUSAL: 2, Attention.EXPLICIT: 4}
)
"""Forward FLOP of attention over ``batch * seq_len**2 * d_model``; one unmasked product is 2.

Dao et al., "FlashAttention" (arXiv:2205.14135), algorithm 1; ``sdpa_flop_count`` of torch.utils.flop_counter.
"""

BACKWARD_MULTIPLE: Mapping[Attention, int] = MappingProxyType(
    {Attention.FULL: 10, Attention.CAUSAL: 5, Attention.EXPLICIT: 8}
)
"""Backward FLOP of attention in the same unit.

Algorithm 4 of the same paper; ``sdpa_backward_flop_count`` of torch.utils.flop_counter.
"""


def gemm_flop(n_rows: int, n_columns: int, *, n_inner: int) -> int:
    """Return the FLOP of one matrix product, 2 for each multiply-add.

    Examples
    --------
    >>> gemm_flop(8192, 8192, n_inner=8192)
    1099511627776
    """
    return 2 * n_rows * n_columns * n_inner


def attention_forward_flop(shape: TransformerShape, *, attention: Attention = Attention.FULL) -> int:
    """Return the forward FLOP of attention proper, its four projections left out, over all blocks.

    Grouped keys and values are shared, not skipped: the count is that of all query heads.
    """
    return FORWARD_MULTIPLE[attention] * _attention_unit(shape) * shape.n_layers


def forward_flop(shape: TransformerShape, *, attention: Attention = Attention.FULL) -> int:
    """Return the FLOP of one forward pass of one GPU's batch, the output head included.

    Examples
    --------
    >>> shape = TransformerShape(d_model=4, n_layers=1, n_heads=2, d_ff=8, seq_len=2, batch=1, vocabulary=10)
    >>> forward_flop(shape), backward_flop(shape), step_flop(shape)
    (736, 1504, 2240)
    """
    head = gemm_flop(shape.n_tokens, shape.vocabulary, n_inner=shape.d_model)
    return _blocks_forward_flop(shape, attention) + head


def backward_flop(shape: TransformerShape, *, attention: Attention = Attention.FULL) -> int:
    """Return the FLOP of one backward pass, activations at hand.

    Each matrix costs its forward twice: for the gradient of its input and for that of its weights. With LoRA
    frozen matrices have no gradient of weights, and the pass ends at the first adapted matrix of the first
    block.
    """
    n_gradients = 1 if shape.lora_rank else 2
    head = n_gradients * gemm_flop(shape.n_tokens, shape.vocabulary, n_inner=shape.d_model)
    first = _block_backward_flop(shape, attention, is_first=True)
    return head + first + (shape.n_layers - 1) * _block_backward_flop(shape, attention, is_first=False)


def recomputed_flop(
    shape: TransformerShape, recompute: Recompute, *, attention: Attention = Attention.FULL
) -> int:
    """Return the FLOP that a step spends on computing activations again."""
    if recompute is Recompute.NONE:
        return 0
    blocks = _blocks_forward_flop(shape, attention)
    if recompute is Recompute.BLOCKS:
        return blocks
    return blocks - shape.n_layers * _last_product_flop(shape)


def step_flop(
    shape: TransformerShape,
    *,
    attention: Attention = Attention.FULL,
    recompute: Recompute = Recompute.NONE,
) -> int:
    r"""Return the FLOP of one training step of one GPU: forward, backward and what is recomputed.

    For a dense model with full attention, two MLP matrices and no recomputation this is

    .. math:: 6 b s (L (4 d^2 + 2 d \, d_{ff}) + V d) + 14 b s^2 d L
    """
    return (
        forward_flop(shape, attention=attention)
        + backward_flop(shape, attention=attention)
        + recomputed_flop(shape, recompute, attention=attention)
    )


def target_flop(shape: TransformerShape, target: Target, *, recompute: Recompute = Recompute.NONE) -> int:
    """Return the FLOP of one step as a target counts them.

    ``algorithmic`` counts attention in full and nothing twice; ``executed`` counts what a causal fused kernel
    does, and recomputation.
    """
    if target is Target.ALGORITHMIC:
        return step_flop(shape)
    return step_flop(shape, attention=Attention.CAUSAL, recompute=recompute)


def step_flop_from_forward(forward_flop: int, *, n_recomputed_forwards: int = 0) -> int:
    """Return the FLOP of a step of any network of matrix products from its forward: 3 forwards, and repeats.

    With one full recomputation that is 8N a token instead of 6N for N parameters, with two 10N. A fused
    attention's fifth backward product is not in it.

    Examples
    --------
    >>> step_flop_from_forward(10), step_flop_from_forward(10, n_recomputed_forwards=1)
    (30, 40)
    """
    return (3 + n_recomputed_forwards) * forward_flop


def parameter_count(shape: TransformerShape, *, tied: bool = False) -> int:
    """Return the entries of all matrices: blocks, adapters, embedding, and the head unless it is tied.

    Biases, norms and learned positions are left out; they are below 0.1 % at common widths.
    """
    blocks = sum(
        matrix.n_stored * (matrix.n_entries + shape.rank_of(matrix) * (matrix.d_in + matrix.d_out))
        for matrix in shape.block_matrices
    )
    return shape.n_layers * blocks + (1 if tied else 2) * shape.vocabulary * shape.d_model


def _attention_unit(shape: TransformerShape) -> int:
    return shape.batch * shape.seq_len**2 * shape.d_model


def _forward_flop_of(shape: TransformerShape, matrix: Matrix) -> int:
    adapter = shape.rank_of(matrix) * (matrix.d_in + matrix.d_out)
    return 2 * shape.n_tokens * matrix.n_used * (matrix.n_entries + adapter)


def _blocks_forward_flop(shape: TransformerShape, attention: Attention) -> int:
    matrices = sum(_forward_flop_of(shape, matrix) for matrix in shape.block_matrices)
    return shape.n_layers * matrices + attention_forward_flop(shape, attention=attention)


def _block_backward_flop(shape: TransformerShape, attention: Attention, *, is_first: bool) -> int:
    # Below the first trained matrix of the first block nothing asks for a gradient.
    trained_from = shape.first_trained_stage if is_first else -1
    matrices = sum(
        _backward_flop_of(shape, matrix, reaches_input=trained_from < matrix.stage)
        for matrix in shape.block_matrices
    )
    runs_attention = trained_from <= 0
    return matrices + runs_attention * BACKWARD_MULTIPLE[attention] * _attention_unit(shape)


def _last_product_flop(shape: TransformerShape) -> int:
    if shape.n_experts > 1:
        return 0  # what the experts say is weighed, so its gradient needs it
    last = shape.last_matrix
    return gemm_flop(shape.n_tokens, last.d_out, n_inner=shape.rank_of(last) or last.d_in)


def _backward_flop_of(shape: TransformerShape, matrix: Matrix, *, reaches_input: bool) -> int:
    rank = shape.rank_of(matrix)
    trains_weights = not shape.lora_rank
    own = matrix.n_entries * (reaches_input + trains_weights)
    adapter = rank * matrix.d_in * (reaches_input + 1) + rank * matrix.d_out * 2
    return 2 * shape.n_tokens * matrix.n_used * (own + adapter)
