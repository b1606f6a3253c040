"""Work between the steps that trains nothing: memory, links, matrix products, arithmetic that is none.

A unit works on a square of ``decoy_size`` values a side; with 4,096, ``memory`` copies 1 GiB and ``links``
all-reduces 64 MiB. ``matrix`` is one bf16 product, counted as any other; ``vector`` and ``integer`` are eight
passes over the square in fp32 and in 32-bit integers.
"""

from collections.abc import Callable

import torch
from torch import distributed

from flopwitness.lab.settings import Settings

COPIED_BYTES = 64
"""Bytes of ``memory`` for each value of the square."""

PASSES = 8
"""Passes over the square that make a unit of ``vector`` and ``integer``."""

FACTOR, MODULUS = 1_664_525, 2_147_483_647
"""Odd numbers that keep 32-bit integers moving (Press et al., Numerical Recipes, section 7.1; 2^31 - 1)."""


class Decoy:
    """What a step does beside training.

    Parameters
    ----------
    settings : Settings
        Which decoy, how much of it, and how large.
    device : torch.device
        Where.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        makers: dict[str, Callable[[int, torch.device], Callable[[], None]]] = {
            "memory": _memory,
            "links": _links,
            "matrix": _matrix,
            "vector": _vector,
            "integer": _integer,
        }
        self.shared = settings.decoy == "links"
        self.amount = settings.decoy_amount
        self._unit = makers[settings.decoy](settings.decoy_size, device) if settings.decoy else _nothing

    def run(self, *, alone: bool) -> None:
        """Do all units; what ranks share is left out while one of them works alone."""
        if not (alone and self.shared):
            for _ in range(self.amount):
                self._unit()


def _nothing() -> None:
    return


def _memory(side: int, device: torch.device) -> Callable[[], None]:
    source = torch.ones(side * side * COPIED_BYTES, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)

    def unit() -> None:
        target.copy_(source)

    return unit


def _links(side: int, device: torch.device) -> Callable[[], None]:
    # Sums of zeros stay finite however often they are taken.
    values = torch.zeros(side, side, device=device)

    def unit() -> None:
        distributed.all_reduce(values)

    return unit


def _matrix(side: int, device: torch.device) -> Callable[[], None]:
    left, right = (torch.randn(side, side, device=device).to(torch.bfloat16) for _ in range(2))
    product = torch.empty_like(left)

    def unit() -> None:
        with torch.no_grad():
            torch.mm(left, right, out=product)

    return unit


def _vector(side: int, device: torch.device) -> Callable[[], None]:
    values = torch.rand(side, side, device=device)

    def unit() -> None:
        for _ in range(PASSES):
            values.erf_()

    return unit


def _integer(side: int, device: torch.device) -> Callable[[], None]:
    values = torch.randint(MODULUS, (side, side), dtype=torch.int32, device=device)

    def unit() -> None:
        for _ in range(PASSES // 2):
            values.mul_(FACTOR).remainder_(MODULUS)

    return unit
