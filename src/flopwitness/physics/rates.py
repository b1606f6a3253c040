"""Dense operations per cycle and SM of each architecture; a multiply-add counts as two.

Each table names its sources. What a source does not print is derived from a printed peak, over SMs and clock,
or marked as unverified. 2:4 sparsity is no part of these tables: see ``SPARSITY_FACTOR``.
"""

from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.physics.formats import Pipe, Precision

Rates = Mapping[tuple[Pipe, Precision], int]

SPARSITY_FACTOR: Mapping[str, int] = MappingProxyType(
    {"Volta": 1, "Ampere": 2, "Ada": 2, "Hopper": 2, "Blackwell": 2, "RDNA3": 1}
)
"""Dense-equivalent over dense rate of the HMMA and IMMA pipes with 2:4 structured sparsity.

NVIDIA, "A100 Tensor Core GPU Architecture" white paper; Volta has none, and FP64 has none on any chip.
AMD, "RDNA3 Instruction Set Architecture" reference guide: no sparse matrix instruction.
"""

INTEGER_PIPE_RATES: Rates = MappingProxyType(
    {(Pipe.INT, Precision.INT32): 128, (Pipe.INT, Precision.INT8): 512}
)
"""64 lanes, each one 32-bit multiply-add or one four-way 8-bit dot product (DP4A).

CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 7.0 to 10.0. That DP4A runs at the
full rate of the lanes is unverified; it is the high end.
"""

VOLTA: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.FP16): 1024,
        (Pipe.FP64, Precision.FP64): 64,
        (Pipe.FP32, Precision.FP32): 128,
        (Pipe.FP16, Precision.FP16): 256,
        **INTEGER_PIPE_RATES,
    }
)
"""NVIDIA, "Tesla V100 GPU Architecture" white paper: eight tensor cores of 64 multiply-adds."""

AMPERE: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.TF32): 1024,
        (Pipe.HMMA, Precision.BF16): 2048,
        (Pipe.HMMA, Precision.FP16): 2048,
        (Pipe.IMMA, Precision.INT8): 4096,
        (Pipe.IMMA, Precision.INT4): 8192,
        (Pipe.DMMA, Precision.FP64): 128,
        (Pipe.FP64, Precision.FP64): 64,
        (Pipe.FP32, Precision.FP32): 128,
        (Pipe.FP16, Precision.FP16): 512,
        (Pipe.FP16, Precision.BF16): 256,
        **INTEGER_PIPE_RATES,
    }
)
"""NVIDIA, "A100 Tensor Core GPU Architecture" white paper: four tensor cores of 256 multiply-adds."""

AMPERE_ORIN: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.TF32): 1024,
        (Pipe.HMMA, Precision.BF16): 2048,
        (Pipe.HMMA, Precision.FP16): 2048,
        (Pipe.IMMA, Precision.INT8): 4096,
        (Pipe.IMMA, Precision.INT4): 8192,
        (Pipe.FP64, Precision.FP64): 4,
        (Pipe.FP32, Precision.FP32): 256,
        (Pipe.FP16, Precision.FP16): 512,
        (Pipe.FP16, Precision.BF16): 512,
        **INTEGER_PIPE_RATES,
    }
)
"""Derived from the Jetson Orin Nano data sheet: 67 sparse INT8 TOPS and 17 dense FP16 TFLOP/s at 1,020 MHz.

TF32, INT4, FP64 and the plain FP16 pipe are unverified: they follow the other Ampere chips.
"""

ADA: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.TF32): 512,
        (Pipe.HMMA, Precision.BF16): 1024,
        (Pipe.HMMA, Precision.FP16): 1024,
        (Pipe.HMMA, Precision.FP8): 2048,
        (Pipe.IMMA, Precision.INT8): 2048,
        (Pipe.IMMA, Precision.INT4): 4096,
        (Pipe.FP64, Precision.FP64): 4,
        (Pipe.FP32, Precision.FP32): 256,
        (Pipe.FP16, Precision.FP16): 256,
        (Pipe.FP16, Precision.BF16): 256,
        **INTEGER_PIPE_RATES,
    }
)
"""Derived from the L40S data sheet (91.6, 183, 362 and 733 TFLOP/s at 2,520 MHz, 142 SMs).

That sheet prints one figure, 733, for INT8 and for INT4. The Ada white paper gives the same die twice the
INT8 rate for INT4 (GeForce RTX 4090); the wider one stands here, so that a ceiling holds.
"""

