"""The clock that nobody recorded."""

import numpy as np
import pytest

from estimate.sparse.boards_made import trace_of
from flopwitness.estimate.sparse.clock import inferred_clock, needs_clock, with_clock

BOOST = 1.98e9
TENSOR = {"tensor_active_ratio": 0.6}


def test_a_board_that_nothing_holds_down_is_near_its_boost_clock() -> None:
    """The mask says so, whatever the power."""
    clock = inferred_clock(trace_of(**TENSOR, throttle_reasons_mask=0.0, power_watts=700.0))

    assert (clock.point == BOOST).all()
    assert (clock.low >= 0.95 * BOOST).all()


@pytest.mark.parametrize("more", [{"throttle_reasons_mask": 4.0}, {"power_watts": 690.0}])
def test_a_board_at_its_limit_clocks_down_the_more_its_pipes_do(more: dict[str, float]) -> None:
    """Assuming the boost clock would overshoot."""
    idle, busy = (
        inferred_clock(trace_of(tensor_active_ratio=share, **more)).point[0] for share in (0.2, 0.7)
    )

    assert busy < idle < BOOST
    assert busy == pytest.approx((1.054 - 0.362 * 0.7) * BOOST)


def test_where_nobody_can_tell_it_reaches_up_to_boost() -> None:
    """Neither mask nor power: held down or free."""
    clock = inferred_clock(trace_of(**TENSOR))

    assert (clock.high == BOOST).all()
    assert (clock.low < clock.point).all()
    assert (clock.point < clock.high).all()


def test_another_chip_has_wider_ends() -> None:
    """What an H200 does at its limit is not known of an L40S."""
    held = {**TENSOR, "throttle_reasons_mask": 4.0}
    known, other = (inferred_clock(trace_of(chip=chip, **held)) for chip in ("H200-SXM", "L40S"))

    assert known.high[0] / known.low[0] < other.high[0] / other.low[0]


def test_only_activity_without_a_clock_needs_one() -> None:
    """Power alone needs none, and neither does a trace that has it."""
    trace = trace_of(**TENSOR)

    assert needs_clock(trace)
    assert not needs_clock(with_clock(trace, np.full(61, 1.5e9)))
    assert not needs_clock(trace_of(power_watts=600.0))
