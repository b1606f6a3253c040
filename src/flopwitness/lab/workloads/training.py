"""Training: forward, backward and optimizer of any network of the lab, replicated or sharded."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally
from flopwitness.lab.workloads.decoder import Decoder
from flopwitness.lab.workloads.float8 import is_available
from flopwitness.lab.workloads.vision import N_CLASSES, ResNet50, VisionTransformer

LEARNING_RATE = 1e-4
"""Small enough that random tokens do not blow a deep network up."""

CASTS = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.bfloat16}
"""What autocast computes in, over fp32 master weights; fp32 and tf32 have none."""


class Training:
    """A network in training on random data, new in every step.

    Parameters
    ----------
    settings : Settings
        What to train and how.
    device : torch.device
        Where.

    Raises
    ------
    RuntimeError
        When the device cannot do what is asked for, or its memory is too small.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        if settings.precision == "fp8" and not is_available(device):
            raise RuntimeError(f"{device} does not multiply 8-bit floats")
        torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
        self.settings, self.device = settings, device
        with device:
            self.module = _network(settings)
        self.n_parameters = sum(parameter.numel() for parameter in self.module.parameters())
        self.scaler = torch.amp.GradScaler(device.type, enabled=settings.precision == "fp16")
        self.optimizer = None if settings.parallel == "fsdp" else self._optimizer()
        self.runner: nn.Module = self.module

    def rehearse(self) -> Tally:
        """Run one step on this device alone, counted; takes the memory that later steps will need."""
        seen = tally(self.step)
        self.module.zero_grad(set_to_none=True)
        return seen

    def join(self) -> None:
        """Tie the ranks' networks together; every rank must call it."""
        if self.settings.compile:
            self.module.compile()
        if self.settings.parallel == "fsdp":
            for block in self.module.blocks:
                fully_shard(block)
            self.runner = fully_shard(self.module)
            self.optimizer = self._optimizer()
        else:
            self.runner = DistributedDataParallel(self.module, gradient_as_bucket_view=True)

    def step(self) -> None:
        """Train on one batch, or on as many as are accumulated."""
        n_parts = self.settings.accumulation
        for part in range(n_parts):
            with self._synchronised(is_last=part == n_parts - 1):
                self.scaler.scale(self._loss() / n_parts).backward()
        if self.optimizer is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)

    def _loss(self) -> torch.Tensor:
        inputs, targets = self._batch()
        dtype = CASTS.get(self.settings.precision)
        with torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None):
            scores = self.runner(inputs)
            return functional.cross_entropy(scores.flatten(0, -2), targets.flatten())

    def _batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        wanted = self.settings
        if wanted.kind == "train":
            tokens = torch.randint(wanted.vocabulary, (wanted.batch, wanted.seq_len + 1), device=self.device)
            return tokens[:, :-1], tokens[:, 1:]
        images = torch.randn(wanted.batch, 3, wanted.image, wanted.image, device=self.device)
        return images, torch.randint(N_CLASSES, (wanted.batch,), device=self.device)

    def _optimizer(self) -> torch.optim.Optimizer:
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        if self.settings.optimizer == "sgd":
            return torch.optim.SGD(trained, lr=LEARNING_RATE)
        return torch.optim.AdamW(trained, lr=LEARNING_RATE, fused=self.device.type == "cuda")

    def _synchronised(self, *, is_last: bool) -> AbstractContextManager[None]:
        if is_last or not isinstance(self.runner, DistributedDataParallel):
            return nullcontext()
        waiting: AbstractContextManager[None] = self.runner.no_sync()
        return waiting


def _network(settings: Settings) -> nn.Module:
    if settings.kind == "vit":
        return VisionTransformer(settings)
    return ResNet50() if settings.kind == "resnet" else Decoder(settings)
