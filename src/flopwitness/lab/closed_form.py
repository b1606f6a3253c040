"""What a step of each workload must count, from its settings alone: what the counter is checked against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from flopwitness.lab.settings import Settings
from flopwitness.physics.training import (
    Attention,
    Recompute,
    attention_forward_flop,
    forward_flop,
    gemm_flop,
    recomputed_flop,
    step_flop,
)
from flopwitness.physics.transformer import TransformerShape

N_CLASSES = 1_000
"""Classes of ImageNet-1k, which the networks that see tell apart."""

N_COLOURS = 3


class Kernels(NamedTuple):
    """How attention is counted, and what of it is executed."""

    counted: Attention
    executed: Attention


FUSED = Kernels(Attention.FULL, Attention.CAUSAL)
EXPLICIT = Kernels(Attention.EXPLICIT, Attention.EXPLICIT)


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """FLOP of one step of one GPU.

    Attributes
    ----------
    counted : int
        As PyTorch's counter sees the step: attention in full, recomputation in it.
    algorithmic, executed : int
        By target; the second leaves out what a causal kernel skips.
    recomputed : int
        Share of ``executed`` that was computed before.
    """

    counted: int
    algorithmic: int
    executed: int
    recomputed: int = 0


def closed_form(settings: Settings, *, fused: bool = True) -> ClosedForm | None:
    """Return what a step must count, or None where no formula is written down.

    Parameters
    ----------
    settings : Settings
        Of the workload.
    fused : bool
        Whether attention runs in a fused kernel, which skips the masked half and is counted in full. Else it
        is written out in matrix products, which execute all that is counted: PyTorch does so where no fused
        kernel takes the heads.

    Examples
    --------
    >>> closed_form(Settings(kind="gemm-fp64", size=10, batch=3))
    ClosedForm(counted=6000, algorithmic=6000, executed=6000, recomputed=0)
    """
    form = FORMS.get(settings.kind)
    return None if form is None else form(settings, FUSED if fused else EXPLICIT)


def form_that_counts(settings: Settings, counted: int) -> ClosedForm | None:
    """Return the form whose count was seen, the one of fused attention where none was, None without forms.

    The count tells which kernel ran: a fused backward pass of attention has five products, a written out one
    four.
    """
    fused, explicit = (closed_form(settings, fused=fused) for fused in (True, False))
    return explicit if explicit is not None and explicit.counted == counted else fused


def _training(settings: Settings, attention: Kernels) -> ClosedForm:
    """Return training and what else its steps do: recompute, serve, multiply for nothing."""
    shape, times = settings.shape, settings.accumulation
    served, decoy = _prefill(settings, attention), _decoy_flop(settings)
    again_counted, again_executed = (_recomputed(settings, one) for one in attention)
    algorithmic = times * step_flop(shape, attention=attention.counted) + decoy
    executed = times * (step_flop(shape, attention=attention.executed) + again_executed) + decoy
    return ClosedForm(
        algorithmic + times * again_counted + settings.serves * served.counted,
        algorithmic + settings.serves * served.algorithmic,
        executed + settings.serves * served.executed,
        times * again_executed,
    )


def _recomputed(settings: Settings, attention: Attention) -> int:
    if not settings.recompute:
        return 0
    # PyTorch's checkpoint without re-entrance stops before the last product of a block.
    every = recomputed_flop(settings.shape, Recompute.BLOCKS_EARLY_STOP, attention=attention)
    # All blocks are alike.
    return every * (settings.recompute_layers or settings.n_layers) // settings.n_layers


def _decoy_flop(settings: Settings) -> int:
    n_products = settings.decoy_amount if settings.decoy == "matrix" else 0
    return n_products * gemm_flop(settings.decoy_size, settings.decoy_size, n_inner=settings.decoy_size)


def _prefill(settings: Settings, attention: Kernels) -> ClosedForm:
    shape = settings.shape
    # Only the last token of each sequence asks the head what comes next.
    unasked = gemm_flop(shape.n_tokens - shape.batch, shape.vocabulary, n_inner=shape.d_model)
    full = forward_flop(shape, attention=attention.counted) - unasked
    return ClosedForm(full, full, forward_flop(shape, attention=attention.executed) - unasked)


def _decode(settings: Settings, _: Kernels) -> ClosedForm:
    shape = settings.shape
    one = replace(shape, seq_len=1)
    # One new token attends to a whole context: a row of the square that attention_forward_flop counts.
    attention = attention_forward_flop(shape) // shape.seq_len
    total = forward_flop(one) - attention_forward_flop(one) + attention
    return ClosedForm(total, total, total)


def _serve(settings: Settings, attention: Kernels) -> ClosedForm:
    read = _prefill(replace(settings, batch=settings.prompts), attention)
    written = settings.new_tokens * _decode(settings, attention).counted
    return ClosedForm(read.counted + written, read.algorithmic + written, read.executed + written)


class Seen(NamedTuple):
    """Parts of a vision transformer: blocks with a head of one class, the rest of the head, patches."""

    shape: TransformerShape
    head: int
    patches: int


def _seen(settings: Settings) -> Seen:
    n_patches = (settings.image // settings.patch) ** 2
    shape = replace(settings.shape, seq_len=n_patches, vocabulary=1)
    head = gemm_flop(settings.batch, N_CLASSES, n_inner=settings.d_model)
    of_one_class = gemm_flop(shape.n_tokens, 1, n_inner=settings.d_model)
    patches = gemm_flop(shape.n_tokens, settings.d_model, n_inner=N_COLOURS * settings.patch**2)
    return Seen(shape, head - of_one_class, patches)


def _vision_transformer(settings: Settings, _: Kernels) -> ClosedForm:
    seen = _seen(settings)
    # Images need no gradient: the patches cost their product twice, all else three times.
    total = settings.accumulation * (step_flop(seen.shape) + 3 * seen.head + 2 * seen.patches)
    return ClosedForm(total, total, total)


def _sight(settings: Settings, _: Kernels) -> ClosedForm:
    seen = _seen(settings)
    total = forward_flop(seen.shape) + seen.head + seen.patches
    return ClosedForm(total, total, total)


def _gemm(settings: Settings, _: Kernels) -> ClosedForm:
    total = settings.batch * gemm_flop(settings.size, settings.size, n_inner=settings.size)
    return ClosedForm(total, total, total)


FORMS: Mapping[str, Callable[[Settings, Kernels], ClosedForm]] = {
    "train": _training,
    "prefill": _prefill,
    "decode": _decode,
    "serve": _serve,
    "vit-inference": _sight,
    "vit": _vision_transformer,
    "gemm": _gemm,
    "gemm-fp64": _gemm,
    "drill": _gemm,
}
"""Kinds whose step has a formula."""
