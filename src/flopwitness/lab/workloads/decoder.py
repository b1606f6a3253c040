"""A decoder-only transformer, small and plain: embedding, blocks, untied head; no dropout, no positions.

Attention is causal and fused. Linear layers of a block have biases, as in the recordings that come with the
project; they cost no matrix product.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from flopwitness.lab.settings import Settings
from flopwitness.lab.workloads.casting import cast_to
from flopwitness.lab.workloads.float8 import Float8Linear
from flopwitness.lab.workloads.int8 import Int8Linear


class AdaptedLinear(nn.Module):  # type: ignore[misc]
    """A frozen matrix with a trained one of low rank beside it (Hu et al., arXiv:2106.09685)."""

    def __init__(self, d_in: int, d_out: int, *, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(d_in, d_out).requires_grad_(requires_grad=False)
        self.down = nn.Linear(d_in, rank, bias=False)
        self.up = nn.Linear(rank, d_out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add what the adapter says."""
        return self.base(x) + self.up(self.down(x))


def linear(d_in: int, d_out: int, settings: Settings, *, adapted: bool = False) -> nn.Module:
    """Return a linear layer of a block, as the settings want it."""
    if settings.precision in ("fp8", "fp8-fast"):
        return Float8Linear(d_in, d_out, fast=settings.precision == "fp8-fast")
    if settings.precision == "int8":
        return Int8Linear(d_in, d_out)
    if settings.lora_rank and adapted:
        return AdaptedLinear(d_in, d_out, rank=settings.lora_rank)
    return nn.Linear(d_in, d_out).requires_grad_(not settings.lora_rank)


class Attention(nn.Module):  # type: ignore[misc]
    """Causal attention with as many key heads as the settings say; can keep keys and values."""

    def __init__(self, settings: Settings, *, causal: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.d_head = settings.d_model // settings.n_heads
        self.n_groups = settings.n_heads // (settings.n_kv_heads or settings.n_heads)
        d_kv = settings.d_model // self.n_groups
        self.query = linear(settings.d_model, settings.d_model, settings, adapted=True)
        self.key = linear(settings.d_model, d_kv, settings)
        self.value = linear(settings.d_model, d_kv, settings, adapted=True)
        self.output = linear(settings.d_model, settings.d_model, settings)

    def forward(self, x: torch.Tensor, kept: tuple[torch.Tensor, torch.Tensor] | None = None) -> torch.Tensor:
        """Attend to ``x``, or to kept keys and values whose last places those of ``x`` take."""
        parts = (self.query(x), self.key(x), self.value(x))
        query, key, value = (part.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for part in parts)
        causal = self.causal
        if kept is not None:
            n_new = x.shape[1]
            causal = n_new == kept[0].shape[2]
            for place, new in zip(kept, (key, value), strict=True):
                place[:, :, -n_new:] = new
            key, value = kept
        return self.output(self._attend(query, key, value, causal=causal).transpose(1, 2).flatten(2))

    def _attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, causal: bool
    ) -> torch.Tensor:
        if self.n_groups > 1 and not _shares_heads(query):
            key, value = (part.repeat_interleave(self.n_groups, dim=1) for part in (key, value))
        shared = key.shape[1] < query.shape[1]
        return functional.scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=shared)


def _shares_heads(query: torch.Tensor) -> bool:
    """Say whether the fused kernels take grouped heads as they are: the half-precision ones on a GPU do."""
    return query.is_cuda and query.dtype in (torch.bfloat16, torch.float16)


class Mlp(nn.Module):  # type: ignore[misc]
    """Two matrices with a GELU between."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.up = linear(settings.d_model, settings.d_ff, settings)
        self.down = linear(settings.d_ff, settings.d_model, settings)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Widen, bend, narrow."""
        return self.down(functional.gelu(self.up(x)))


class Mixture(nn.Module):  # type: ignore[misc]
    """Experts behind a router; each token passes its best few, none is dropped."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.n_used = settings.experts_per_token
        self.router = nn.Linear(settings.d_model, settings.n_experts, bias=False)
        self.experts = nn.ModuleList(Mlp(settings) for _ in range(settings.n_experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Sort tokens by expert, let each expert work, weigh what they say."""
        tokens = x.flatten(0, 1)
        scores, chosen = self.router(tokens).topk(self.n_used, dim=-1)
        weights = scores.softmax(-1).flatten()
        order = chosen.flatten().argsort()
        shares = torch.bincount(chosen.flatten(), minlength=len(self.experts)).tolist()
        parts = tokens[order // self.n_used].split(shares)
        # An expert without a token runs too: DDP waits for every gradient.
        said = torch.cat([expert(part) for expert, part in zip(self.experts, parts, strict=True)])
        weighed = said * weights[order, None].to(said.dtype)
        summed = torch.zeros_like(tokens, dtype=said.dtype).index_add(0, order // self.n_used, weighed)
        return summed.view_as(x)


class Block(nn.Module):  # type: ignore[misc]
    """Attention and MLP, each behind a norm and beside a residual."""

    def __init__(self, settings: Settings, *, causal: bool = True) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(settings.d_model) for _ in range(2))
        self.norms.requires_grad_(not settings.lora_rank)
        self.attention = Attention(settings, causal=causal)
        self.mlp = Mixture(settings) if settings.n_experts > 1 else Mlp(settings)

    def forward(self, x: torch.Tensor, kept: tuple[torch.Tensor, torch.Tensor] | None = None) -> torch.Tensor:
        """Attend, then think."""
        x = x + self.attention(self.norms[0](x), kept)
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):  # type: ignore[misc]
    """Tokens in, logits out."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.n_recomputed = (settings.recompute_layers or settings.n_layers) if settings.recompute else 0
        of_blocks = [_of_block(settings, index) for index in range(settings.n_layers)]
        # Where all blocks are alike, the whole network runs in one context.
        self.precisions = [one.precision if settings.precision_layers else "" for one in of_blocks]
        self.embedding = nn.Embedding(settings.vocabulary, settings.d_model)
        self.blocks = nn.ModuleList(Block(one) for one in of_blocks)
        self.norm = nn.LayerNorm(settings.d_model)
        self.head = nn.Linear(settings.d_model, settings.vocabulary, bias=False)
        for outer in (self.embedding, self.norm, self.head):
            outer.requires_grad_(not settings.lora_rank)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits of every token."""
        return self.head(self.norm(self._through_blocks(tokens)))

    def answer(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits of what follows each sequence: only its last token asks the head."""
        return self.head(self.norm(self._through_blocks(tokens)[:, -1]))

    def _through_blocks(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for index, block in enumerate(self.blocks):
            with _in_precision(self.precisions[index], x.device.type):
                again = index < self.n_recomputed
                x = checkpoint(block, x, use_reentrant=False) if again else block(x)
        return x


def _of_block(settings: Settings, index: int) -> Settings:
    """Return what a block is built with: the first ones in the precision asked for, the rest in bf16."""
    rest = settings.precision_layers and index >= settings.precision_layers
    return replace(settings, precision="bf16") if rest else settings


def _in_precision(precision: str, device_type: str) -> AbstractContextManager[object]:
    return cast_to(precision, device_type) if precision else nullcontext()
