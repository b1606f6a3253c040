"""A linear layer whose three products run in 8-bit floats, with one scale a tensor that is set each time."""

from typing import Any

import torch
from torch import nn

FORWARD, BACKWARD = torch.float8_e4m3fn, torch.float8_e5m2
"""Values and weights keep more digits, gradients more range (Micikevicius et al., arXiv:2209.05433)."""

MIN_AMAX = 1e-12
"""Keeps the scale of an all-zero tensor finite."""


def is_available(device: torch.device) -> bool:
    """Say whether the device multiplies 8-bit floats: compute capability 8.9 and newer do."""
    return device.type == "cuda" and tuple(torch.cuda.get_device_capability(device)) >= (8, 9)


class Float8Linear(nn.Module):  # type: ignore[misc]
    """``x @ weight.T`` in 8-bit floats, its gradients too; widths must be multiples of 16."""

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
        return _multiplied(x, weight, FORWARD, FORWARD)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight = context.saved_tensors
        of_x = _multiplied(gradient, weight.t(), BACKWARD, FORWARD)
        of_weight = _multiplied(gradient.t(), x.t(), BACKWARD, FORWARD)
        return of_x, of_weight.to(weight.dtype)


def _multiplied(
    left: torch.Tensor, right: torch.Tensor, left_type: torch.dtype, right_type: torch.dtype
) -> torch.Tensor:
    """Return ``left @ right.T``, both row by row in memory, as the kernel wants them."""
    left8, left_scale = _cast(left, left_type)
    right8, right_scale = _cast(right, right_type)
    return torch._scaled_mm(  # noqa: SLF001  the only name that PyTorch has for it
        left8, right8.t(), scale_a=left_scale, scale_b=right_scale, out_dtype=torch.bfloat16
    )


def _cast(values: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    amax = values.abs().amax().float().clamp(min=MIN_AMAX)
    scale = amax / torch.finfo(dtype).max
    limit = torch.finfo(dtype).max
    return (values / scale).clamp(-limit, limit).to(dtype).contiguous(), scale
