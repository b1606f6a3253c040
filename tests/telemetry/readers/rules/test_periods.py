"""How often a device was really sampled."""

import numpy as np

from flopwitness.telemetry.readers.rules.periods import period_findings, periods_of
from plain_traces import plain_trace


def test_the_distribution_is_that_of_the_steps():
    """Middle, tail, gaps."""
    found = periods_of(plain_trace([*range(100), 160], power_watts=80))

    assert (found.median_seconds, found.longest_seconds, found.n_steps) == (1.0, 61.0, 100)
    assert (found.n_gaps, found.gap_seconds) == (1, 61.0)


def test_milliseconds_of_lateness_pass():
    """A sampler at 1 Hz is never exact."""
    seconds = np.cumsum(np.tile([1.0, 1.04, 0.97], 20))

    assert list(period_findings(plain_trace(seconds, power_watts=80), required_seconds=1.0)) == []


def test_a_slow_tail_does_not_hide_behind_a_fast_middle():
    """Every tenth step of 5 s fails 1 Hz."""
    seconds = np.cumsum(np.tile([0.5] * 9 + [5.0], 20))

    found = list(period_findings(plain_trace(seconds, power_watts=80), required_seconds=1.0))

    assert [each.code for each in found] == ["period-too-long"]


def test_a_single_sample_has_no_period():
    """Nothing to judge."""
    assert list(period_findings(plain_trace([0], power_watts=80), required_seconds=1.0)) == []
