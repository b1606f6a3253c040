"""When a device was watched, and the most that it did where no session is."""

from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import DeviceWatch
from flopwitness.core.device import Device
from flopwitness.core.session import cut_session
from flopwitness.core.trace import Trace
from flopwitness.verify.watching import (
    bounded_by_idle_levels,
    ceiling_flop_per_second,
    device_watch,
    merged,
    session_joules,
)
from verify.made_accounts import session

SECOND = 10**9
CHIP = "H200-SXM"
CEILING = ceiling_flop_per_second(CHIP)
PIPES = ("hmma_active_ratio", "fp32_active_ratio", "dram_active_ratio", "sm_active_ratio")


def trace(seconds: Sequence[float], *, active: float = 0.0, watts: float = 70.0, chip: str = CHIP) -> Trace:
    """Return samples at these seconds, all pipes alike."""
    columns = dict.fromkeys(PIPES, np.full(len(seconds), active))
    time_ns = [round(one * SECOND) for one in seconds]
    return Trace(Device("GPU-a", chip), time_ns, {**columns, "power_watts": np.full(len(seconds), watts)})


def test_stretches_end_where_samples_lie_too_far_apart() -> None:
    """Ten seconds without a sample are not watched."""
    found = device_watch(trace([0, 1, 2, 12, 13]), [])

    assert found.stretches == ((0, 2 * SECOND), (12 * SECOND, 13 * SECOND))
    assert found.ceiling_flop_per_second == pytest.approx(2.51e15, rel=0.01)


def test_a_gap_is_no_activity_outside_sessions() -> None:
    """Its time is unobserved, and bounded there."""
    dense, gapped = (device_watch(trace(times, active=1e-4), []) for times in (range(3), [0, 1, 2, 60]))

    assert gapped.outside_flop == dense.outside_flop > 0


@pytest.mark.parametrize("seconds", [[], [5]])
def test_a_sample_alone_speaks_of_no_time(seconds: list[int]) -> None:
    """It takes two to watch a stretch."""
    assert device_watch(trace(seconds), []).stretches == ()


def test_activity_outside_sessions_is_counted_at_the_widest_format() -> None:
    """Ten seconds at 1/10,000 of every pipe's widest format."""
    found = device_watch(trace(range(11), active=1e-4), [])

    assert 0 < found.outside_flop <= 10 * 1e-4 * CEILING
    assert found.outside_flop > 10 * 1e-4 * CEILING / 2


def test_activity_inside_sessions_does_not_count_again() -> None:
    """Only what no session covers is left: half a second before, two after."""
    whole = trace(range(11), active=1e-4)
    busy = cut_session((whole,), SECOND // 2, 8 * SECOND)

    alone, beside = (device_watch(whole, some).outside_flop for some in ([], [busy]))

    assert beside == pytest.approx(alone * 2.5 / 10)


def test_samples_without_an_answer_count_at_the_ceiling_as_far_as_power_allows() -> None:
    """Nobody saw the pipes, but the board drew a tenth of what the ceiling would take."""
    found = device_watch(trace(range(11), active=np.nan, watts=70.0), [])

    assert found.outside_flop == pytest.approx(10 * CEILING * 0.1)


def test_without_power_either_it_is_the_ceiling() -> None:
    """Less evidence never lowers the bound."""
    found = device_watch(trace(range(11), active=np.nan, watts=np.nan), [])

    assert found.outside_flop == pytest.approx(10 * CEILING)


def test_an_idle_device_did_nothing() -> None:
    """A reading of zero is believed."""
    assert device_watch(trace(range(11)), []).outside_flop == 0


def test_an_unknown_chip_has_no_ceiling() -> None:
    """What it can do is not known, so it is not bounded."""
    found = device_watch(trace(range(3), chip="abacus"), [])

    assert (found.ceiling_flop_per_second, found.outside_flop) == (inf, inf)


@given(active=st.floats(0, 1e-4), more=st.floats(0, 1e-4))
def test_more_activity_is_more_flop(active: float, more: float) -> None:
    """Small activity is bounded the closer the smaller it is."""
    low, high = (
        device_watch(trace(range(5), active=one), []).outside_flop for one in (active, active + more)
    )

    assert low <= high


def test_watches_of_one_device_are_joined() -> None:
    """Time counts once, activity adds, the higher ceiling holds."""
    first = DeviceWatch("GPU-a", CHIP, ((0, 5), (8, 9)), 1.0, 2.0)
    second = DeviceWatch("GPU-a", CHIP, ((4, 6),), 3.0, 4.0)
    other = DeviceWatch("GPU-b", CHIP, (), 1.0)

    assert merged([first, second, other]) == (
        DeviceWatch("GPU-a", CHIP, ((0, 6), (8, 9)), 3.0, 6.0),
        other,
    )


def test_without_samples_idle_time_is_bounded_by_what_is_called_idle() -> None:
    """Ten seconds outside a session at the detector's idle level."""
    watch = DeviceWatch("GPU-a", CHIP, ((0, 18 * SECOND),), CEILING)

    found = bounded_by_idle_levels(watch, [session(10, 20, "GPU-a"), session(0, 5, "GPU-b")])

    assert found.outside_flop == pytest.approx(10 * 1e-4 * CEILING)


def test_energy_is_by_the_counter_else_by_power() -> None:
    """A counter that says nothing leaves the mean power times time."""
    by_power = trace(range(11), watts=100.0)
    counter = {**by_power.channels, "energy_joules_total": np.arange(11) * 150.0}
    by_counter = Trace(by_power.device, by_power.time_ns, counter)

    joules = [session_joules(cut_session((one,), 0, 10 * SECOND)) for one in (by_power, by_counter)]

    assert joules == [pytest.approx(1000.0), pytest.approx(1500.0)]
