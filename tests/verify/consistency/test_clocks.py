"""The SM clock against clocks that exist and what holds it down."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.clocks import CODE, clock_deviations
from verify.consistency.made import changed, clean_trace, highest_score


def score(trace: Trace) -> float:
    """Return the highest score of this check."""
    return highest_score(clock_deviations(trace), CODE)


def test_clocks_of_the_chip_pass():
    """Multiples of 15 MHz, below boost where the power cap holds them."""
    assert score(clean_trace()) < 1


def test_a_clock_that_the_chip_does_not_have_is_found():
    """Scaled by a factor, it falls between the clocks that exist."""
    trace = clean_trace()

    assert score(changed(trace, sm_clock_hertz=0.97 * trace["sm_clock_hertz"])) > 1


def test_a_clock_above_boost_is_found():
    """No chip runs faster than it can."""
    trace = clean_trace()

    assert score(changed(trace, sm_clock_hertz=trace["sm_clock_hertz"] + 300e6)) > 1


def test_a_low_clock_that_nothing_holds_is_found():
    """The driver names a reason whenever it holds the clock below boost under load."""
    trace = clean_trace()

    assert score(changed(trace, throttle_reasons_mask=np.zeros(len(trace)))) > 1
