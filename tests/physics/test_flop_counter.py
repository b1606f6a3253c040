"""The closed form against PyTorch's own counter, on a transformer that has every part and no data.

Tensors live on the meta device: shapes only, so the fused attention of a GPU can be counted without one. (On
a CPU FlopCounterMode counts 0 for it: github.com/pytorch/pytorch/issues/195460.)
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from flopwitness.physics.training import (
    Attention,
    Recompute,
    attention_forward_flop,
    forward_flop,
    step_flop,
)
from flopwitness.physics.transformer import TransformerShape

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - only where torch is installed
from torch.utils import flop_counter  # noqa: E402
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop  # noqa: E402

Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
RunBlock = Callable[[nn.Module, torch.Tensor], torch.Tensor]

DENSE = TransformerShape(d_model=48, n_layers=3, n_heads=6, d_ff=80, seq_len=16, batch=2, vocabulary=101)
GROUPED = replace(DENSE, n_kv_heads=2)
GATED = replace(DENSE, mlp_matrices=3)
EXPERTS = replace(GATED, n_kv_heads=3, n_experts=4, experts_per_token=2)


def adapted(shape: TransformerShape, *names: str) -> TransformerShape:
    """Return the shape with adapters of rank 4 on the matrices named."""
    return replace(shape, lora_rank=4, lora_matrices=frozenset(names))


SHAPES = {
    "dense": DENSE,
    "one block": replace(DENSE, n_layers=1),
    "grouped queries": GROUPED,
    "gated": GATED,
    "experts": EXPERTS,
    "LoRA on query and value": adapted(DENSE, "query", "value"),
    "LoRA on output": adapted(GROUPED, "output"),
    "LoRA on gate": adapted(GATED, "gate"),
    "LoRA on down": adapted(DENSE, "down"),
    "LoRA on all": adapted(GATED, "query", "key", "value", "output", "gate", "up", "down"),
    "LoRA on experts": adapted(EXPERTS, "key", "up"),
}


def fused_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Attend as a flash kernel does, causal; grouped keys and values are left as they are."""
    return torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, 0.0, is_causal=True)[0]


def explicit_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Attend by matrix products written out, causal."""
    n_groups = query.shape[1] // key.shape[1]
    key, value = (tensor.repeat_interleave(n_groups, dim=1) for tensor in (key, value))
    scores = query @ key.transpose(-1, -2)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(mask, float("-inf")).softmax(-1) @ value


class Projection(nn.Module):
    """A matrix, with an adapter beside it where the shape asks for one."""

    def __init__(self, shape: TransformerShape, name: str) -> None:
        super().__init__()
        matrix = next(matrix for matrix in shape.block_matrices if matrix.name == name)
        self.base = nn.Linear(matrix.d_in, matrix.d_out, bias=False)
        self.base.requires_grad_(not shape.lora_rank)
        rank = shape.rank_of(matrix)
        self.adapter = None
        if rank:
            widths = ((matrix.d_in, rank), (rank, matrix.d_out))
            self.adapter = nn.Sequential(*(nn.Linear(*pair, bias=False) for pair in widths))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Multiply."""
        return self.base(x) + self.adapter(x) if self.adapter else self.base(x)


class Expert(nn.Module):
    """An MLP of two matrices or three."""

    def __init__(self, shape: TransformerShape) -> None:
        super().__init__()
        names = [matrix.name for matrix in shape.block_matrices]
        self.up, self.down = Projection(shape, "up"), Projection(shape, "down")
        self.gate = Projection(shape, "gate") if "gate" in names else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Widen, bend, narrow."""
        hidden = (
            nn.functional.silu(self.gate(x)) * self.up(x) if self.gate else nn.functional.gelu(self.up(x))
        )
        return self.down(hidden)


class Mixture(nn.Module):
    """Experts behind a router; each gets the same share of the tokens, since meta tensors cannot choose."""

    def __init__(self, shape: TransformerShape) -> None:
        super().__init__()
        self.n_used = shape.experts_per_token
        self.router = Projection(shape, "router")
        self.experts = nn.ModuleList(Expert(shape) for _ in range(shape.n_experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Weigh what the experts say."""
        tokens = x.flatten(0, 1)
        weights = self.router(tokens).topk(self.n_used, dim=-1).values.softmax(-1)
        parts = tokens.repeat(self.n_used, 1).chunk(len(self.experts))
        said = torch.cat([expert(part) for expert, part in zip(self.experts, parts, strict=True)])
        return (said.view(self.n_used, *tokens.shape) * weights.T[..., None]).sum(0).view_as(x)


