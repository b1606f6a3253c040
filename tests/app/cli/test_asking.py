"""What a user adds to a foreign file."""

from datetime import UTC

import pytest

from flopwitness.app.cli.asking import asked_of
from flopwitness.core.errors import BadInputError


def test_a_start_needs_a_zone_of_its_own_or_one_that_is_given():
    """An hour of summer time is not guessed."""
    in_paris = asked_of("Europe/Paris", "2026-07-03T04:05:06", None, None)

    assert in_paris.start_ns == asked_of(None, "2026-07-03T02:05:06Z", None, None).start_ns
    with pytest.raises(BadInputError, match="--start"):
        asked_of(None, "2026-07-03T04:05:06", None, None)


def test_utc_is_a_zone_without_a_database():
    """A slim container has no zone files."""
    assert asked_of("utc", None, None, None).zone is UTC


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "", "\0"])
def test_an_unknown_zone_is_refused(zone: str):
    """One line, and no path is opened."""
    with pytest.raises(BadInputError, match="--tz"):
        asked_of(zone, None, None, None)
