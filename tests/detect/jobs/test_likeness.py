"""Distances of signatures and what they say of one run or two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.detect.jobs.evidence import LIKENESS
from flopwitness.detect.jobs.likeness import MIN_SIGNALS, Likeness
from flopwitness.detect.jobs.signature import SIGNALS

N = len(SIGNALS)
PLAIN = Likeness((0.1,) * N, even_distance=2.0, steepness=4.0)


def test_the_distance_counts_scales():
    """Two scales apart in every signal is a distance of two, and there the odds are even."""
    distance = PLAIN.distances(np.zeros(N), np.full(N, 0.2))

    assert distance == pytest.approx(2.0)
    assert PLAIN.log_ratios(distance) == pytest.approx(0.0)


def test_signals_that_one_lacks_are_left_out():
    """Of too few signals in common nothing is said."""
    few, enough = np.full(N, np.nan), np.full(N, np.nan)
    few[: MIN_SIGNALS - 1] = enough[:MIN_SIGNALS] = 0.2

    assert np.isnan(PLAIN.distances(np.zeros(N), few))
    assert np.isnan(PLAIN.log_ratios(PLAIN.distances(np.zeros(N), few)))
    assert PLAIN.distances(np.zeros(N), enough) == pytest.approx(2.0)


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=9))
def test_the_further_apart_the_less_it_is_one_run(distances: list[float]):
    """Never rising, and inside its cuts."""
    ratios = LIKENESS.log_ratios(np.sort(distances))

    assert (np.diff(ratios) <= 0).all()
    assert ((ratios >= LIKENESS.least) & (ratios <= LIKENESS.most)).all()


@pytest.mark.parametrize(
    "changes", [{"scales": (1.0,)}, {"scales": (0.0,) * N}, {"even_distance": 0.0}, {"steepness": -1.0}]
)
def test_what_orders_nothing_is_refused(changes: dict):
    """A scale a signal, all above 0, and a line that falls."""
    with pytest.raises(InvalidNounError):
        Likeness(**({"scales": (0.1,) * N, "even_distance": 1.0, "steepness": 1.0} | changes))