class Block(nn.Module):
    """Attention and MLP, each behind a norm and beside a residual."""

    def __init__(self, shape: TransformerShape, attend: Attend) -> None:
        super().__init__()
        self.attend, self.d_head = attend, shape.d_model // shape.n_heads
        self.norms = nn.ModuleList(nn.LayerNorm(shape.d_model) for _ in range(2))
        self.norms.requires_grad_(not shape.lora_rank)
        names = ("query", "key", "value", "output")
        self.query, self.key, self.value, self.output = (Projection(shape, name) for name in names)
        self.mlp = Mixture(shape) if shape.n_experts > 1 else Expert(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attend, then think."""
        normed = self.norms[0](x)
        projected = (self.query(normed), self.key(normed), self.value(normed))
        heads = (part.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for part in projected)
        x = x + self.output(self.attend(*heads).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):
    """Embedding, blocks, head."""

    def __init__(self, shape: TransformerShape, attend: Attend, run_block: RunBlock) -> None:
        super().__init__()
        self.run_block = run_block
        self.embedding = nn.Embedding(shape.vocabulary, shape.d_model)
        self.blocks = nn.ModuleList(Block(shape, attend) for _ in range(shape.n_layers))
        self.head = nn.Linear(shape.d_model, shape.vocabulary, bias=False)
        for outer in (self.embedding, self.head):
            outer.requires_grad_(not shape.lora_rank)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = self.run_block(block, x)
        return self.head(x)


def call(block: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Run a block and keep its activations."""
    return block(x)


def recompute_block(block: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Run a block and compute its activations again in the backward pass."""
    return checkpoint(block, x, use_reentrant=False)


def counted_flop(
    shape: TransformerShape,
    *,
    attend: Attend = fused_attention,
    run_block: RunBlock = call,
    backward: bool = True,
) -> int:
    """Return what FlopCounterMode counts for one step."""
    with torch.device("meta"):
        model = Decoder(shape, attend, run_block)
        tokens = torch.zeros(shape.batch, shape.seq_len, dtype=torch.long)
    with flop_counter.FlopCounterMode(display=False) as counter:
        logits = model(tokens)
        if backward:
            logits.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_step_equals_what_the_counter_counts(shape: TransformerShape) -> None:
    """Forward and backward of every kind of model, to the last FLOP."""
    assert step_flop(shape) == counted_flop(shape)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_forward_equals_what_the_counter_counts(shape: TransformerShape) -> None:
    """Adapters and routers have a forward too."""
    assert forward_flop(shape) == counted_flop(shape, backward=False)


@pytest.mark.parametrize(
    "shape", [DENSE, GROUPED, GATED, EXPERTS], ids=["dense", "grouped", "gated", "experts"]
)
def test_attention_written_out_has_four_backward_products(shape: TransformerShape) -> None:
    """A fused kernel computes the scores a second time: five products. Plain ones keep them: four."""
    assert step_flop(shape, attention=Attention.EXPLICIT) == counted_flop(shape, attend=explicit_attention)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_recomputed_blocks_add_their_forward(shape: TransformerShape) -> None:
    """Checkpointing each block in full repeats its forward, not the head's."""
    with set_checkpoint_early_stop(enable=False):
        counted = counted_flop(shape, run_block=recompute_block)

    assert step_flop(shape, recompute=Recompute.BLOCKS) == counted


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_early_stop_spares_the_last_matrix(shape: TransformerShape) -> None:
    """PyTorch stops recomputing where nothing more is needed: before the last product of the block."""
    counted = counted_flop(shape, run_block=recompute_block)

    assert step_flop(shape, recompute=Recompute.BLOCKS_EARLY_STOP) == counted


@pytest.mark.parametrize("n_kv_heads", [1, 4, 12])
def test_the_kernel_formulas_of_torch_agree(n_kv_heads: int) -> None:
    """Grouped keys do not change the count; forward and backward are 2 and 5 products."""
    shape = TransformerShape(
        d_model=768, n_layers=1, n_heads=12, n_kv_heads=n_kv_heads, d_ff=1, seq_len=64, batch=1, vocabulary=1
    )
    query, key = (1, 12, 64, 64), (1, n_kv_heads, 64, 64)

    forward = flop_counter.sdpa_flop_count(query, key, key)
    backward = flop_counter.sdpa_backward_flop_count(query, query, key, key)

    assert attention_forward_flop(shape) == forward
    assert 5 * forward == 2 * backward
