"""Stretches of time: what is joined, taken away and measured."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flopwitness.verify.spans import Span, inside, joined, length, without

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=8)
SPAN = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)


def moments(spans: Iterable[Span]) -> set[int]:
    """Return every whole moment that stretches cover."""
    return {moment for start, stop in spans for moment in range(start, stop)}


@given(spans=SPANS)
def test_joined_stretches_cover_the_same_time_and_lie_apart(spans: list[Span]) -> None:
    """Nothing is added, nothing lost, and no two touch."""
    found = joined(spans)

    assert moments(found) == moments(spans)
    assert all(before[1] < after[0] for before, after in pairwise(found))
    assert length(found) == len(moments(spans))


@given(spans=SPANS, taken=SPANS)
def test_what_is_left_and_what_is_taken_make_the_whole(spans: list[Span], taken: list[Span]) -> None:
    """Taking time away leaves just the rest."""
    whole, away = joined(spans), joined(taken)

    left = without(whole, away)

    assert moments(left) == moments(whole) - moments(away)


@given(spans=SPANS, window=SPAN)
def test_a_window_holds_what_lies_in_it(spans: list[Span], window: Span) -> None:
    """Stretches are cut at the ends of a window."""
    start, stop = window

    found = inside(joined(spans), start, stop)

    assert moments(found) == moments(spans) & set(range(start, stop))
