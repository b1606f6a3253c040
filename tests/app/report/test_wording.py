"""Numbers for people say what they do not know, and never more digits than they have."""

import pytest

from flopwitness.app.report.wording import (
    PROTOCOLS,
    TARGETS,
    Scale,
    device_key,
    percent_text,
    range_text,
    scale_of,
    stretch_texts,
)
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol


def test_every_protocol_and_target_has_words():
    """A new one cannot reach the page without a sentence."""
    assert set(PROTOCOLS) == set(Protocol)
    assert set(TARGETS) == set(Target)


@pytest.mark.parametrize(
    ("ratio", "is_signed", "expected"),
    [
        (0.1042, False, "10.4 %"),
        (0.05, True, "+5.0 %"),
        (-1.0, True, "−100.0 %"),
        (-0.0001, True, "0.0 %"),
        (12.5, False, "1,250.0 %"),
        (None, False, "not known"),
        (float("nan"), True, "not known"),
        (float("inf"), True, "unbounded"),
    ],
)
def test_a_percentage_has_one_decimal_or_says_why_not(ratio: float | None, is_signed: bool, expected: str):
    """A zero has no sign; what is not known or not bounded is a word."""
    assert percent_text(ratio, is_signed=is_signed).replace("\xa0", " ") == expected


@pytest.mark.parametrize(
    ("flop", "expected"),
    [
        (3.6459e15, "3.646"),
        (0.0, "0.000"),
        (12e15, "12.00"),
        (None, "not known"),
        (float("inf"), "unbounded"),
    ],
)
def test_a_count_is_given_in_the_unit_of_its_table(flop: float | None, expected: str):
    """Four digits, so that neighbours can be compared."""
    assert Scale(15).text(flop) == expected


@pytest.mark.parametrize(
    ("counts", "exponent"), [([], 0), ([float("inf")], 0), ([2e14, 5e15], 15), ([999e12], 12), ([0.0], 0)]
)
def test_a_scale_fits_the_largest_count(counts: list[float], exponent: int):
    """Powers of a thousand, as prefixes have them; what is not finite or positive does not count."""
    assert scale_of(counts).exponent == exponent


def test_a_date_stands_once_where_both_ends_share_it():
    """A stretch over midnight names both days."""
    midnight_ns = 1_796_083_200_000_000_000
    second_ns = 1_000_000_000

    assert stretch_texts(midnight_ns, midnight_ns + second_ns) == ("2026-12-01 00:00:00.000", "00:00:01.000")
    assert stretch_texts(midnight_ns - second_ns, midnight_ns)[1] == "2026-12-01 00:00:00.000"


def test_a_range_of_one_value_is_that_value():
    """Both ends unbounded is one word, not two."""
    assert range_text("unbounded", "unbounded") == "unbounded"
    assert range_text("1", "2") == "1 to 2"


def test_devices_have_different_keys():
    """However many there are."""
    keys = [device_key(number) for number in range(100)]

    assert len(set(keys)) == 100
