"""Rows of many series, dealt out."""

import numpy as np

from flopwitness.telemetry.readers.long_rows import LongRows

LABELS = [{"__name__": "a"}, {"__name__": "b"}]


def rows_of(*rows: tuple[int, int, float]) -> LongRows:
    """Return rows of series, instant and value."""
    kept = LongRows()
    for number, time_ns, value in rows:
        kept.add(np.array([number]), np.array([time_ns]), np.array([value]))
    return kept


def test_each_series_has_its_rows_in_their_order():
    """The order of the file, whatever the instants are; nothing is left."""
    rows = rows_of((1, 20, 1.0), (0, 10, 2.0), (1, 5, 3.0))

    first, second = rows.take(LABELS)

    assert (first.name, first.values.tolist()) == ("a", [2.0])
    assert (second.time_ns.tolist(), second.values.tolist()) == ([20, 5], [1.0, 3.0])
    assert (len(rows), rows.take(LABELS)) == (0, [])


def test_the_latest_instant_waits_for_the_rest_of_its_scrape():
    """Unless nothing comes any more."""
    rows = rows_of((0, 10, 1.0), (0, 20, 2.0))

    assert [each.time_ns.tolist() for each in rows.take(LABELS, is_last=False)] == [[10]]
    assert [each.time_ns.tolist() for each in rows.take(LABELS)] == [[20]]
