"""Ground truth of one step: PyTorch's own counter, checked, with what it cannot count listed by name.

Known traps: PyTorch 2.11 refuses grouped heads, several versions count nothing for attention on a CPU
(github.com/pytorch/pytorch/issues/195460), for integer products and in inference mode; kernels of Triton and
custom operators are never counted. What has a formula of ours is counted by it; foreign operators are listed,
and a step with any is no truth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from flopwitness.lab.closed_form import form_that_counts
from flopwitness.lab.settings import Settings
from flopwitness.physics.training import gemm_flop

aten = torch.ops.aten

COMMUNICATION = frozenset({"c10d", "c10d_functional", "_c10d_functional", "fsdp"})
"""Namespaces of operators that move gradients and weights."""

HARMLESS = frozenset({"aten", "prim", "prims", "profiler", *COMMUNICATION})
PRODUCTS = frozenset(
    {"matmul", "linear", "bilinear", "attention", "einsum", "lstm", "gru", "rnn", "cdist", "solve", "svd"}
    | {"qr", "lu", "cholesky", "inverse", "eig", "dot", "vdot", "mv", "addmv", "addr", "ger", "fft"}
)
"""Words in the name of an operator that multiplies and adds; whatever ends in ``mm`` does too."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What the counter saw in one step: FLOP as it counts them, and operators that it does not know."""

    counted: int
    uncounted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepTruth:
    """FLOP of one step of one GPU, or why there are none.

    Attributes
    ----------
    counted : int
        As the counter saw it.
    expected : int or None
        What the closed form says that it must see.
    algorithmic, executed : int or None
        By target; None where the step is no truth.
    recomputed : int
        Share of ``executed`` that was computed before.
    uncounted : tuple of str
        Operators without a formula.
    problem : str
        Why there is no truth; empty where there is one.
    """

    counted: int
    expected: int | None
    algorithmic: int | None
    executed: int | None
    recomputed: int
    uncounted: tuple[str, ...]
    problem: str

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def attention_flop(
    query: Sequence[int], key: Sequence[int], value: Sequence[int], *_: object, **__: object
) -> int:
    """Return the two products of attention, the mask ignored; grouped heads count as all query heads.

    Examples
    --------
    >>> attention_flop((1, 12, 64, 64), (1, 4, 64, 64), (1, 4, 64, 64))
    12582912
    """
    batch, n_heads, n_rows, width = query
    return 2 * batch * n_heads * n_rows * key[2] * (width + value[3])


def attention_backward_flop(
    _: Sequence[int],
    query: Sequence[int],
    key: Sequence[int],
    value: Sequence[int],
    *__: object,
    **___: object,
) -> int:
    """Return the five products of a fused backward pass: scores again, and four gradients."""
    batch, n_heads, n_rows, width = query
    return 2 * batch * n_heads * n_rows * key[2] * (3 * width + 2 * value[3])


def integer_product_flop(left: Sequence[int], right: Sequence[int], *_: object, **__: object) -> int:
    """Return the operations of an integer product, counted as those of any other format.

    Examples
    --------
    >>> integer_product_flop((2, 3), (3, 4))
    48
    """
    return gemm_flop(left[0], right[1], n_inner=left[1])


def _formulas() -> dict[Any, Callable[..., int]]:
    kernels = ("efficient_attention", "flash_attention", "cudnn_attention", "flash_attention_for_cpu")
    found: dict[Any, Callable[..., int]] = {}
    for kernel in kernels:
        forward = f"_scaled_dot_product_{kernel}"
        backward = f"{forward}_backward"
        if hasattr(aten, forward):
            found[getattr(aten, forward)] = attention_flop
        if hasattr(aten, backward):
            found[getattr(aten, backward)] = attention_backward_flop
    return found | {aten._int_mm: integer_product_flop}  # noqa: SLF001  its only name


FORMULAS: Mapping[Any, Callable[..., int]] = _formulas()
"""Our formulas in place of PyTorch's, whose sums they equal where it has one and accepts the shapes."""


class _Witness(TorchDispatchMode):  # type: ignore[misc]
    """Notes each operator that multiplies, as far as its name tells, and has no formula."""

    def __init__(self, known: frozenset[Any]) -> None:
        super().__init__()
        self.known = known
        self.unknown: dict[str, None] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        packet = getattr(func, "_overloadpacket", func)
        if packet not in self.known and multiplies(str(packet)):
            self.unknown[str(packet)] = None
        return func(*args, **(kwargs or {}))


def multiplies(operator: str) -> bool:
    """Say whether an operator may do matrix work: it is foreign, or its name says so.

    Examples
    --------
    >>> [multiplies(name) for name in ("aten.gelu", "aten._int_mm", "aten._fft_c2c", "mylib.fused")]
    [False, True, True, True]
    """
    namespace, _, name = operator.partition(".")
    if namespace not in HARMLESS:
        return True
    words = name.split(".")[0].split("_")
    return namespace not in COMMUNICATION and any(
        word in PRODUCTS or word.endswith("mm") or word.startswith(("convol", "conv1", "conv2", "conv3"))
        for word in words
    )


def tally(step: Callable[[], object]) -> Tally:
    """Run one step and count it."""
    counter = FlopCounterMode(display=False, custom_mapping=dict(FORMULAS))
    witness = _Witness(frozenset(counter.flop_registry))
    # The counter is entered last: it takes operators apart before the witness sees them.
    with witness, counter:
        step()
    return Tally(int(counter.get_total_flops()), tuple(sorted(witness.unknown)))


def step_truth(settings: Settings, seen: Tally) -> StepTruth:
    """Weigh a count against the closed form; only a count that equals it, or has none, is a truth."""
    form = form_that_counts(settings, seen.counted)
    problem = _problem(seen, None if form is None else form.counted)
    expected = None if form is None else form.counted
    if problem:
        return StepTruth(seen.counted, expected, None, None, 0, seen.uncounted, problem)
    if form is None:
        return StepTruth(seen.counted, None, seen.counted, seen.counted, 0, (), "")
    return StepTruth(seen.counted, expected, form.algorithmic, form.executed, form.recomputed, (), "")


def _problem(seen: Tally, expected: int | None) -> str:
    if seen.uncounted:
        return f"operators that nobody counts: {', '.join(seen.uncounted)}"
    if not seen.counted:
        return "no matrix work"
    if expected is not None and seen.counted != expected:
        return f"the counter saw {seen.counted} FLOP, the closed form says {expected}"
    return ""
