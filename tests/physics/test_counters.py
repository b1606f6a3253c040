"""What a cumulative counter can do, told from what it shows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.physics.chips import CHIPS
from flopwitness.physics.counters import (
    counter_faults,
    difference,
    is_underflow,
    most_per_second,
    standing,
)

MOST_WATTS = 1050.0


def faults_of(values: list[float], period: float = 1.0) -> dict[str, list[int]]:
    """Return the samples of each kind of fault."""
    found = counter_faults(np.arange(len(values)) * period, np.array(values, float), MOST_WATTS)
    return {name: np.flatnonzero(where).tolist() for name, where in found._asdict().items() if where.any()}


def test_a_dip_that_recovers_is_a_glitch():
    """The counter goes on from where it was, faster than it could have come from the dip."""
    assert faults_of([5000, 5300, 0, 0, 6200, 6500]) == {"is_glitch": [2, 3]}


def test_a_jump_that_recovers_is_a_glitch():
    """More than the board can draw, and gone again."""
    assert faults_of([5000, 5300, 9e9, 5900, 6200]) == {"is_glitch": [2]}


def test_a_drop_that_stays_is_a_reset():
    """What comes after is a new life of the counter."""
    assert faults_of([5000, 5300, 10, 310, 610, 910, 1210]) == {"is_reset": [2]}


def test_a_fresh_counter_that_soon_passes_the_old_one_is_still_a_reset():
    """It began small and grew no faster than the board draws."""
    assert faults_of([500, 600, 10, 400, 800, 1200]) == {"is_reset": [2]}


def test_a_drop_to_a_value_that_no_fresh_counter_has_is_no_reset():
    """Set back, not begun anew: nobody knows what flowed."""
    assert faults_of([9e6, 9e6 + 300, 5e6, 5e6 + 300, 5e6 + 600]) == {"is_setback": [2]}


def test_a_difference_below_zero_is_an_underflow_in_any_unit():
    """2^64 less a little, as the source counts: in joules or in thousandths."""
    for unit in (1.0, 1e3, 1e6):
        assert faults_of([1.0, 2.0, 18446744073447456768 / unit, 4.0, 5.0]) == {"is_underflow": [2]}


@given(st.lists(st.floats(0, MOST_WATTS), min_size=2, max_size=40), st.floats(0, 1e9))
def test_a_counter_that_only_grows_has_no_fault(moves: list[float], start: float):
    """Whatever a board draws below its limit."""
    assert faults_of((start + np.cumsum(moves)).tolist()) == {}


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_a_difference_is_never_negative(before: float, after: float):
    """With a range or without one."""
    for counter_range in (None, 1e12):
        assert not difference(before, after, counter_range=counter_range) < 0


def test_a_range_that_the_reading_is_beyond_explains_no_drop():
    """A wrong range must not make energy."""
    assert np.isnan(difference(5e12, 1.0, counter_range=1e12))


def test_honest_values_are_no_underflow():
    """Not even large ones."""
    assert not is_underflow(np.array([0.0, 1e12, 7_000_450.0, 2.0**62])).any()


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ("energy_joules_total", 1050.0),
        ("nvlink_tx_bytes_total", 675e9),
        ("pcie_rx_bytes_total", 3e11),
        ("sm_cycles_total", 1e13),
    ],
)
def test_the_most_a_counter_grows_follows_from_the_chip(channel: str, expected: float):
    """Half more than the sheet, since boards exceed it for a moment."""
    assert most_per_second(channel, CHIPS["H200-SXM"]) == expected


def test_a_counter_that_makes_good_later_was_only_refreshed_late():
    """A stand that ends in one large step lost nothing."""
    seconds = np.arange(40.0)
    joules = np.floor(seconds / 20) * 6000.0
    moved = np.ones(40, bool)

    assert not standing(seconds, joules, watts=np.full(40, 300.0), is_fresh=moved)[:20].any()


def test_a_counter_that_stands_while_others_move_is_frozen_sooner():
    """Where nothing else moves the source may repeat itself for its refresh of 30 s."""
    seconds, joules, watts = np.arange(31.0), np.full(31, 8152.0), np.full(31, 300.0)

    assert standing(seconds, joules, watts=watts, is_fresh=np.ones(31, bool)).all()
    assert not standing(seconds, joules, watts=watts, is_fresh=np.zeros(31, bool)).any()
