"""Where scrapes begin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.scrapes import scrape_starts


def starts_of(rows: list[tuple[int, int, int, float]]) -> list[int]:
    """Return the starts of rows of identity, metric, series and value."""
    columns = list(zip(*rows, strict=True))
    return scrape_starts(*(np.array(column) for column in columns[:3]), np.array(columns[3], dtype=float))


@given(identities=st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_no_signal_is_twice_in_a_scrape_and_each_scrape_is_as_long_as_can_be(identities: list[int]):
    """A plain loop says the same."""
    expected, seen = [0], set[int]()
    for row, identity in enumerate(identities):
        if identity in seen:
            expected.append(row)
            seen = set()
        seen.add(identity)

    rows = np.array(identities)

    assert scrape_starts(rows, rows, rows, np.zeros(len(rows))) == expected


def test_a_shared_gpu_begins_no_scrape():
    """Line after line, the same metric with the same value under other labels."""
    assert starts_of([(0, 0, 0, 5), (0, 0, 1, 5), (1, 1, 2, 7)]) == [0]


def test_the_same_value_behind_another_metric_is_a_new_scrape():
    """All labels of a GPU may change from one scrape to the next."""
    assert starts_of([(0, 0, 0, 5), (1, 1, 1, 7), (0, 0, 2, 5), (1, 1, 3, 7)]) == [0, 2]


def test_nothing_has_no_scrape():
    """An empty block."""
    nothing = np.array([], dtype=np.int64)

    assert scrape_starts(nothing, nothing, nothing, nothing.astype(float)) == []
