"""Training: forward, backward and optimizer of any network of the lab, replicated or sharded."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally
from flopwitness.lab.workloads.casting import cast_to
from flopwitness.lab.workloads.decoder import Decoder
from flopwitness.lab.workloads.decoys import Decoy
from flopwitness.lab.workloads.float8 import require_float8
from flopwitness.lab.workloads.offload import HostOptimizer
from flopwitness.lab.workloads.operands import imposition
from flopwitness.lab.workloads.replicas import Replicas
from flopwitness.lab.workloads.vision import N_CLASSES, ResNet50, VisionTransformer

LEARNING_RATE = 1e-4
"""Small enough that random tokens do not blow a deep network up."""


class Training:
    """A network in training on random data, new in every step; with it whatever else a step is to do.

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
        if settings.precision in ("fp8", "fp8-fast"):
            require_float8(device)
        torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
        self.settings, self.device = settings, device
        with device:
            self.module = _network(settings)
        self.impose = imposition(self.module, settings)
        self.impose()
        self.n_parameters = sum(parameter.numel() for parameter in self.module.parameters())
        self.scaler = torch.amp.GradScaler(device.type, enabled=settings.precision == "fp16")
        self.offloaded = _on_host(self.module, settings)
        self.optimizer = None if settings.parallel == "fsdp" else self._optimizer()
        self.decoy = Decoy(settings, device)
        self.runner: nn.Module = self.module
        self.replicas: Replicas | None = None
        self.is_alone = True

    def rehearse(self) -> Tally:
        """Run one step on this device alone, counted; takes the memory that later steps will need."""
        seen = tally(self.step)
        self.module.zero_grad(set_to_none=True)
        return seen

    def join(self) -> None:
        """Tie the ranks' networks together, if they are to work together; every rank must call it."""
        if self.settings.compile:
            self.module.compile()
        if self.settings.turns:
            return
        self.is_alone = False
        if self.settings.local_steps > 1:
            self.replicas = Replicas(self.module, local_steps=self.settings.local_steps)
            self.replicas.average()
        elif self.settings.parallel == "fsdp":
            for block in self.module.blocks:
                fully_shard(block)
            self.runner = fully_shard(self.module)
            self.optimizer = self._optimizer()
        else:
            self.runner = DistributedDataParallel(self.module, gradient_as_bucket_view=True)

    def step(self) -> None:
        """Train on one batch, or on as many as are accumulated; then do what else belongs to a step."""
        self._train()
        self.decoy.run(alone=self.is_alone)
        for _ in range(self.settings.serves):
            self._serve()

    def _train(self) -> None:
        n_parts = self.settings.accumulation
        for part in range(n_parts):
            with self._synchronised(is_last=part == n_parts - 1):
                self.scaler.scale(self._loss() / n_parts).backward()
        if self.optimizer is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
        if self.offloaded is not None:
            self.offloaded.step()
        self.impose()
        if self.replicas is not None:
            self.replicas.stepped()

    def _serve(self) -> None:
        # Not inference_mode: the counter sees nothing in it.
        with torch.no_grad(), cast_to(self._precision, self.device.type):
            self.module.answer(self._batch()[0]).argmax(-1)

    def _loss(self) -> torch.Tensor:
        inputs, targets = self._batch()
        with cast_to(self._precision, self.device.type):
            scores = self.runner(inputs)
            return functional.cross_entropy(scores.flatten(0, -2), targets.flatten())

    @property
    def _precision(self) -> str:
        """Precision around the blocks."""
        return "bf16" if self.settings.precision_layers else self.settings.precision

    def _batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        wanted = self.settings
        if wanted.kind == "train":
            tokens = torch.randint(wanted.vocabulary, (wanted.batch, wanted.seq_len + 1), device=self.device)
            return tokens[:, :-1], tokens[:, 1:]
        images = torch.randn(wanted.batch, 3, wanted.image, wanted.image, device=self.device)
        return images, torch.randint(N_CLASSES, (wanted.batch,), device=self.device)

    def _optimizer(self) -> torch.optim.Optimizer:
        hosted = set() if self.offloaded is None else {id(one) for one in self.offloaded.parameters}
        trained = [one for one in self.module.parameters() if one.requires_grad and id(one) not in hosted]
        if self.settings.optimizer == "sgd":
            return torch.optim.SGD(trained, lr=LEARNING_RATE)
        return torch.optim.AdamW(trained, lr=LEARNING_RATE, fused=self.device.type == "cuda")

    def _synchronised(self, *, is_last: bool) -> AbstractContextManager[None]:
        if is_last or not isinstance(self.runner, DistributedDataParallel):
            return nullcontext()
        waiting: AbstractContextManager[None] = self.runner.no_sync()
        return waiting


def _on_host(module: nn.Module, settings: Settings) -> HostOptimizer | None:
    if not settings.offload_layers:
        return None
    if settings.precision == "fp16":
        raise RuntimeError("the optimizer on the host does not unscale gradients of fp16")
    blocks = module.blocks[: settings.offload_layers]
    trained = [one for block in blocks for one in block.parameters() if one.requires_grad]
    return HostOptimizer(trained, learning_rate=LEARNING_RATE, n_ranks=_n_ranks())


def _n_ranks() -> int:
    return distributed.get_world_size() if distributed.is_initialized() else 1


def _network(settings: Settings) -> nn.Module:
    if settings.kind == "vit":
        return VisionTransformer(settings)
    return ResNet50() if settings.kind == "resnet" else Decoder(settings)
