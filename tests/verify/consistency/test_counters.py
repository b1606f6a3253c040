"""Counters that only grow."""

import numpy as np
import pytest

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.counters import counter_deviations
from verify.consistency.made import changed, clean_trace, highest_score

ENERGY = "energy_joules_total"


def score(trace: Trace, before: Trace | None = None) -> float:
    """Return the highest score of the counter check."""
    return highest_score(counter_deviations(trace, before), "counter")


def test_a_clean_counter_passes():
    """Neither back, nor too far, nor still."""
    assert score(clean_trace()) < 1


@pytest.mark.parametrize("name", [ENERGY, "nvlink_tx_bytes_total"])
def test_a_counter_set_back_by_the_least_amount_is_found(name: str):
    """It only grows."""
    trace = clean_trace()
    values = trace[name].copy()
    values[500:] -= values[500] - values[499] + 1.0

    assert score(changed(trace, **{name: values})) > 1


def test_a_jump_beyond_what_the_board_can_draw_is_found():
    """A second of slack for its refresh, and half as much again as the sheet allows."""
    trace = clean_trace()
    values = trace[ENERGY] + np.where(np.arange(len(trace)) > 500, 2_000.0, 0.0)

    assert score(changed(trace, **{ENERGY: values})) > 1


def test_energy_that_stands_still_is_found():
    """No board draws nothing."""
    trace = clean_trace()
    values = trace[ENERGY].copy()
    values[500:540] = values[500]

    assert score(changed(trace, **{ENERGY: values})) > 1


def test_links_may_stand_still():
    """A job of one device sends nothing."""
    trace = clean_trace()
    still = np.full(len(trace), 7.0)

    assert score(changed(trace, nvlink_tx_bytes_total=still, nvlink_rx_bytes_total=still)) < 1


def test_counters_go_on_from_the_earlier_samples_of_their_device():
    """A counter that is lower than it was yesterday was set back, or is another's."""
    trace = clean_trace()
    earlier, later = trace.between(0, 400), trace.between(400, 900)
    lowered = changed(later, **{ENERGY: later[ENERGY] - 50_000.0})

    assert score(later, earlier) < 1
    assert score(lowered) < 1
    assert score(lowered, earlier) > 1


def test_bytes_counted_and_rates_integrated_agree():
    """Half the bytes are missing in one of them."""
    trace = clean_trace()
    slow = changed(trace, nvlink_tx_bytes_total=0.5 * trace["nvlink_tx_bytes_total"])

    assert highest_score(counter_deviations(trace), "counter-against-rate") < 1
    assert highest_score(counter_deviations(slow), "counter-against-rate") > 1


def test_a_blank_is_no_step_back():
    """What nobody read did not fall."""
    trace = clean_trace()
    values = trace[ENERGY].copy()
    values[300:310] = np.nan

    assert score(changed(trace, **{ENERGY: values})) < 1
