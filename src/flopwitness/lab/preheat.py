"""What poisons the idle baseline before a run: a board that only looks idle, or one that is still hot."""

import time

import torch

from flopwitness.lab.settings import Settings

NAP_SECONDS = 0.002
"""Between two tiny kernels of some microseconds: utilisation reads 0 %, and clocks stay up."""

BURN_SIDE = 4096
BURN_KERNELS = 100
"""Launched before the next look at the clock, so that they run ahead of it by some milliseconds only."""

BURN_RATIO = 0.5
"""Share of the time in which ``hot`` burns; in the rest of it the board cools."""


def preheat(settings: Settings, device: torch.device) -> None:
    """Do to the device what the settings ask for; nothing where they ask for nothing.

    ``clocked`` launches tiny kernels all the time. ``hot`` burns in element-wise work, so that no matrix
    product runs that nobody counts, and then rests.
    """
    if settings.preheat == "clocked":
        _keep_clocked(device, settings.preheat_seconds)
    elif settings.preheat == "hot":
        _burn(device, BURN_RATIO * settings.preheat_seconds)
        time.sleep((1 - BURN_RATIO) * settings.preheat_seconds)


def _keep_clocked(device: torch.device, seconds: float) -> None:
    cell = torch.zeros(1, device=device)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        cell.add_(1)
        time.sleep(NAP_SECONDS)


def _burn(device: torch.device, seconds: float) -> None:
    side = BURN_SIDE if device.type == "cuda" else 1
    values = torch.rand(side, side, device=device)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(BURN_KERNELS):
            values.erf_()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
