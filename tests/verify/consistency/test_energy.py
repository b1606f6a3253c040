"""The energy counter against integrated power."""

import numpy as np
import pytest

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.energy import CODE, energy_deviations
from verify.consistency.made import changed, clean_trace, highest_score, without

GAUGES = ("power_watts", "power_instant_watts")


def score(trace: Trace) -> float:
    """Return the highest score of this check."""
    return highest_score(energy_deviations(trace), CODE)


def test_a_counter_and_gauges_that_agree_pass():
    """The counter is the gauges' integral."""
    assert score(clean_trace()) < 1


@pytest.mark.parametrize("name", GAUGES)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_gauge_that_is_a_tenth_off_is_found(name: str, factor: float):
    """Either way, over a minute and a half."""
    trace = clean_trace()

    assert score(changed(trace, **{name: factor * trace[name]})) > 1


def test_a_short_fault_shows_in_a_short_window():
    """Ten seconds at half the power, in ninety."""
    trace = clean_trace()
    power = trace["power_instant_watts"] * np.where(np.arange(len(trace)) // 100 == 3, 0.5, 1.0)

    assert score(changed(trace, power_instant_watts=power)) > 1


def test_a_gauge_that_was_seldom_asked_is_not_integrated():
    """A daemon asks for the mean once in five seconds where the other gauge is there."""
    trace = clean_trace()
    seldom = np.where(np.arange(len(trace)) % 50 == 0, 0.5 * trace["power_watts"], np.nan)

    assert score(changed(trace, power_watts=seldom)) < 1


def test_without_a_counter_there_is_nothing_to_compare():
    """No finding, and no error."""
    assert list(energy_deviations(without(clean_trace(), "energy_joules_total"))) == []
