"""Stamps to instants; a zone is never guessed."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.clocks import (
    NO_INSTANT,
    iso_instants,
    milliseconds_to_ns,
    seconds_to_ns,
    written_instants,
)

PARIS = ZoneInfo("Europe/Paris")
INSTANTS = st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1))  # noqa: DTZ001  made aware below


def _ns(stamp: datetime) -> int:
    elapsed = stamp - datetime(1970, 1, 1, tzinfo=UTC)
    return ((elapsed.days * 86_400 + elapsed.seconds) * 10**6 + elapsed.microseconds) * 1000


@given(walls=st.lists(INSTANTS, min_size=1, max_size=5))
def test_a_stamp_with_its_zone_comes_back(walls: list[datetime]):
    """``Z`` and offsets are taken as they are, whatever zone the user named."""
    stamps = [wall.replace(tzinfo=UTC) for wall in walls]
    text = pa.array([stamp.isoformat() for stamp in stamps])

    for zone in (None, PARIS):
        assert iso_instants(text, zone)[0].tolist() == [_ns(stamp) for stamp in stamps]


@given(wall=INSTANTS)
def test_a_naive_stamp_is_of_the_zone_that_was_named(wall: datetime):
    """As Python's own zones have it; without one there is no instant."""
    text = pa.array([wall.strftime("%Y/%m/%d %H:%M:%S.%f")])
    aware = wall.replace(tzinfo=PARIS)
    is_real = aware.astimezone(UTC).astimezone(PARIS).replace(tzinfo=None) == wall

    (found,), lacks_zone = iso_instants(text, PARIS)

    assert found == (_ns(aware.astimezone(UTC)) if is_real else NO_INSTANT)
    assert not lacks_zone
    assert iso_instants(text, None)[1]


def test_an_hour_that_occurs_twice_is_told_by_the_order():
    """Rows behind the jump back are of the second pass."""
    text = pa.array(
        ["2026-10-25 02:58:00", "2026-10-25 02:59:00", "2026-10-25 02:00:00", "2026-10-25 02:01:00"]
    )

    found, _ = iso_instants(text, PARIS)

    assert np.diff(found).tolist() == [60 * 10**9] * 3


@pytest.mark.parametrize(
    "text", ["2026-02-30 04:05:06", "2026-02-03T25:00:00", "yesterday", "", "1969-12-31 23:00:00"]
)
def test_what_is_no_instant_costs_itself(text: str):
    """Neighbours stay."""
    found, _ = iso_instants(pa.array(["2026-02-03 04:05:06", text]), UTC)

    assert found.tolist() == [1_770_091_506_000_000_000, NO_INSTANT]


def test_numbers_are_epochs_to_the_microsecond():
    """A float64 of an epoch holds no more; what is none is none."""
    assert seconds_to_ns(np.array([1770091506.1, np.nan, -1.0, np.inf])).tolist() == [
        1_770_091_506_100_000_000,
        *[NO_INSTANT] * 3,
    ]
    assert milliseconds_to_ns(np.array([1770091506100.0])).tolist() == [1_770_091_506_100_000_000]


def test_written_stamps_follow_the_patterns():
    """The first pattern that fits; a cell that fits none is no instant."""
    patterns = ("%m-%d-%Y %H:%M:%S.%f", "%m-%d-%Y %H:%M:%S")

    found, lacks_zone = written_instants(["02-03-2026 04:05:06.789", "nonsense"], patterns, UTC)

    assert (found.tolist(), lacks_zone) == ([1_770_091_506_789_000_000, NO_INSTANT], False)
