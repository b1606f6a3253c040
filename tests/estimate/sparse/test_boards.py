"""What boards show to those who see little."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimate.sparse.boards_made import session_of, trace_of
from flopwitness.estimate.sparse.boards import boards_of, idle_span
from flopwitness.physics.chips import CHIPS

H100 = CHIPS["H100-SXM"]


def test_energy_above_a_measured_idle_power_is_a_number() -> None:
    """600 W for a minute, 80 W of them idle; a flat mean has no blur."""
    (board,) = boards_of(session_of(trace_of(power_watts=600.0)), {"GPU-a": 80.0})

    assert board.net_joules == (520 * 60,) * 3 or (board.net_joules.low, board.net_joules.high) == (
        31200,
        31200,
    )


def test_an_idle_power_that_nobody_saw_is_a_range() -> None:
    """0.05 to 0.2 of the limit, and never above what the board drew."""
    (board,) = boards_of(session_of(trace_of(power_watts=600.0)), {})

    assert (board.net_joules.low, board.net_joules.high) == (460 * 60, pytest.approx(565 * 60))
    assert idle_span(H100, float("nan"), 60.0).high == 60.0


def test_without_power_there_is_no_energy() -> None:
    """Unknown is not zero."""
    (board,) = boards_of(session_of(trace_of(gpu_util_ratio=1.0)), {})

    assert not board.net_joules.is_known


def test_readings_far_apart_leave_the_mean_open() -> None:
    """A power that swings between readings of an instant every 15 s is known less well than a steady one."""
    swinging = np.where(np.arange(61) % 2, 200.0, 600.0)
    spans = [
        boards_of(session_of(trace_of(step=15.0, power_watts=watts)), {"GPU-a": 80.0})[0].net_joules
        for watts in (swinging, 400.0)
    ]

    assert spans[0].high / spans[0].low > spans[1].high / spans[1].low == 1.0


@pytest.mark.parametrize(
    ("channels", "is_at_limit"),
    [
        ({"throttle_reasons_mask": 4, "power_watts": 500.0}, True),
        ({"throttle_reasons_mask": 0, "power_watts": 700.0}, False),
        ({"power_watts": 690.0}, True),
        ({"power_watts": 400.0}, False),
        ({}, False),
    ],
)
def test_the_mask_says_whether_power_holds_the_clock_and_power_where_there_is_none(
    channels: dict[str, float], is_at_limit: bool
) -> None:
    """A mask is evidence, nearness to the limit a hint."""
    (board,) = boards_of(session_of(trace_of(sm_clock_hertz=1.5e9, **channels)), {})

    assert board.is_at_limit == is_at_limit


@settings(deadline=None)  # machines are busy
@given(st.lists(st.floats(0, 1), min_size=12, max_size=40))
def test_time_with_a_kernel_is_never_less_than_utilisation_says(used: list[float]) -> None:
    """Readings come late, so the highest near a step counts; what nobody read counts in full."""
    trace = trace_of(len(used), step=0.5, gpu_util_ratio=np.array(used))

    (board,) = boards_of(session_of(trace), {})

    assert sum(used[1:]) * 0.5 <= board.busy_seconds + 1e-9 <= (len(used) - 1) * 0.5 + 2e-9


def test_utilisation_every_15_seconds_says_nothing_of_the_time_between() -> None:
    """It averages over a second at most."""
    (board,) = boards_of(session_of(trace_of(step=15.0, gpu_util_ratio=0.0)), {})

    assert board.busy_seconds == 900.0
