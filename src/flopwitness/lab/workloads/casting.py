"""In which type matrix products of a precision run, over master weights in fp32."""

from collections.abc import Mapping

import torch

CASTS: Mapping[str, torch.dtype] = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.bfloat16,
    "fp8-fast": torch.bfloat16,
    "int8": torch.bfloat16,
}
"""What autocast computes in, 8-bit layers apart; fp32 and tf32 have none."""


def cast_to(precision: str, device_type: str) -> torch.autocast:
    """Return the context in which products run in a precision, also inside that of another one."""
    dtype = CASTS.get(precision)
    return torch.autocast(device_type, dtype=dtype, enabled=dtype is not None)
