"""Dates and times of day."""

from datetime import UTC

import numpy as np
import pyarrow as pa
import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.clocks import NO_INSTANT
from flopwitness.telemetry.readers.daytime import DAY_NS, DayTimes
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Table

DAY = 20_487
"""2026-02-03, in days since 1970."""

HOUR_NS = DAY_NS // 24


def table(*times: str) -> Table:
    """Return rows with a time of day."""
    return Table(("time",), {"time": pa.array(times)}, np.arange(len(times)))


def day_times(asked: Asked) -> DayTimes:
    """Return what dates the rows of a log."""
    return DayTimes(Context(Input.of_bytes(b""), asked), "a tool")


def test_days_are_counted_over_blocks():
    """A midnight in a first block is heeded in the second; what is no time has no instant."""
    times = day_times(Asked(zone=UTC, start_ns=DAY * DAY_NS + 22 * HOUR_NS))

    first = times.of(table("23:00:00", "x", "00:00:00"))
    second = times.of(table("01:00:00"))

    assert first.tolist() == [DAY * DAY_NS + 23 * HOUR_NS, NO_INSTANT, (DAY + 1) * DAY_NS]
    assert second.tolist() == [(DAY + 1) * DAY_NS + HOUR_NS]


@pytest.mark.parametrize(("time", "day"), [("23:00:00", DAY - 1), ("01:00:00", DAY)])
def test_the_first_time_is_the_nearest_to_the_start(time: str, day: int):
    """A log that starts at midnight may begin on either side of it."""
    found = day_times(Asked(zone=UTC, start_ns=DAY * DAY_NS)).of(table(time))

    assert found.tolist() == [day * DAY_NS + int(time[:2]) * HOUR_NS]


@pytest.mark.parametrize(("asked", "option"), [(NOTHING_ASKED, "--tz"), (Asked(zone=UTC), "--start")])
def test_what_nobody_said_is_asked_for(asked: Asked, option: str):
    """Neither zone nor day is guessed."""
    with pytest.raises(BadInputError, match=option):
        day_times(asked).of(table("01:00:00"))
