"""Stretches of time as sorted, disjoint pairs: joined, taken away from each other, measured."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""Start and stop, nanoseconds; the stop is no longer part of it."""


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the time that any of some stretches covers; empty ones count for nothing.

    Examples
    --------
    >>> joined([(5, 9), (0, 2), (1, 3), (9, 9)])
    ((0, 3), (5, 9))
    """
    kept: list[Span] = []
    for start, stop in sorted(spans):
        if stop <= start:
            continue
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], stop))
        else:
            kept.append((start, stop))
    return tuple(kept)


def inside(spans: Sequence[Span], start: int, stop: int) -> tuple[Span, ...]:
    """Return what of joined stretches lies inside another.

    Examples
    --------
    >>> inside([(0, 3), (5, 9)], 2, 6)
    ((2, 3), (5, 6))
    """
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, stop, key=lambda span: span[0])
    return tuple((max(low, start), min(high, stop)) for low, high in spans[first:last])


def without(spans: Sequence[Span], taken: Sequence[Span]) -> tuple[Span, ...]:
    """Return what is left of joined stretches when other joined ones are taken away.

    Examples
    --------
    >>> without([(0, 10)], [(2, 3), (5, 9)])
    ((0, 2), (3, 5), (9, 10))
    """
    left: list[Span] = []
    for start, stop in spans:
        at = start
        for low, high in inside(taken, start, stop):
            left.append((at, low))
            at = high
        left.append((at, stop))
    return joined(left)


def length(spans: Iterable[Span]) -> int:
    """Return the nanoseconds of joined stretches."""
    return sum(stop - start for start, stop in spans)
