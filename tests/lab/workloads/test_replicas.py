"""Replicas average when they should; two ranks do so in ``test_launch.py``."""

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import distributed, nn  # noqa: E402

from flopwitness.lab.group import Group  # noqa: E402
from flopwitness.lab.workloads.replicas import Replicas  # noqa: E402


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Group]:
    """Return a group of one rank over gloo."""
    yield Group(0, 1, device=torch.device("cpu"), rendezvous=str(tmp_path / "meeting"))
    distributed.destroy_process_group()


class Counting(Replicas):
    """Counts how often it averages."""

    n_averages = 0

    def average(self) -> None:
        """Count, and average."""
        self.n_averages += 1
        super().average()


@pytest.mark.parametrize(("local_steps", "expected"), [(1, 6), (2, 3), (4, 1), (32, 0)])
def test_weights_are_averaged_after_the_last_local_step(
    alone: Group,  # noqa: ARG001 - averages go through it
    local_steps: int,
    expected: int,
) -> None:
    """And not before."""
    replicas = Counting(nn.Linear(3, 2), local_steps=local_steps)

    for _ in range(6):
        replicas.stepped()

    assert replicas.n_averages == expected


def test_the_mean_of_one_is_itself(alone: Group):  # noqa: ARG001
    """Bit for bit."""
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()

    Replicas(module, local_steps=2).average()

    assert torch.equal(module.weight, before)
