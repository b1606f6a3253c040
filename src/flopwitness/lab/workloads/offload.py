"""The optimizer of some blocks on the host, as ZeRO-Offload has it (arXiv:2101.06840)."""

import os
from collections.abc import Sequence

import torch
from torch import nn

MAX_THREADS = 8
"""Threads of one rank's step on the host; more do not help where memory is the limit."""


class HostOptimizer:
    """Keeps fp32 copies of parameters and their AdamW state in host memory, and steps there.

    Gradients go down and weights come up in every step; the network computes on the device as before.

    Parameters
    ----------
    parameters : sequence of nn.Parameter
        Of the offloaded blocks, on any device.
    learning_rate : float
        Of AdamW.
    n_ranks : int
        Processes that share this host's processors.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], *, learning_rate: float, n_ranks: int) -> None:
        self.parameters = list(parameters)
        self.masters = [nn.Parameter(_host_like(one).copy_(one.detach())) for one in self.parameters]
        for master in self.masters:
            master.grad = _host_like(master)
        self.device = self.parameters[0].device
        self.n_threads = max(1, min(MAX_THREADS, (os.cpu_count() or 1) // n_ranks))
        self.optimizer = torch.optim.AdamW(self.masters, lr=learning_rate, fused=True)

    def step(self) -> None:
        """Fetch gradients, step, send weights; gradients on the device are dropped."""
        for parameter, master in zip(self.parameters, self.masters, strict=True):
            master.grad.copy_(parameter.grad, non_blocking=True)
            parameter.grad = None
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        before = torch.get_num_threads()
        torch.set_num_threads(self.n_threads)
        self.optimizer.step()
        torch.set_num_threads(before)
        with torch.no_grad():
            for parameter, master in zip(self.parameters, self.masters, strict=True):
                parameter.copy_(master, non_blocking=True)


def _host_like(values: torch.Tensor) -> torch.Tensor:
    return torch.empty(values.shape, dtype=torch.float32, device="cpu", pin_memory=torch.cuda.is_available())
