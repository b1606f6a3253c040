"""Instants of samples: a wall clock that is set back meanwhile does not matter."""

from flopwitness.telemetry.samplers.clock import SteadyClock


def test_a_wall_clock_that_jumps_back_changes_nothing():
    """UTC is read once; after that only the monotonic clock counts."""
    utc_ns, monotonic_ns = iter((1_000_000, 0)), iter((500, 600, 700))
    clock = SteadyClock(utc_ns=utc_ns.__next__, monotonic_ns=monotonic_ns.__next__)

    assert [clock(), clock()] == [1_000_100, 1_000_200]
