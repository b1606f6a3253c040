"""What is done to a board before a run multiplies nothing, so that no FLOP goes uncounted."""

import time

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.preheat import preheat  # noqa: E402 - only where torch is installed
from flopwitness.lab.settings import Settings  # noqa: E402
from flopwitness.lab.truth import Tally, tally  # noqa: E402

CPU = torch.device("cpu")


@pytest.mark.parametrize("how", ["clocked", "hot"])
def test_it_lasts_as_long_as_asked_and_counts_nothing(how: str) -> None:
    """Neither tiny kernels nor the burn are matrix work."""
    settings = Settings(preheat=how, preheat_seconds=0.05)
    start = time.monotonic()

    seen = tally(lambda: preheat(settings, CPU))

    assert time.monotonic() - start >= 0.05
    assert seen == Tally(0, ())
