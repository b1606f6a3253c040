"""Decoys: only matrix products count, and nothing is shared by a rank that works alone."""

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.settings import Settings  # noqa: E402 - only where torch is installed
from flopwitness.lab.truth import Tally, tally  # noqa: E402
from flopwitness.lab.workloads.decoys import Decoy  # noqa: E402

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("decoy", "expected"), [("", 0), ("memory", 0), ("matrix", 3 * 2 * 8**3), ("vector", 0), ("integer", 0)]
)
def test_a_decoy_counts_its_products_alone(decoy: str, expected: int) -> None:
    """Three units of eight values a side."""
    work = Decoy(Settings(decoy=decoy, decoy_amount=3, decoy_size=8), CPU)

    assert tally(lambda: work.run(alone=True)) == Tally(expected, ())


def test_links_stay_quiet_while_a_rank_works_alone():
    """Else it would wait for ranks that do not come: here there is not even a group."""
    work = Decoy(Settings(decoy="links", decoy_amount=3, decoy_size=8), CPU)

    work.run(alone=True)

    with pytest.raises(ValueError, match="process group"):
        work.run(alone=False)
