"""Load that is no AI: it runs, over and over, and no product of it goes uncounted in silence."""

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.settings import SCIENCE, Settings  # noqa: E402 - only where torch is installed
from flopwitness.lab.truth import step_truth  # noqa: E402
from flopwitness.lab.workloads.kinds import build  # noqa: E402
from flopwitness.lab.workloads.science import OPERATIONS  # noqa: E402

CPU = torch.device("cpu")


def test_every_kind_has_an_operation():
    """What can be asked for can be run."""
    assert set(SCIENCE) == set(OPERATIONS)


@pytest.mark.parametrize("kind", SCIENCE)
def test_steps_can_be_repeated(kind: str) -> None:
    """A second step finds what the first left."""
    workload = build(Settings(kind=kind, size=64, batch=2), CPU)

    workload.step()
    workload.step()

    assert workload.n_parameters == 0


@pytest.mark.parametrize("kind", sorted(set(SCIENCE) - {"blocks-fp32"}))
def test_what_nobody_counts_has_no_truth(kind: str) -> None:
    """No FLOP are made up for load that the counter does not know."""
    settings = Settings(kind=kind, size=64)

    assert step_truth(settings, build(settings, CPU).rehearse()).executed is None


def test_products_are_counted():
    """A product of side 64 is 524,288 FLOP."""
    settings = Settings(kind="blocks-fp32", size=64)

    assert step_truth(settings, build(settings, CPU).rehearse()).executed == 2 * 64**3


def test_images_are_looked_at_in_half_precision():
    """A network that sees is asked, not trained: no gradient is kept."""
    workload = build(Settings(kind="resnet-inference", image=64, batch=2), CPU)

    workload.step()

    assert workload.n_parameters > 25e6
