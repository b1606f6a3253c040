"""Which arithmetic pipes a GPU has, which number formats exist and which channel watches which pipe."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Precision(StrEnum):
    """A format of the operands; a multiply-add counts as two operations in each of them.

    ``FP16_NARROW`` and ``FP8_NARROW`` accumulate in FP16. They have an entry only where this is faster than
    the usual FP32 accumulation, as on consumer Ada. Binary (XOR, AND) matrix work counts as nothing here.
    """

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP16_NARROW = "fp16_narrow"
    FP8 = "fp8"
    FP8_NARROW = "fp8_narrow"
    FP6 = "fp6"
    FP4 = "fp4"
    INT32 = "int32"
    INT8 = "int8"
    INT4 = "int4"


class Pipe(StrEnum):
    """A part of the SM that does arithmetic: three views of the tensor cores, and four plain pipes."""

    HMMA = "hmma"
    IMMA = "imma"
    DMMA = "dmma"
    FP64 = "fp64"
    FP32 = "fp32"
    FP16 = "fp16"
    INT = "int"


TENSOR_PIPES = frozenset({Pipe.HMMA, Pipe.IMMA, Pipe.DMMA})
"""Views of the same tensor cores: a core works in one format at a time, so their rates never add up.

NVIDIA, "A100 Tensor Core GPU Architecture" white paper, third-generation tensor core.
"""

TENSOR_CHANNEL = "tensor_active_ratio"
"""Share of SM cycles in which any of ``TENSOR_PIPES`` was active; tells no format."""

WATCHED_BY: Mapping[Pipe, tuple[str, ...]] = MappingProxyType(
    {
        Pipe.HMMA: ("hmma_active_ratio",),
        Pipe.IMMA: ("imma_active_ratio",),
        Pipe.DMMA: ("dfma_active_ratio", "dmma_active_ratio"),
        Pipe.FP64: ("fp64_active_ratio",),
        Pipe.FP32: ("fp32_active_ratio",),
        Pipe.FP16: ("fp16_active_ratio",),
        Pipe.INT: ("int_active_ratio",),
    }
)
"""Channels that show a pipe at work.

NVML, ``nvmlGpmMetricId_t`` 4 to 9 and 11 to 13. HMMA is an umbrella: FP16, BF16, TF32, FP8 and FP4 all show
in it (github.com/NVIDIA/DCGM/issues/251 and 252). FP64 matrix products were measured on an H200 to show in
``dfma`` alone, of the channels that tell formats apart.
"""
