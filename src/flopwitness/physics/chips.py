"""The table of chips: SMs, clocks, memory, links, power limit and dense rates, each with its source.

A figure that only a third party or arithmetic gives is called so in ``source``. Products that share a name in
part (H100 NVL, H200 NVL, GH200, V100-SXM3, the A100 with 64 GB, RTX 4090 D, MIG slices) have other figures
and are not in the table: an unknown chip is refused, never taken for its neighbour.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.core.errors import FlopWitnessError
from flopwitness.physics import rates
from flopwitness.physics.chip import Chip

__all__ = ["CHIPS", "GIBIBYTE", "Chip", "UnknownChipError", "chip_named"]

GIBIBYTE = 2**30
"""What a GPU data sheet calls a GB of memory: NVML reports 81,559 MiB on an 80 GB card."""


class UnknownChipError(FlopWitnessError):
    """A name that no chip of the table answers to."""


_TABLE = (
    Chip(
        name="V100-SXM2",
        architecture="Volta",
        n_sm=80,
        boost_clock_hertz=1.53e9,
        datasheet_clock_hertz=1.53e9,
        datasheet_vector_clock_hertz=1.53e9,
        memory_bandwidth_bytes_per_second=900e9,
        nvlink_bytes_per_second=150e9,
        power_limit_watts=300.0,
        memory_bytes=32 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.VOLTA,
        product_names=("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB", "V100", "V100 SXM2"),
        source="NVIDIA, 'Tesla V100 GPU Architecture' white paper, table 1; 16 GB and 32 GB variants",
    ),
    Chip(
        name="A100-SXM",
        architecture="Ampere",
        n_sm=108,
        boost_clock_hertz=1.41e9,
        datasheet_clock_hertz=1.41e9,
        datasheet_vector_clock_hertz=1.41e9,
        memory_bandwidth_bytes_per_second=2.039e12,
        nvlink_bytes_per_second=300e9,
        power_limit_watts=400.0,
        memory_bytes=80 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.AMPERE,
        product_names=("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB", "A100 SXM4"),
        source="NVIDIA, 'A100 Tensor Core GPU' data sheet and white paper; 40 GB variant: 1,555 GB/s",
    ),
    Chip(
        name="A100-PCIe",
        architecture="Ampere",
        n_sm=108,
        boost_clock_hertz=1.41e9,
        datasheet_clock_hertz=1.41e9,
        datasheet_vector_clock_hertz=1.41e9,
        memory_bandwidth_bytes_per_second=1.935e12,
        nvlink_bytes_per_second=300e9,
        power_limit_watts=300.0,
        memory_bytes=80 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.AMPERE,
        product_names=("NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB", "A100-PCIE-80GB"),
        source="NVIDIA, 'A100 Tensor Core GPU' data sheet; 40 GB variant: 1,555 GB/s, 250 W; "
        "NVLink only with a bridge",
    ),
    Chip(
        name="H100-SXM",
        architecture="Hopper",
        n_sm=132,
        boost_clock_hertz=1.98e9,
        datasheet_clock_hertz=1.83e9,
        datasheet_vector_clock_hertz=1.98e9,
        memory_bandwidth_bytes_per_second=3.35e12,
        nvlink_bytes_per_second=450e9,
        power_limit_watts=700.0,
        memory_bytes=80 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.HOPPER,
        product_names=("NVIDIA H100 80GB HBM3", "H100 SXM5", "H100-SXM5-80GB"),
        source="NVIDIA, 'H100 Tensor Core GPU Architecture' white paper, tables 2 and 3 (1,830 MHz for "
        "low-precision tensor work, 1,980 MHz else); bandwidth of the H100 data sheet",
    ),
    Chip(
        name="H100-PCIe",
        architecture="Hopper",
        n_sm=114,
        boost_clock_hertz=1.755e9,
        datasheet_clock_hertz=1.62e9,
        datasheet_vector_clock_hertz=1.755e9,
        memory_bandwidth_bytes_per_second=2.0e12,
        nvlink_bytes_per_second=300e9,
        power_limit_watts=350.0,
        memory_bytes=80 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.HOPPER,
        product_names=("NVIDIA H100 PCIe", "H100-PCIE-80GB"),
        source="NVIDIA, 'H100 Tensor Core GPU Architecture' white paper, tables 2 and 3 (1,620 MHz for "
        "low-precision tensor work, 1,755 MHz else); NVLink only with a bridge",
    ),
    Chip(
        name="H200-SXM",
        architecture="Hopper",
        n_sm=132,
        boost_clock_hertz=1.98e9,
        datasheet_clock_hertz=1.83e9,
        datasheet_vector_clock_hertz=1.98e9,
        memory_bandwidth_bytes_per_second=4.8e12,
        nvlink_bytes_per_second=450e9,
        power_limit_watts=700.0,
        memory_bytes=141 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.HOPPER,
        product_names=("NVIDIA H200", "H200 SXM5"),
        source="NVIDIA, 'H200 Tensor Core GPU' data sheet: the peaks of H100 SXM, so the same die and "
        "clocks; 1,980 MHz as NVML reports it",
    ),
    Chip(
        name="B200",
        architecture="Blackwell",
        n_sm=148,
        boost_clock_hertz=1.965e9,
        datasheet_clock_hertz=1.856e9,
        datasheet_vector_clock_hertz=1.965e9,
        memory_bandwidth_bytes_per_second=8.0e12,
        nvlink_bytes_per_second=900e9,
        power_limit_watts=1000.0,
        memory_bytes=180 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.BLACKWELL,
        product_names=("NVIDIA B200", "B200 SXM"),
        source="NVIDIA, HGX B200 data sheet (8 TB/s, in later prints 7.7); 148 SMs as the CUDA driver "
        "reports (github.com/pytorch/ao/pull/4002); 1,856 MHz derived from 2,250 dense BF16 TFLOP/s; "
        "1,965 MHz unverified",
    ),
    Chip(
        name="L40S",
        architecture="Ada",
        n_sm=142,
        boost_clock_hertz=2.52e9,
        datasheet_clock_hertz=2.52e9,
        datasheet_vector_clock_hertz=2.52e9,
        memory_bandwidth_bytes_per_second=864e9,
        nvlink_bytes_per_second=0.0,
        power_limit_watts=350.0,
        memory_bytes=48 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.ADA,
        product_names=("NVIDIA L40S",),
        source="NVIDIA, 'L40S' data sheet; that NVML reports no more than 2,520 MHz is unverified",
    ),
    Chip(
        name="RTX-4090",
        architecture="Ada",
        n_sm=128,
        boost_clock_hertz=3.105e9,
        datasheet_clock_hertz=2.52e9,
        datasheet_vector_clock_hertz=2.52e9,
        memory_bandwidth_bytes_per_second=1.008e12,
        nvlink_bytes_per_second=0.0,
        power_limit_watts=450.0,
        memory_bytes=24 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.ADA_GEFORCE,
        product_names=("NVIDIA GeForce RTX 4090",),
        source="NVIDIA, 'Ada GPU Architecture' white paper, appendix A; 3,105 MHz unverified: boards differ, "
        "and cards were seen above the sheet's 2,520 (2,655 MHz in github.com/NVIDIA/nvbench/pull/207)",
    ),
    Chip(
        name="Jetson-Orin-Nano",
        architecture="Ampere",
        n_sm=8,
        boost_clock_hertz=1.02e9,
        datasheet_clock_hertz=1.02e9,
        datasheet_vector_clock_hertz=1.02e9,
        memory_bandwidth_bytes_per_second=102e9,
        nvlink_bytes_per_second=0.0,
        power_limit_watts=25.0,
        memory_bytes=8 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.AMPERE_ORIN,
        product_names=(
            "NVIDIA Jetson Orin Nano Developer Kit",
            "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super",
            "Jetson Orin Nano Super",
            "Jetson Orin Nano 8GB",
        ),
        source="NVIDIA, Jetson Orin Nano Super data sheet, 8 GB module; before that software release the "
        "same module stopped at 625 MHz, 15 W and 68 GB/s (40 sparse INT8 TOPS)",
    ),
    Chip(
        name="Radeon-Pro-W7900",
        architecture="RDNA3",
        n_sm=96,
        boost_clock_hertz=2.495e9,
        datasheet_clock_hertz=2.495e9,
        datasheet_vector_clock_hertz=2.495e9,
        memory_bandwidth_bytes_per_second=864e9,
        nvlink_bytes_per_second=0.0,
        power_limit_watts=295.0,
        memory_bytes=48 * GIBIBYTE,
        flop_per_cycle_per_sm=rates.RDNA3,
        product_names=("AMD Radeon Pro W7900", "AMD Radeon PRO W7900"),
        source="AMD, 'Radeon PRO W7900' data sheet: 96 compute units in place of SMs, 61.3 TFLOP/s FP32, "
        "122.6 FP16, 295 W of the board, 864 GB/s; 2,495 MHz follows from these",
    ),
)

CHIPS: Mapping[str, Chip] = MappingProxyType({chip.name: chip for chip in _TABLE})
"""Every known chip by canonical name."""


def _plain(name: str) -> str:
    """Return a name without case, punctuation and brand."""
    words = re.sub(r"[\s_-]+", " ", name.strip().casefold())
    return re.sub(r"^(nvidia )?(tesla |geforce )?", "", words)


_BY_PLAIN_NAME = {_plain(alias): chip for chip in _TABLE for alias in (chip.name, *chip.product_names)}


def chip_named(name: str) -> Chip:
    """Return the chip of a canonical name or of a product name as NVML prints it.

    Case, brand, and blanks against hyphens do not matter; every other word does.

    Raises
    ------
    UnknownChipError
        When no chip of the table has this name.

    Examples
    --------
    >>> chip_named("NVIDIA H100 80GB HBM3").name, chip_named("h200-sxm").n_sm
    ('H100-SXM', 132)
    """
    found = _BY_PLAIN_NAME.get(_plain(name))
    if found is None:
        raise UnknownChipError(f"unknown chip {name!r}; known are {', '.join(CHIPS)}")
    return found
