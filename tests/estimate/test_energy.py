"""The energy of a stretch: which source, what it says, what nobody saw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.estimate.energy import Energy, EnergyMethod, counter_watts, energy_joules
from plain_traces import NAN, plain_trace


def test_the_counter_is_used_where_it_and_the_power_agree():
    """It is refreshed more often than anybody samples."""
    found = energy_joules(
        plain_trace(range(61), energy_joules_total=np.arange(61) * 300.0, power_watts=305.0)
    )

    assert (found.joules, found.method, found.unobserved_seconds) == (18_000.0, EnergyMethod.COUNTER, 0.0)
    assert found.warning == ""


def test_a_counter_bridges_a_gap_that_power_does_not():
    """It counted on while nobody looked."""
    found = energy_joules(
        plain_trace([0, 1, 2, 100, 101], energy_joules_total=[0, 300, 600, 30_000, 30_300], power_watts=300.0)
    )

    assert (found.joules, found.unobserved_seconds, found.method) == (30_300.0, 0.0, EnergyMethod.COUNTER)


def test_without_a_counter_a_gap_is_bounded_by_nothing_and_the_boards_limit():
    """Two seconds were seen, 98 were not."""
    found = energy_joules(plain_trace([0, 1, 2, 100], chip="H200-SXM", power_watts=300.0))

    assert (found.joules, found.low_joules, found.unobserved_seconds) == (600.0, 600.0, 98.0)
    assert found.high_joules == 600.0 + 98 * 1050.0


def test_two_sources_that_differ_give_bounds_and_no_pick():
    """The report names both."""
    found = energy_joules(
        plain_trace(range(61), energy_joules_total=np.arange(61) * 100.0, power_watts=300.0)
    )

    assert found.method is EnergyMethod.DISPUTED
    assert np.isnan(found.joules)
    assert (found.low_joules, found.high_joules, found.discrepancy_joules) == (6000.0, 18_000.0, 12_000.0)
    assert "12000 J" in found.warning


def test_neither_source_is_unmeasured_never_zero():
    """The bounds are all that is known."""
    found = energy_joules(plain_trace(range(11), chip="H200-SXM", gpu_util_ratio=1.0))

    assert (found.method, found.low_joules, found.high_joules) == (EnergyMethod.UNMEASURED, 0.0, 10_500.0)
    assert np.isnan(found.joules)


def test_a_glitch_of_the_counter_costs_itself():
    """The readings beside it say what flowed."""
    found = energy_joules(plain_trace(range(4), chip="H200-SXM", energy_joules_total=[9000, 0, 9600, 9900]))

    assert (found.joules, found.n_resets) == (900.0, 0)


def test_the_mean_power_of_a_window_needs_what_the_counter_resolves():
    """A counter in steps of 50 ms, read each millisecond: 0.1 s tells, one step does not."""
    seconds = np.arange(300) / 1000
    watts = counter_watts(
        plain_trace(seconds, energy_joules_total=np.floor(seconds * 20 + 1e-9) * 15), window_seconds=0.001
    )

    assert np.isnan(watts[:100]).all()
    assert watts[[100, 150, 250]].tolist() == pytest.approx([300.0, 300.0, 300.0])


@given(
    st.lists(st.floats(0, 1000) | st.just(NAN), min_size=2, max_size=30),
    st.lists(st.floats(0, 1e6) | st.just(NAN), min_size=30, max_size=30),
)
def test_bounds_always_hold_and_no_energy_is_negative(watts: list[float], joules: list[float]):
    """Whatever a file says: between nothing and what the board can draw."""
    found = energy_joules(
        plain_trace(
            range(len(watts)), chip="H200-SXM", power_watts=watts, energy_joules_total=joules[: len(watts)]
        )
    )

    assert 0 <= found.low_joules <= found.high_joules
    assert not found.joules < 0


def test_bounds_on_the_wrong_side_are_refused():
    """A value that lies cannot exist."""
    with pytest.raises(InvalidNounError, match="outside"):
        Energy(1.0, EnergyMethod.POWER, 2.0, 3.0, 0.0)
