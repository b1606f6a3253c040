"""Instants: with a zone or as a time ago, the same on any machine."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.moments import moment_ns
from flopwitness.core.errors import BadInputError

NOW_NS = 1_770_091_506 * 10**9


@pytest.mark.parametrize(
    ("text", "seconds_ago"),
    [
        ("now", 0),
        ("90s", 90),
        ("30m", 1800),
        ("6h", 21_600),
        ("2d", 172_800),
        ("1w", 604_800),
        ("2026-02-03T04:05:06Z", 0),
        ("2026-02-03T05:05:06+01:00", 0),
        ("2026-02-03T04:05:05.5Z", 0.5),
    ],
)
def test_an_instant_has_a_zone_or_is_a_time_ago(text: str, seconds_ago: float):
    """Both are UTC nanoseconds in the end."""
    assert moment_ns(text, now_ns=NOW_NS, option="--since") == NOW_NS - round(seconds_ago * 1e9)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-03T04:05:06",
        "2026-02-03",
        "6",
        "-6h",
        "6 h",
        "yesterday",
        "2999-01-01T00:00:00Z",
        "9999w",
    ],
)
def test_anything_else_is_refused(text: str):
    """A naive stamp would be read in the machine's zone; the future holds no samples."""
    with pytest.raises(BadInputError, match="--since"):
        moment_ns(text, now_ns=NOW_NS, option="--since")


@given(text=st.text())
def test_any_text_is_an_instant_or_refused(text: str):
    """No text crashes it."""
    with suppress(BadInputError):
        assert 0 <= moment_ns(text, now_ns=NOW_NS, option="--since") <= NOW_NS
