"""What a recording holds, gathered piece by piece."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.summarising import overviews
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace

GPU = Device("GPU-a")
SECOND = 10**9


def _trace() -> Trace:
    time_ns = np.array([0, 1, 2, 3, 13, 14, 15, 16, 17, 18], dtype=np.int64) * SECOND
    watts = np.array([80.0, 90, np.nan, 100, 110, 120, 130, 140, np.nan, 160])
    return Trace(GPU, time_ns, {"power_watts": watts})


@given(cuts=st.lists(st.integers(0, 10), max_size=4))
def test_pieces_give_what_the_whole_gives(cuts: list[int]):
    """However a recording is cut, its overview is the same."""
    whole, ends = _trace(), sorted({0, 10, *cuts})
    pieces = [whole.between(start, stop) for start, stop in pairwise(ends)]

    (found,) = overviews(pieces)

    assert (found.n_samples, found.duration_seconds, found.n_gaps) == (10, 18.0, 1)
    assert found.typical_step_seconds == 1.0
    watts = found.channels["power_watts"]
    assert (watts.n_missing, watts.minimum, watts.maximum) == (2, 80.0, 160.0)
    assert watts.mean == pytest.approx(116.25)


def test_a_channel_that_comes_late_was_missing_before():
    """Unknown is not zero, and not absent either."""
    early = Trace(GPU, [0, SECOND], {"power_watts": [80.0, 80.0]})
    late = Trace(GPU, [2 * SECOND], {"power_watts": [80.0], "tensor_active_ratio": [0.5]})

    (found,) = overviews([early, late])

    assert found.channels["tensor_active_ratio"].n_missing == 2
