"""Matrix products alone, in any format: what a format costs, without a network around it."""

from collections.abc import Callable, Mapping

import torch

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally
from flopwitness.lab.workloads.float8 import FORWARD, require_float8

FLOATS: Mapping[str, torch.dtype] = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "tf32": torch.float32,
    "fp32": torch.float32,
}


class Gemm:
    """``batch`` products of two square matrices a step; each rank works for itself."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
        self.settings = settings
        self.n_parameters = 0
        self._multiply = _product(settings, device)

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self.step)

    def join(self) -> None:
        """Do nothing: ranks share nothing."""

    def step(self) -> None:
        """Multiply."""
        for _ in range(self.settings.batch):
            self._multiply()


def _product(settings: Settings, device: torch.device) -> Callable[[], torch.Tensor]:
    side = (settings.size, settings.size)
    if settings.precision in FLOATS:
        left, right = (torch.randn(side, device=device).to(FLOATS[settings.precision]) for _ in range(2))
        return lambda: left @ right
    if settings.precision == "int8":
        left, right = (torch.randint(-127, 128, side, dtype=torch.int8, device=device) for _ in range(2))
        return lambda: torch._int_mm(left, right.t())  # noqa: SLF001  the only name that PyTorch has for it
    require_float8(device)
    left, right = (torch.randn(side, device=device).to(FORWARD) for _ in range(2))
    one = torch.ones((), device=device)
    fast = settings.precision == "fp8-fast"
    return lambda: torch._scaled_mm(  # noqa: SLF001
        left, right.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast
    )