ADA_GEFORCE: Rates = MappingProxyType(
    {
        **ADA,
        (Pipe.HMMA, Precision.TF32): 256,
        (Pipe.HMMA, Precision.BF16): 512,
        (Pipe.HMMA, Precision.FP16): 512,
        (Pipe.HMMA, Precision.FP16_NARROW): 1024,
        (Pipe.HMMA, Precision.FP8): 1024,
        (Pipe.HMMA, Precision.FP8_NARROW): 2048,
    }
)
"""NVIDIA, "Ada GPU Architecture" white paper, appendix A: accumulation in FP32 halves the rate of GeForce."""

HOPPER: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.TF32): 2048,
        (Pipe.HMMA, Precision.BF16): 4096,
        (Pipe.HMMA, Precision.FP16): 4096,
        (Pipe.HMMA, Precision.FP8): 8192,
        (Pipe.IMMA, Precision.INT8): 8192,
        (Pipe.DMMA, Precision.FP64): 256,
        (Pipe.FP64, Precision.FP64): 128,
        (Pipe.FP32, Precision.FP32): 256,
        (Pipe.FP16, Precision.FP16): 512,
        (Pipe.FP16, Precision.BF16): 512,
        **INTEGER_PIPE_RATES,
    }
)
"""NVIDIA, "H100 Tensor Core GPU Architecture" white paper: four tensor cores of 512 multiply-adds."""

BLACKWELL: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.TF32): 4096,
        (Pipe.HMMA, Precision.BF16): 8192,
        (Pipe.HMMA, Precision.FP16): 8192,
        (Pipe.HMMA, Precision.FP8): 16384,
        (Pipe.HMMA, Precision.FP6): 16384,
        (Pipe.HMMA, Precision.FP4): 32768,
        (Pipe.IMMA, Precision.INT8): 16384,
        (Pipe.DMMA, Precision.FP64): 128,
        (Pipe.FP64, Precision.FP64): 128,
        (Pipe.FP32, Precision.FP32): 256,
        (Pipe.FP16, Precision.FP16): 512,
        (Pipe.FP16, Precision.BF16): 512,
        **INTEGER_PIPE_RATES,
    }
)
"""Derived from the HGX B200 data sheet: sparse 18, 9 and 4.5 PFLOP/s; 75 and 37 TFLOP/s.

NVIDIA prints no rate per SM for this chip: powers of two are assumed, and the plain FP16 pipe is unverified.
TF32 then peaks at 1,125 TFLOP/s, which the sheet prints as 2.2 PFLOP/s with sparsity.
"""

RDNA3: Rates = MappingProxyType(
    {
        (Pipe.HMMA, Precision.BF16): 512,
        (Pipe.HMMA, Precision.FP16): 512,
        (Pipe.IMMA, Precision.INT8): 512,
        (Pipe.IMMA, Precision.INT4): 1024,
        (Pipe.FP64, Precision.FP64): 8,
        (Pipe.FP32, Precision.FP32): 256,
        (Pipe.FP16, Precision.FP16): 512,
        (Pipe.INT, Precision.INT32): 128,
    }
)
"""Rates of a compute unit, which stands where NVIDIA has an SM.

AMD, "Radeon PRO W7900" data sheet (61.3 TFLOP/s FP32, 122.6 FP16, 1.92 FP64 at 2,495 MHz and 96 units), and
AMD, "How to accelerate AI applications on RDNA 3 using WMMA": 512 FP16, BF16 and INT8 operations a cycle and
unit, 1,024 in INT4. FP32 counts dual issue, which few kernels reach. Matrix instructions run on the vector
units, so what is called a matrix pipe here is not apart from the plain ones, and a sum over pipes is loose.
INT32 is unverified.
"""
