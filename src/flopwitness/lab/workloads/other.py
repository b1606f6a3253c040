"""Load that is no AI: FP64 matrix products, memory copies, Fourier transforms; and a fire drill."""

import os
import time

import torch
from torch import distributed

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally

DIED = 9
"""Exit status of a rank whose drill is to die."""


class Other:
    """One operation over and over, ``batch`` times a step; each rank works for itself."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.settings = settings
        self.n_parameters = 0
        side = (settings.size, settings.size) if settings.kind == "gemm-fp64" else (settings.size,)
        dtype = {"gemm-fp64": torch.float64, "fft": torch.complex64}.get(settings.kind, torch.float32)
        self.source = torch.randn(side, dtype=dtype, device=device)
        self.target = torch.empty_like(self.source)

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self.step)

    def join(self) -> None:
        """Do nothing: ranks share nothing."""

    def step(self) -> None:
        """Do the operation."""
        for _ in range(self.settings.batch):
            if self.settings.kind == "gemm-fp64":
                torch.mm(self.source, self.source, out=self.target)
            elif self.settings.kind == "fft":
                torch.fft.fft(self.source, out=self.target)
            else:
                self.target.copy_(self.source)


class Drill:
    """Small products that end in trouble on one rank, so that launchers can be shown to survive it.

    ``raise`` fails while the workload is built, ``hang`` and ``die`` in the steps that all ranks take.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.settings = settings
        self.n_parameters = 0
        self.is_victim = distributed.get_rank() == settings.fails_rank
        if settings.fails == "raise" and self.is_victim:
            raise RuntimeError("drill: no memory left")
        self.matrix = torch.randn(settings.size, settings.size, device=device)

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self._multiply)

    def join(self) -> None:
        """Do nothing."""

    def step(self) -> None:
        """Multiply, or fail as asked."""
        if self.is_victim and self.settings.fails == "die":
            os._exit(DIED)
        while self.is_victim and self.settings.fails == "hang":
            time.sleep(1)
        self._multiply()

    def _multiply(self) -> None:
        for _ in range(self.settings.batch):
            self.matrix @ self.matrix
