"""Inference: prompts read at once (prefill), or one token at a time for many sequences (decode)."""

import torch

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally
from flopwitness.lab.workloads.decoder import Decoder

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "tf32": torch.float32}


class Inference:
    """A decoder with a cache of keys and values; each rank serves its own requests.

    ``decode`` attends to a context of ``seq_len`` tokens whose last place the new token takes, so that all
    steps cost the same.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        if settings.precision not in TYPES:
            raise RuntimeError(f"inference in {settings.precision} is not built")
        self.settings, self.device = settings, device
        dtype = TYPES[settings.precision]
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
        """Do nothing: requests are independent."""

    def step(self) -> None:
        """Read a batch of prompts, or write one token of each sequence."""
        # Not inference_mode: the counter sees nothing in it.
        with torch.no_grad():
            self._answer()

    def _answer(self) -> None:
        n_new = self.settings.seq_len if self.settings.kind == "prefill" else 1
        tokens = torch.randint(self.settings.vocabulary, (self.settings.batch, n_new), device=self.device)
        x = self.module.embedding(tokens)
        for block, kept in zip(self.module.blocks, self.kept, strict=True):
            x = block(x, kept)
        self.module.head(self.module.norm(x[:, -1])).argmax(-1)
