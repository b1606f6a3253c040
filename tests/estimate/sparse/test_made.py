"""Answers as estimates."""

import pytest

from flopwitness.core.workload import Target
from flopwitness.estimate.sparse.made import (
    BOUNDS_ONLY,
    POWER,
    SPARSE_METHODS,
    UTILISATION,
    Answer,
    Band,
    assumed,
    estimate_of,
    unavailable,
)

BAND = Band(1.0, 2.0, 4.0, 5.0)


def test_algorithmic_flop_may_be_more_than_executed_ones_by_the_skipped_half() -> None:
    """Attention in full: some more in the interval, twice at most in the bound."""
    answer = Answer(POWER, BAND, (), assumed(POWER, "so"))

    executed, algorithmic = (estimate_of(answer, target) for target in (Target.EXECUTED, Target.ALGORITHMIC))

    assert (executed.low_flop, executed.high_flop, executed.most_flop) == (1.0, 4.0, 5.0)
    assert (algorithmic.low_flop, algorithmic.high_flop, algorithmic.most_flop) == (1.0, 5.04, 10.0)


@pytest.mark.parametrize("target", Target)
def test_the_high_end_of_a_bound_is_the_bound(target: Target) -> None:
    """There is no interval to speak of."""
    estimate = estimate_of(
        Answer(UTILISATION, Band(0.0, 0.0, 5.0, 5.0), (), assumed(UTILISATION, "")), target
    )

    assert estimate.high_flop == estimate.most_flop
    assert estimate.point_flop == 0.0


def test_a_method_without_an_answer_says_why() -> None:
    """A finding, not a number."""
    answer = unavailable(POWER, "nobody measured")

    assert answer.band is None
    assert answer.finding.message == "power-envelope gives no estimate: nobody measured"
    assert set(SPARSE_METHODS) > BOUNDS_ONLY
