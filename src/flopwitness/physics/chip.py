"""What is known of one GPU product; knows no product and no sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.core.errors import InvalidNounError
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.rates import SPARSITY_FACTOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One GPU product.

    Attributes
    ----------
    name, architecture : str
        Canonical name, such as ``"H200-SXM"``; NVIDIA's name of the generation.
    n_sm : int
        Streaming multiprocessors switched on, > 0.
    boost_clock_hertz : float
        Highest SM clock that NVML reports as possible; what a ceiling must use.
    datasheet_clock_hertz : float
        Clock behind the sheet's HMMA and IMMA peaks. NVIDIA quotes these below the boost clock on H100
        (1,830 MHz on SXM, 1,620 MHz on PCIe), where a chip may well run above its own sheet.
    datasheet_vector_clock_hertz : float
        Clock behind the sheet's other peaks, FP64 tensor included.
    memory_bandwidth_bytes_per_second : float
        Peak of device memory.
    nvlink_bytes_per_second : float
        Over all links, one direction, as the sheet says; 0.0 where there is no NVLink.
    power_limit_watts : float
        Default limit of the board. Short excesses are real: 907 W was read on a 700 W board.
    memory_bytes : int
        Of the largest variant.
    flop_per_cycle_per_sm : mapping of (Pipe, Precision) to int
        Dense operations; a multiply-add counts as two.
    product_names : tuple of str
        How NVML and others print it.
    source : str
        Where the figures come from, and which of them are not verified.

    Raises
    ------
    InvalidNounError
        When a figure that must be positive is not, a sheet's clock is above the boost clock or nobody knows
        the architecture.
    """

    name: str
    architecture: str
    n_sm: int
    boost_clock_hertz: float
    datasheet_clock_hertz: float
    datasheet_vector_clock_hertz: float
    memory_bandwidth_bytes_per_second: float
    nvlink_bytes_per_second: float
    power_limit_watts: float
    memory_bytes: int
    flop_per_cycle_per_sm: Mapping[tuple[Pipe, Precision], int] = field(hash=False)
    product_names: tuple[str, ...]
    source: str

    def __post_init__(self) -> None:
        """Refuse what no chip can be; keep the rates where nobody can write."""
        frozen = MappingProxyType(dict(self.flop_per_cycle_per_sm))
        object.__setattr__(self, "flop_per_cycle_per_sm", frozen)
        for figure in ("n_sm", "memory_bandwidth_bytes_per_second", "power_limit_watts", "memory_bytes"):
            if not getattr(self, figure) > 0:
                raise InvalidNounError(f"chip {self.name!r}: {figure} must be positive")
        if not self.nvlink_bytes_per_second >= 0:
            raise InvalidNounError(f"chip {self.name!r}: NVLink cannot carry less than nothing")
        for clock in (self.datasheet_clock_hertz, self.datasheet_vector_clock_hertz):
            if not 0 < clock <= self.boost_clock_hertz:
                raise InvalidNounError(f"chip {self.name!r}: sheet clock {clock} outside (0, boost clock]")
        if not frozen or min(frozen.values()) <= 0:
            raise InvalidNounError(f"chip {self.name!r} needs rates, each positive")
        if self.architecture not in SPARSITY_FACTOR:
            raise InvalidNounError(f"chip {self.name!r}: unknown architecture {self.architecture!r}")

    @property
    def sparsity_factor(self) -> int:
        """Dense-equivalent over dense rate of the HMMA and IMMA pipes: 2, or 1 without 2:4 sparsity."""
        return SPARSITY_FACTOR[self.architecture]
