"""What a rank knows of itself, and what a group of one decides; two ranks meet in ``test_launch.py``."""

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import distributed  # noqa: E402

from flopwitness.core.workload import WorkloadConfig  # noqa: E402
from flopwitness.lab.environment import environment  # noqa: E402
from flopwitness.lab.group import Group  # noqa: E402
from flopwitness.lab.rank import BUILD_SECONDS, Rhythm  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Group]:
    """Return a group of one rank over gloo."""
    yield Group(0, 1, device=CPU, rendezvous=str(tmp_path / "meeting"))
    distributed.destroy_process_group()


def test_rank_zero_decides_for_all(alone: Group):
    """Its value comes back bit for bit; nobody is well when one is not."""
    assert alone.told(0.1 + 0.2) == 0.1 + 0.2
    assert alone.all_well(well=True)
    assert not alone.all_well(well=False)


def test_a_processor_has_no_gpu_to_name():
    """What a device is not, it does not claim; the versions are always there."""
    found = environment(CPU)

    assert found["torch"] == torch.__version__
    assert found["device"] == "cpu"
    assert "uuid" not in found


def test_a_configuration_takes_its_traces_and_the_rest_before_them():
    """By this rank 0 asks whether one more fits into the time that is left."""
    rhythm = Rhythm(
        traces=3,
        trace_seconds=2.0,
        gap_seconds=0.5,
        idle_seconds=6.0,
        warmup_steps=3,
        deadline_monotonic=0.0,
    )

    plain = WorkloadConfig("a", "b")
    paused = WorkloadConfig("a", "b", {"pauses": 2, "pause_seconds": 6.0, "preheat_seconds": 4.0})
    assert rhythm.configuration_seconds(plain) == 6.0 + BUILD_SECONDS + 3 * 2.5
    assert rhythm.configuration_seconds(paused) == 6.0 + BUILD_SECONDS + 4.0 + 3 * 14.5
