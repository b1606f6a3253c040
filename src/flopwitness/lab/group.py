"""What ranks decide together. Control talk goes over gloo, so a full GPU cannot garble it."""

from datetime import timedelta

import torch
from torch import distributed

TIMEOUT = timedelta(seconds=60)
"""How long a collective waits for a rank that does not come; the parent is usually quicker."""


class Group:
    """All ranks of one node, one a device.

    Parameters
    ----------
    rank, n_ranks : int
        This process, and how many there are.
    device : torch.device
        Where this rank computes; decides between NCCL and gloo.
    rendezvous : str
        A file that does not exist yet, the same for all ranks.
    """

    def __init__(self, rank: int, n_ranks: int, *, device: torch.device, rendezvous: str) -> None:
        self.rank, self.n_ranks = rank, n_ranks
        is_cuda = device.type == "cuda"
        distributed.init_process_group(
            "nccl" if is_cuda else "gloo",
            init_method=f"file://{rendezvous}",
            rank=rank,
            world_size=n_ranks,
            timeout=TIMEOUT,
        )
        self.control = distributed.new_group(backend="gloo", timeout=TIMEOUT) if is_cuda else None

    def told(self, value: float) -> float:
        """Return rank 0's value on every rank."""
        cell = torch.tensor([value], dtype=torch.float64)
        distributed.broadcast(cell, src=0, group=self.control)
        return float(cell)

    def all_well(self, *, well: bool) -> bool:
        """Say on every rank whether all ranks are well."""
        cell = torch.tensor([int(well)])
        distributed.all_reduce(cell, op=distributed.ReduceOp.MIN, group=self.control)
        return bool(cell)

    def meet(self) -> None:
        """Wait until every rank is here."""
        self.all_well(well=True)
