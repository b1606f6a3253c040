"""Networks that see: a vision transformer (arXiv:2010.11929) and ResNet-50 (arXiv:1512.03385)."""

import torch
from torch import nn
from torch.nn import functional

from flopwitness.lab.settings import Settings
from flopwitness.lab.workloads.decoder import Block

N_CLASSES = 1_000
"""Classes of ImageNet-1k."""

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Width and blocks of each stage of ResNet-50 (table 1 of the paper)."""

EXPANSION = 4
"""Output width of a bottleneck over its inner width (same table)."""


class VisionTransformer(nn.Module):  # type: ignore[misc]
    """Patches in, classes out of the mean over all patches; attention sees the whole image."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, settings.d_model, settings.patch, stride=settings.patch)
        self.blocks = nn.ModuleList(Block(settings, causal=False) for _ in range(settings.n_layers))
        self.norm = nn.LayerNorm(settings.d_model)
        self.head = nn.Linear(settings.d_model, N_CLASSES, bias=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return one row of scores an image."""
        x = self.patches(images).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


class Bottleneck(nn.Module):  # type: ignore[misc]
    """Narrow, look around, widen; beside it the input, projected where its shape differs."""

    def __init__(self, d_in: int, width: int, *, stride: int) -> None:
        super().__init__()
        d_out = EXPANSION * width
        self.body = nn.Sequential(
            *_convolution(d_in, width, 1),
            nn.ReLU(inplace=True),
            *_convolution(width, width, 3, stride=stride),
            nn.ReLU(inplace=True),
            *_convolution(width, d_out, 1),
        )
        same = stride == 1 and d_in == d_out
        self.beside = nn.Identity() if same else nn.Sequential(*_convolution(d_in, d_out, 1, stride=stride))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the two ways."""
        return functional.relu(self.body(x) + self.beside(x))


class ResNet50(nn.Module):  # type: ignore[misc]
    """Images in, classes out."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            *_convolution(3, 64, 7, stride=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2, padding=1)
        )
        blocks, d_in = [], 64
        for stage, (width, n_blocks) in enumerate(STAGES):
            for place in range(n_blocks):
                stride = 2 if stage and not place else 1
                blocks.append(Bottleneck(d_in, width, stride=stride))
                d_in = EXPANSION * width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(d_in, N_CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return one row of scores an image."""
        return self.head(self.blocks(self.stem(images)).mean((2, 3)))


def _convolution(d_in: int, d_out: int, side: int, *, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    convolution = nn.Conv2d(d_in, d_out, side, stride=stride, padding=side // 2, bias=False)
    return convolution, nn.BatchNorm2d(d_out)
