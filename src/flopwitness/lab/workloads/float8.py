"""A linear layer whose three products run in 8-bit floats, with one scale a tensor that is set each time."""

from typing import Any

import torch
from torch import nn

FORWARD, BACKWARD = torch.float8_e4m3fn, torch.float8_e5m2
"""Values and weights keep more digits, gradients more range (Micikevicius et al., arXiv:2209.05433)."""

MIN_AMAX = 1e-12
"""Keeps the scale of an all-zero tensor finite."""


def require_float8(device: torch.device) -> None:
    """Refuse a GPU that does not multiply 8-bit floats; compute capability 8.9 and newer do, as processors.

    Raises
    ------
    RuntimeError
        When it does not.
    """
    if device.type == "cuda" and tuple(torch.cuda.get_device_capability(device)) < (8, 9):
        raise RuntimeError(f"{device} does not multiply 8-bit floats")


class Float8Linear(nn.Module):  # type: ignore[misc]
    """``x @ weight.T`` in 8-bit floats, its gradients too; widths must be multiples of 16.

    Parameters
    ----------
    d_in, d_out : int
        Widths.
    fast : bool
        Whether sums stay in the tensor core's own accumulator, with fewer bits, instead of fp32 registers.
    """

    def __init__(self, d_in: int, d_out: int, *, fast: bool = False) -> None:
        super().__init__()
        self.fast = fast
        self.weight = nn.Parameter(torch.empty(d_out, d_in))
        nn.init.normal_(self.weight, std=d_in**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Multiply."""
        rows = x.flatten(0, -2).to(torch.bfloat16)
        return _Product.apply(rows, self.weight, self.fast).view(*x.shape[:-1], -1)


class _Product(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, x: torch.Tensor, weight: torch.Tensor, fast: bool) -> torch.Tensor:
        context.save_for_backward(x, weight)
        context.fast = fast
        return _multiplied(x, weight, left_type=FORWARD, fast=fast)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        x, weight = context.saved_tensors
        of_x = _multiplied(gradient, weight.t(), left_type=BACKWARD, fast=context.fast)
        of_weight = _multiplied(gradient.t(), x.t(), left_type=BACKWARD, fast=context.fast)
        return of_x, of_weight.to(weight.dtype), None


def _multiplied(
    left: torch.Tensor, right: torch.Tensor, *, left_type: torch.dtype, fast: bool
) -> torch.Tensor:
    """Return ``left @ right.T``, both row by row in memory, as the kernel wants them."""
    left8, left_scale = _cast(left, left_type)
    right8, right_scale = _cast(right, FORWARD)
    return torch._scaled_mm(  # noqa: SLF001  the only name that PyTorch has for it
        left8,
        right8.t(),
        scale_a=left_scale,
        scale_b=right_scale,
        out_dtype=torch.bfloat16,
        use_fast_accum=fast,
    )


def _cast(values: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    amax = values.abs().amax().float().clamp(min=MIN_AMAX)
    scale = amax / torch.finfo(dtype).max
    limit = torch.finfo(dtype).max
    return (values / scale).clamp(-limit, limit).to(dtype).contiguous(), scale
