"""Weights held at values whose bits seldom toggle, while training goes on.

Each rule is imposed on the network before training and again after every step of the optimizer, so that what
is learnt cannot undo it. Steps are real: forward, backward, exchange and optimizer all run.
"""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from flopwitness.lab.settings import Settings

CONSTANT = 2.0**-7
"""A power of two: a single bit of the exponent tells it from one, and the mantissa is empty."""

TERNARY = 2.0**-6
"""Distance of the three values; about what a matrix of 2,048 columns is initialised with."""

NARROW = 2.0**-6
"""Spread of activations around one, where ``small`` holds them."""

Imposition = Callable[[], None]


def imposition(module: nn.Module, settings: Settings) -> Imposition:
    """Return what holds the weights at the values that the settings ask for.

    ``zero``: embedding and all matrices; gradients are zero then, so that it need not be imposed again.
    ``constant``, ``ternary``: the matrices of the blocks and the head, at one value or at -c, 0, c.
    ``pruned``: a random share of their entries is zero, as after unstructured pruning. ``small``: the norms
    before the matrices of the blocks let only values next to one through.
    """
    if settings.operands == "random":
        return _nothing
    matrices = [one for one in module.parameters() if one.ndim == 2 and one is not module.embedding.weight]
    makers: dict[str, Callable[[], Imposition]] = {
        "zero": lambda: _zero(list(module.parameters()), kept=_norms(module)),
        "constant": lambda: _each(matrices, lambda one: one.fill_(CONSTANT)),
        "ternary": lambda: _each(matrices, _to_ternary),
        "pruned": lambda: _pruned(matrices, settings.operands_ratio),
        "small": lambda: _narrow(module),
    }
    return makers[settings.operands]()


def _nothing() -> None:
    return


def _norms(module: nn.Module) -> set[int]:
    norms = (one for one in module.modules() if isinstance(one, nn.LayerNorm))
    return {id(parameter) for norm in norms for parameter in norm.parameters()}


def _zero(parameters: Sequence[nn.Parameter], *, kept: set[int]) -> Imposition:
    with torch.no_grad():
        for one in parameters:
            if id(one) not in kept:
                one.zero_()
    return _nothing


def _each(matrices: Sequence[nn.Parameter], impose: Callable[[torch.Tensor], object]) -> Imposition:
    def again() -> None:
        with torch.no_grad():
            for one in matrices:
                impose(one)

    return again


def _to_ternary(weights: torch.Tensor) -> None:
    weights.div_(TERNARY).round_().clamp_(-1, 1).mul_(TERNARY)


def _pruned(matrices: Sequence[nn.Parameter], ratio: float) -> Imposition:
    masks = [torch.rand_like(one) >= ratio for one in matrices]

    def again() -> None:
        with torch.no_grad():
            for one, mask in zip(matrices, masks, strict=True):
                one.mul_(mask)

    return again


def _narrow(module: nn.Module) -> Imposition:
    norms = [norm for block in module.blocks for norm in block.norms]

    def again() -> None:
        with torch.no_grad():
            for norm in norms:
                norm.weight.fill_(NARROW)
                norm.bias.fill_(1.0)

    return again
