"""Hyper-parameters of a workload, checked: what a configuration asks for, absent ones at their defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.physics.transformer import TransformerShape

VOCABULARY = 32_000
"""Of the workload generator; rows of the embedding and of the untied output head."""

SCIENCE = (
    *("sort", "stencil", "bodies", "sparse", "paths", "hash", "solve-fp64", "scan", "gather", "histogram"),
    *("waves", "filter", "blocks-fp32"),
)
"""Load that is no AI; see ``flopwitness.lab.workloads.science``."""

KINDS = (
    *("train", "vit", "resnet", "prefill", "decode", "serve", "vit-inference", "resnet-inference"),
    *("gemm", "gemm-fp64", "copy", "fft", *SCIENCE, "drill"),
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "optimizer": ("adamw", "sgd"),
    "precision": ("bf16", "fp16", "fp32", "tf32", "fp8", "fp8-fast", "int8"),
    "parallel": ("ddp", "fsdp", "tensor"),
    "operands": ("random", "zero", "constant", "pruned", "ternary", "small"),
    "decoy": ("", "memory", "links", "matrix", "vector", "integer"),
    "preheat": ("", "clocked", "hot"),
    "fails": ("", "raise", "hang", "die"),
}
POSITIVE = (
    "d_model",
    "n_layers",
    "n_heads",
    "d_ff",
    "seq_len",
    "batch",
    "vocabulary",
    "accumulation",
    "size",
    "patch",
    "image",
    "local_steps",
    "decoy_size",
    "burst_steps",
    "prompts",
    "new_tokens",
)
NOT_NEGATIVE = ("decoy_amount", "serves", "pauses", "pause_seconds", "turns", "preheat_seconds")
BLOCKS = ("precision_layers", "recompute_layers", "offload_layers")
"""Numbers of blocks, at most all."""

OF_TRAINING = (*BLOCKS, "operands", "local_steps", "decoy", "serves")
"""What only the training of a decoder can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a workload of any kind can be asked for.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    d_model, n_layers, n_heads, d_ff, seq_len, batch, vocabulary : int
        Shape; ``batch`` is sequences (or images, or matrices) of one GPU in a step, or in one of the
        ``accumulation`` parts of a step.
    n_kv_heads, n_experts, experts_per_token, lora_rank : int
        Grouped queries, mixture of experts, adapters; 0 for none.
    optimizer, precision, parallel : str
        See ``CHOICES``.
    accumulation : int
        Passes forward and backward before each step of the optimizer.
    recompute, compile : bool
        Compute activations again in the backward pass; run through ``torch.compile``.
    precision_layers, recompute_layers : int
        How many blocks run in ``precision`` (the rest is bf16), and how many are recomputed where
        ``recompute`` is set; 0 for all.
    operands, operands_ratio : str, float
        Which values the weights are held at, and the share of them that is pruned; see
        ``flopwitness.lab.workloads.operands``.
    local_steps : int
        Steps of each rank alone, after which weights are averaged; with 1 gradients are, in each step.
    offload_layers : int
        Blocks whose optimizer, state and step, lives on the host.
    decoy, decoy_amount, decoy_size : str, int, int
        What else a step does, how many units of it, and the side of the square that a unit works on; see
        ``flopwitness.lab.workloads.decoys``.
    prompts, new_tokens : int
        What a step of ``serve`` reads and then writes; see ``flopwitness.lab.workloads.inference``.
    serves : int
        Prompts of the same shape read after each step, without gradient.
    pauses, pause_seconds : int, float
        Rests at equal distances inside each trace.
    duty_ratio, burst_steps : float, int
        Share of the time that is not slept through, in (0, 1], and steps between two sleeps.
    turns : int
        Stretches of a trace in which one rank after the other works alone; 1 for rank 0 alone, 0 for all
        ranks together.
    preheat, preheat_seconds : str, float
        What is done to the board before the first trace; see ``flopwitness.lab.preheat``.
    size : int
        Side of the matrices of ``gemm`` and ``gemm-fp64``; values of ``copy`` and of one ``fft``.
    image, patch : int
        Side of images and of their patches in pixels.
    fails, fails_rank : str, int
        What a ``drill`` does, and on which rank: it rehearses what real workloads do unasked.
    """

    kind: str = "train"
    d_model: int = 64
    n_layers: int = 1
    n_heads: int = 1
    d_ff: int = 128
    seq_len: int = 16
    batch: int = 1
    vocabulary: int = VOCABULARY
    n_kv_heads: int = 0
    n_experts: int = 0
    experts_per_token: int = 1
    lora_rank: int = 0
    optimizer: str = "adamw"
    precision: str = "bf16"
    parallel: str = "ddp"
    accumulation: int = 1
    recompute: bool = False
    compile: bool = False
    precision_layers: int = 0
    recompute_layers: int = 0
    operands: str = "random"
    operands_ratio: float = 0.5
    local_steps: int = 1
    offload_layers: int = 0
    decoy: str = ""
    decoy_amount: int = 0
    decoy_size: int = 4096
    prompts: int = 1
    new_tokens: int = 16
    serves: int = 0
    pauses: int = 0
    pause_seconds: float = 6.0
    duty_ratio: float = 1.0
    burst_steps: int = 1
    turns: int = 0
    preheat: str = ""
    preheat_seconds: float = 0.0
    size: int = 1024
    image: int = 224
    patch: int = 16
    fails: str = ""
    fails_rank: int = 0

    @classmethod
    def of(cls, config: WorkloadConfig) -> Self:
        """Return the settings of a configuration.

        Raises
        ------
        BadInputError
            When a hyper-parameter is unknown, of another type or out of range.
        """
        known = {field.name: type(field.default) for field in fields(cls)}
        values: dict[str, Any] = dict(config.parameters)
        for name, value in values.items():
            if name not in known:
                raise _bad(config, name, expected=f"one of {', '.join(known)}", got=name)
            if type(value) is not known[name]:
                raise _bad(config, name, expected=f"a value of type {known[name].__name__}", got=repr(value))
        settings = cls(**values)
        settings._check(config)
        return settings

    def _check(self, config: WorkloadConfig) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise _bad(config, name, expected=" or ".join(allowed), got=repr(getattr(self, name)))
        for name in POSITIVE:
            if getattr(self, name) < 1:
                raise _bad(config, name, expected="a positive number", got=str(getattr(self, name)))
        for name in NOT_NEGATIVE:
            if not 0 <= getattr(self, name) < float("inf"):
                raise _bad(config, name, expected="a number >= 0", got=str(getattr(self, name)))
        for name in BLOCKS:
            if not 0 <= getattr(self, name) <= self.n_layers:
                expected = f"blocks, 0 to {self.n_layers}"
                raise _bad(config, name, expected=expected, got=str(getattr(self, name)))
        self._check_ratios(config)
        self._check_together(config)

    def _check_ratios(self, config: WorkloadConfig) -> None:
        if not 0 <= self.operands_ratio < 1:
            raise _bad(config, "operands_ratio", expected="0 <= x < 1", got=str(self.operands_ratio))
        if not 0 < self.duty_ratio <= 1:
            raise _bad(config, "duty_ratio", expected="0 < x <= 1", got=str(self.duty_ratio))

    def _check_together(self, config: WorkloadConfig) -> None:
        """Refuse what contradicts each other, before a rank waits for one that does something else."""
        for name in OF_TRAINING:
            if self.kind != "train" and getattr(self, name) != getattr(DEFAULT, name):
                raise _bad(config, name, expected=f"its default with kind {self.kind!r}", got="another")
        self._check_inference(config)
        if bool(self.decoy) != bool(self.decoy_amount):
            raise _bad(config, "decoy_amount", expected="a decoy and its amount", got="one of them")
        if self.turns and (self.pauses or self.duty_ratio < 1 or self.local_steps > 1):
            raise _bad(config, "turns", expected="no pauses, sleeps or averages", got="some of them")
        alone = self.turns or self.local_steps > 1
        if self.parallel == "fsdp" and (alone or self.offload_layers or self.operands != "random"):
            raise _bad(config, "parallel", expected="replicas", got="shards")
        if self.decoy == "links" and self.turns:
            raise _bad(config, "decoy", expected="nothing shared while one rank works alone", got="links")

    def _check_inference(self, config: WorkloadConfig) -> None:
        if self.parallel == "tensor" and (self.kind not in ("prefill", "decode", "serve") or self.turns):
            raise _bad(config, "parallel", expected="replicas or shards", got="tensor")
        if self.kind == "serve" and self.prompts > self.batch:
            raise _bad(config, "prompts", expected=f"at most the batch, {self.batch}", got=str(self.prompts))

    @property
    def shape(self) -> TransformerShape:
        """The shape of the transformer; ``InvalidNounError`` where heads or experts do not divide."""
        return TransformerShape(
            d_model=self.d_model,
            n_layers=self.n_layers,
            n_heads=self.n_heads,
            d_ff=self.d_ff,
            seq_len=self.seq_len,
            batch=self.batch,
            vocabulary=self.vocabulary,
            n_kv_heads=self.n_kv_heads or None,
            n_experts=self.n_experts or 1,
            experts_per_token=self.experts_per_token,
            lora_rank=self.lora_rank or None,
        )


DEFAULT = Settings()
"""What nobody asked for."""


def _bad(config: WorkloadConfig, name: str, *, expected: str, got: str) -> BadInputError:
    return BadInputError(f"workload {config.name}", f"parameter {name!r}", expected=expected, got=got)
