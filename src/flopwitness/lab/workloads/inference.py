"""Inference: prompts read at once, one token at a time for many sequences, both in turn; images looked at."""

import torch
from torch import distributed, nn

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally
from flopwitness.lab.workloads.decoder import Decoder
from flopwitness.lab.workloads.float8 import require_float8
from flopwitness.lab.workloads.vision import ResNet50, VisionTransformer

TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "fp8": torch.bfloat16,
}
"""Of weights and activations; in ``fp8`` the linear layers of the blocks cast by themselves."""


class Inference:
    """A decoder with a cache of keys and values; each rank serves its own requests.

    With ``parallel`` at ``tensor`` all ranks serve the same requests: each holds its heads and its rows of
    the feed-forward layers, as large as the settings say, and what the ranks say is added up after both.

    ``prefill`` reads a batch of prompts. ``decode`` attends to a context of ``seq_len`` tokens whose last
    place the new token takes, so that all steps cost the same. ``serve`` reads ``prompts`` new prompts and
    then writes ``new_tokens`` tokens of each of ``batch`` sequences, as continuous batching does.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        dtype = _type_of(settings, device)
        self.settings, self.device = settings, device
        with device:
            self.module = Decoder(settings).to(dtype).requires_grad_(requires_grad=False)
            n_kv_heads = settings.n_kv_heads or settings.n_heads
            place = (settings.batch, n_kv_heads, settings.seq_len, settings.d_model // settings.n_heads)
            self.kept = [
                (torch.randn(place, dtype=dtype), torch.randn(place, dtype=dtype))
                for _ in range(settings.n_layers)
            ]
        self.n_parameters = sum(parameter.numel() for parameter in self.module.parameters())

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self.step)

    def join(self) -> None:
        """Tie the ranks together where they serve as one; else requests are independent."""
        if self.settings.parallel == "tensor":
            for block in self.module.blocks:
                block.attention.register_forward_hook(_summed)
                block.mlp.register_forward_hook(_summed)

    def step(self) -> None:
        """Read prompts, or write one token of each sequence, or both."""
        wanted = self.settings
        # Not inference_mode: the counter sees nothing in it.
        with torch.no_grad():
            if wanted.kind == "serve":
                self._answer(wanted.prompts, wanted.seq_len)
                for _ in range(wanted.new_tokens):
                    self._answer(wanted.batch, 1)
            else:
                self._answer(wanted.batch, wanted.seq_len if wanted.kind == "prefill" else 1)

    def _answer(self, n_sequences: int, n_new: int) -> None:
        tokens = torch.randint(self.settings.vocabulary, (n_sequences, n_new), device=self.device)
        x = self.module.embedding(tokens)
        for block, kept in zip(self.module.blocks, self.kept, strict=True):
            keys, values = kept
            x = block(x, (keys[:n_sequences], values[:n_sequences]))
        self.module.head(self.module.norm(x[:, -1])).argmax(-1)


class Sight:
    """A network that sees, forward alone: classes of images, or one step of a transformer that draws them."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.settings, self.device = settings, device
        self.dtype = _type_of(settings, device)
        with device:
            seen = VisionTransformer(settings) if settings.kind == "vit-inference" else ResNet50()
        self.module = seen.to(self.dtype).requires_grad_(requires_grad=False).eval()
        self.n_parameters = sum(parameter.numel() for parameter in self.module.parameters())

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self.step)

    def join(self) -> None:
        """Do nothing: images are independent."""

    def step(self) -> None:
        """Look at a batch of images."""
        side = self.settings.image
        with torch.no_grad():
            images = torch.randn(self.settings.batch, 3, side, side, device=self.device, dtype=self.dtype)
            self.module(images).argmax(-1)


def _summed(_: nn.Module, __: tuple[torch.Tensor, ...], said: torch.Tensor) -> torch.Tensor:
    distributed.all_reduce(said)
    return said


def _type_of(settings: Settings, device: torch.device) -> torch.dtype:
    if settings.precision not in TYPES:
        raise RuntimeError(f"inference in {settings.precision} is not built")
    if settings.precision == "fp8":
        require_float8(device)
    torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
    return TYPES[settings.precision]
