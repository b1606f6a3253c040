"""Replicas that train alone for some steps and then take the mean of their weights (arXiv:1805.09767)."""

import torch
from torch import distributed, nn


class Replicas:
    """Counts the steps of a rank, and averages when all ranks have taken enough.

    Parameters
    ----------
    module : nn.Module
        This rank's replica.
    local_steps : int
        Steps between two averages; every rank takes as many.
    """

    def __init__(self, module: nn.Module, *, local_steps: int) -> None:
        self.module, self.local_steps = module, local_steps
        self._n_steps = 0

    def average(self) -> None:
        """Take the mean of all ranks' weights; every rank must call it."""
        n_ranks = distributed.get_world_size()
        with torch.no_grad():
            waiting = [distributed.all_reduce(one, async_op=True) for one in self.module.parameters()]
            for one, work in zip(self.module.parameters(), waiting, strict=True):
                work.wait()
                one.div_(n_ranks)

    def stepped(self) -> None:
        """Note a step; after the last local one, average."""
        self._n_steps += 1
        if self._n_steps % self.local_steps == 0:
            self.average()
