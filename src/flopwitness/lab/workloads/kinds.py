"""From settings to a workload that can run."""

from collections.abc import Callable, Mapping
from typing import Protocol

import torch

from flopwitness.lab.settings import SCIENCE, Settings
from flopwitness.lab.truth import Tally
from flopwitness.lab.workloads.gemm import Gemm
from flopwitness.lab.workloads.inference import Inference, Sight
from flopwitness.lab.workloads.other import Drill, Other
from flopwitness.lab.workloads.science import Science
from flopwitness.lab.workloads.training import Training


class Workload(Protocol):
    """What a rank runs; building one takes its memory and touches no other rank."""

    n_parameters: int

    def rehearse(self) -> Tally:
        """Run one step on this device alone, counted."""
        ...

    def join(self) -> None:
        """Tie the ranks together; every rank must call it."""
        ...

    def step(self) -> None:
        """Run one step; its work may still be under way on the device."""
        ...


BUILDERS: Mapping[str, Callable[[Settings, torch.device], Workload]] = {
    "train": Training,
    "vit": Training,
    "resnet": Training,
    "prefill": Inference,
    "decode": Inference,
    "serve": Inference,
    "vit-inference": Sight,
    "resnet-inference": Sight,
    "gemm": Gemm,
    "gemm-fp64": Other,
    "copy": Other,
    "fft": Other,
    **dict.fromkeys(SCIENCE, Science),
    "drill": Drill,
}
"""A builder for each kind."""


def build(settings: Settings, device: torch.device) -> Workload:
    """Return a workload, its weights and data on the device."""
    return BUILDERS[settings.kind](settings, device)
