"""Load of science, finance and data work: what shares a cluster with AI and must not be taken for it."""

from collections.abc import Callable, Mapping

import torch

from flopwitness.lab.settings import Settings
from flopwitness.lab.truth import Tally, tally

ROUNDS = 16
"""Rounds of the mixing function: as many as a stage of common hash functions has."""

NEIGHBOURS = 27
"""Entries in a row of the sparse matrix: a three-dimensional stencil and its diagonal neighbours."""

N_BINS = 4096

Operation = Callable[[], object]


class Science:
    """One operation over and over, ``batch`` times a step; each rank works for itself."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.settings = settings
        self.n_parameters = 0
        torch.set_float32_matmul_precision("highest")
        with device:
            self._operate = OPERATIONS[settings.kind](settings.size)

    def rehearse(self) -> Tally:
        """Run one step, counted."""
        return tally(self.step)

    def join(self) -> None:
        """Do nothing: ranks share nothing."""

    def step(self) -> None:
        """Do the operation."""
        for _ in range(self.settings.batch):
            self._operate()


def _sort(size: int) -> Operation:
    values = torch.rand(size)
    return lambda: torch.sort(values)


def _stencil(size: int) -> Operation:
    """Spread heat in a square: each point becomes the mean of its four neighbours."""
    heat = torch.rand(size, size)

    def relax() -> None:
        inner = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
        heat[1:-1, 1:-1] = inner / 4

    return relax


def _bodies(size: int) -> Operation:
    """Add up the gravity of all on all."""
    places, pull = torch.randn(size, 3), torch.zeros(size, 3)

    def attract() -> None:
        for axis in range(3):
            apart = places[None, :, axis] - places[:, None, axis]
            pull[:, axis] = (apart * torch.rsqrt(apart * apart + 1.0) ** 3).sum(1)

    return attract


def _sparse(size: int) -> Operation:
    """Multiply a sparse matrix with a vector: gather, multiply, add."""
    columns = torch.randint(size, (size, NEIGHBOURS))
    entries, vector = torch.rand(size, NEIGHBOURS), torch.rand(size)
    return lambda: (entries * vector[columns]).sum(1)


def _paths(size: int) -> Operation:
    """Draw prices along random walks."""
    steps = torch.empty(size)

    def walk() -> None:
        steps.normal_()
        torch.exp(0.01 * steps - 0.00005).clamp_min(1.0).mean()

    return walk


def _hash(size: int) -> Operation:
    """Mix integers again and again, as in mining."""
    words = torch.randint(2**31 - 1, (size,), dtype=torch.int32)

    def mix() -> None:
        mixed = words
        for turn in range(ROUNDS):
            mixed = (mixed ^ (mixed >> (turn % 7 + 1))) * 668265261 + turn
        words.copy_(mixed)

    return mix


def _solve(size: int) -> Operation:
    """Solve a dense system in double precision."""
    matrix, right = torch.rand(size, size, dtype=torch.float64), torch.rand(size, 1, dtype=torch.float64)
    return lambda: torch.linalg.solve(matrix, right)


def _scan(size: int) -> Operation:
    values = torch.rand(size)
    return lambda: torch.cumsum(values, 0)


def _gather(size: int) -> Operation:
    """Fetch rows from random places, as a join does."""
    table, wanted = torch.rand(size), torch.randint(size, (size,))
    return lambda: table[wanted]


def _histogram(size: int) -> Operation:
    values = torch.randint(N_BINS, (size,))
    return lambda: torch.bincount(values, minlength=N_BINS)


def _waves(size: int) -> Operation:
    """Evaluate long formulas on each value, as in signal processing and rendering."""
    values = torch.rand(size)

    def bend() -> None:
        bent = values
        for _ in range(ROUNDS):
            bent = torch.sin(bent) * torch.exp(-bent) + torch.atan(bent)

    return bend


def _filter(size: int) -> Operation:
    """Blur an image and take it to half its size, in single precision."""
    image = torch.rand(1, 3, size, size)
    return lambda: torch.nn.functional.interpolate(
        torch.nn.functional.avg_pool2d(image, 5, stride=1, padding=2), scale_factor=0.5, mode="bilinear"
    )


def _blocks(size: int) -> Operation:
    """Multiply matrices in single precision on the vector pipes, as quantum chemistry does."""
    left, right = torch.rand(size, size), torch.rand(size, size)
    return lambda: left @ right


OPERATIONS: Mapping[str, Callable[[int], Operation]] = {
    "sort": _sort,
    "stencil": _stencil,
    "bodies": _bodies,
    "sparse": _sparse,
    "paths": _paths,
    "hash": _hash,
    "solve-fp64": _solve,
    "scan": _scan,
    "gather": _gather,
    "histogram": _histogram,
    "waves": _waves,
    "filter": _filter,
    "blocks-fp32": _blocks,
}
"""By kind: what makes the operation for a size (values, or the side of a square)."""
