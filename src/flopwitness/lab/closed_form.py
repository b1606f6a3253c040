"""What a step of each workload must count, from its settings alone: what the counter is checked against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flopwitness.core.workload import Target
from flopwitness.lab.settings import Settings
from flopwitness.physics.training import (
    Attention,
    Recompute,
    attention_forward_flop,
    forward_flop,
    gemm_flop,
    recomputed_flop,
    step_flop,
    target_flop,
)

N_CLASSES = 1_000
"""Classes of ImageNet-1k, which the networks that see tell apart."""

N_COLOURS = 3


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


def closed_form(settings: Settings) -> ClosedForm | None:
    """Return what a step must count, or None where no formula is written down.

    Examples
    --------
    >>> closed_form(Settings(kind="gemm-fp64", size=10, batch=3))
    ClosedForm(counted=6000, algorithmic=6000, executed=6000, recomputed=0)
    """
    form = FORMS.get(settings.kind)
    return None if form is None else form(settings)


def _training(settings: Settings) -> ClosedForm:
    shape, times = settings.shape, settings.accumulation
    # PyTorch's checkpoint without re-entrance stops before the last product of a block.
    recompute = Recompute.BLOCKS_EARLY_STOP if settings.recompute else Recompute.NONE
    return ClosedForm(
        times * step_flop(shape, recompute=recompute),
        times * target_flop(shape, Target.ALGORITHMIC),
        times * target_flop(shape, Target.EXECUTED, recompute=recompute),
        times * recomputed_flop(shape, recompute, attention=Attention.CAUSAL),
    )


def _prefill(settings: Settings) -> ClosedForm:
    shape = settings.shape
    # Only the last token of each sequence asks the head what comes next.
    unasked = gemm_flop(shape.n_tokens - shape.batch, shape.vocabulary, n_inner=shape.d_model)
    full = forward_flop(shape) - unasked
    return ClosedForm(full, full, forward_flop(shape, attention=Attention.CAUSAL) - unasked)


def _decode(settings: Settings) -> ClosedForm:
    shape = settings.shape
    one = replace(shape, seq_len=1)
    # One new token attends to a whole context: a row of the square that attention_forward_flop counts.
    attention = attention_forward_flop(shape) // shape.seq_len
    total = forward_flop(one) - attention_forward_flop(one) + attention
    return ClosedForm(total, total, total)


def _vision_transformer(settings: Settings) -> ClosedForm:
    n_patches = (settings.image // settings.patch) ** 2
    shape = replace(settings.shape, seq_len=n_patches, vocabulary=1)
    head = gemm_flop(settings.batch, N_CLASSES, n_inner=settings.d_model)
    of_one_class = gemm_flop(shape.n_tokens, 1, n_inner=settings.d_model)
    patches = gemm_flop(shape.n_tokens, settings.d_model, n_inner=N_COLOURS * settings.patch**2)
    # Images need no gradient: the patches cost their product twice, all else three times.
    total = settings.accumulation * (step_flop(shape) + 3 * (head - of_one_class) + 2 * patches)
    return ClosedForm(total, total, total)


def _gemm(settings: Settings) -> ClosedForm:
    total = settings.batch * gemm_flop(settings.size, settings.size, n_inner=settings.size)
    return ClosedForm(total, total, total)


FORMS: Mapping[str, Callable[[Settings], ClosedForm]] = {
    "train": _training,
    "prefill": _prefill,
    "decode": _decode,
    "vit": _vision_transformer,
    "gemm-fp64": _gemm,
    "drill": _gemm,
}
"""Kinds whose step has a formula."""
