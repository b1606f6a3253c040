"""Hyper-parameters of a workload, checked: what a configuration asks for, absent ones at their defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.physics.transformer import TransformerShape

VOCABULARY = 32_000
"""Of the workload generator; rows of the embedding and of the untied output head."""

KINDS = ("train", "prefill", "decode", "vit", "resnet", "gemm-fp64", "copy", "fft", "drill")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "optimizer": ("adamw", "sgd"),
    "precision": ("bf16", "fp16", "fp32", "tf32", "fp8"),
    "parallel": ("ddp", "fsdp"),
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
)


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
    size : int
        Side of the matrices of ``gemm-fp64``; values of ``copy`` and of one ``fft``.
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


def _bad(config: WorkloadConfig, name: str, *, expected: str, got: str) -> BadInputError:
    return BadInputError(f"workload {config.name}", f"parameter {name!r}", expected=expected, got=got)
