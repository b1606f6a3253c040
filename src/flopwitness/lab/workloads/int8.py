"""A linear layer whose product forward runs in 8-bit integers; gradients pass straight through in bf16."""

from typing import Any

import torch
from torch import nn

LIMIT = 127.0
"""Largest value of a symmetric 8-bit integer."""

MIN_AMAX = 1e-12
"""Keeps the scale of an all-zero row finite."""


class Int8Linear(nn.Module):  # type: ignore[misc]
    """``x @ weight.T``, both rounded with one scale a row that is set each time.

    As int8 training with a straight-through estimator does (Bengio et al., arXiv:1308.3432). The kernel wants
    more than 16 rows, and widths that are multiples of 8.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_out, d_in))
        nn.init.normal_(self.weight, std=d_in**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Multiply."""
        rows = x.flatten(0, -2).to(torch.bfloat16)
        return _Product.apply(rows, self.weight).view(*x.shape[:-1], -1)


class _Product(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(x, weight)
        x8, x_scale = rounded(x)
        weight8, weight_scale = rounded(weight.to(torch.bfloat16))
        product = torch._int_mm(x8, weight8.t())  # noqa: SLF001  the only name that PyTorch has for it
        return product.to(torch.bfloat16).mul_(x_scale).mul_(weight_scale.t())

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight = context.saved_tensors
        gradient = gradient.to(torch.bfloat16)
        return gradient @ weight.to(torch.bfloat16), (gradient.t() @ x).to(weight.dtype)


def rounded(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return integers and the scale of each row that gives the values back."""
    scale = values.abs().amax(dim=1, keepdim=True).clamp(min=MIN_AMAX) / LIMIT
    return (values / scale).round_().clamp_(-LIMIT, LIMIT).to(torch.int8), scale
