"""Rounds of a logger that prints one row a device: told by stamps where there are some, else by repeats."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.clocks import NO_INSTANT

TICK_NS = 50_000_000
"""Rows of one tick follow each other within 1 to 4 ms; loggers seldom loop faster than every 100 ms."""

TICK_CONTRAST = 4.0
"""Between ticks passes at least this many times as long as between rows of one: else there is one device."""

MOST_PLACES = 64
"""More rows in one tick than GPUs fit in a machine: they are no ticks."""


def rows_in_tick(stamps: NDArray[np.int64]) -> int:
    """Return how many rows a tick has, as most ticks of a stretch have it; 1 where there are no ticks.

    Examples
    --------
    >>> rows_in_tick(np.array([0, 2, 1000, 1003, 2000]) * 1_000_000)
    2
    >>> rows_in_tick(np.arange(100) * 20_000_000)
    1
    """
    known = stamps[stamps != NO_INSTANT]
    steps = np.abs(np.diff(known))
    is_new = steps > TICK_NS
    if is_new.all():
        return 1
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1, [len(known)]])
    sizes = np.diff(starts)
    counts = np.bincount(sizes)
    usual = int(np.flatnonzero(counts == counts.max())[-1])  # the last tick of a cut log is short
    if usual > MOST_PLACES:
        return 1
    within, between = np.median(steps[~is_new]), np.median(steps[is_new]) if is_new.any() else TICK_NS
    return usual if between >= TICK_CONTRAST * within else 1


@dataclass
class Places:
    """Gives each row its place within its tick, across the blocks of a file.

    Parameters
    ----------
    n_places : int
        Rows of a tick, see ``rows_in_tick``.
    """

    n_places: int
    _last_ns: int = field(default=NO_INSTANT, init=False)
    _n_rows: int = field(default=0, init=False)
    _n_holes: int = field(default=0, init=False)

    def of(self, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return places from 0; -1 where nobody knows whose the row is.

        That is beyond the usual size of a tick, and behind a row without a stamp until the next tick begins
        in sight: the row may have ended one tick, or begun another.

        Examples
        --------
        >>> Places(2).of(np.array([0, 2, 1000, 1003, 1004]) * 1_000_000).tolist()
        [0, 1, 0, 1, -1]
        """
        if self.n_places == 1 or not len(stamps):
            return np.zeros(len(stamps), dtype=np.int64)
        before = np.concatenate([[self._last_ns], stamps[:-1]])
        is_hole = stamps == NO_INSTANT
        is_pair = ~is_hole & (before != NO_INSTANT)
        is_new = np.abs(np.where(is_pair, stamps - np.where(is_pair, before, 0), 0)) > TICK_NS
        rows = np.arange(len(stamps))
        starts = np.maximum.accumulate(np.where(is_new, rows, -self._n_rows))
        holes = self._n_holes + np.cumsum(is_hole)
        holes_in_tick = holes - np.maximum.accumulate(np.where(is_new, holes, 0))
        places: NDArray[np.int64] = rows - starts
        self._last_ns = int(stamps[-1])
        self._n_rows, self._n_holes = int(places[-1]) + 1, int(holes_in_tick[-1])
        return np.where((places < self.n_places) & (holes_in_tick == 0), places, -1)


@dataclass
class Rounds:
    """Counts the rounds of rows without any stamp, across blocks: one ends where a device comes again.

    Attributes
    ----------
    n_rounds : int
        Rounds that began so far.
    """

    n_rounds: int = field(default=0, init=False)
    _open: tuple[int, ...] = field(default=(), init=False)

    def of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the round of each row, from 0 for the first of the file.

        Examples
        --------
        >>> rounds = Rounds()
        >>> rounds.of(np.array([3, 1, 1, 3])).tolist(), rounds.of(np.array([3, 1])).tolist()
        ([0, 0, 1, 1], [2, 2])
        """
        if not len(index):
            return np.array([], dtype=np.int64)
        row_index = np.concatenate([np.array(self._open, dtype=np.int64), index])
        starts = np.array(_starts(row_index))
        is_start = np.zeros(len(row_index), dtype=np.int64)
        is_start[starts] = 1
        first = self.n_rounds - 1 if self._open else self.n_rounds
        rounds: NDArray[np.int64] = np.cumsum(is_start) - 1 + first
        self._open = tuple(row_index[starts[-1] :].tolist())
        self.n_rounds = int(rounds[-1]) + 1
        return rounds[len(row_index) - len(index) :]


def _starts(index: NDArray[np.int64]) -> list[int]:
    """Return the first row of each round: the first whose device the round before it has already."""
    order = np.argsort(index, kind="stable")
    before = np.full(len(index), -1, dtype=np.int64)
    is_same = index[order][1:] == index[order][:-1]
    before[order[1:][is_same]] = order[:-1][is_same]
    latest = np.maximum.accumulate(before)  # the nearest repeat that ends at a row or before it
    after = np.searchsorted(latest, np.arange(len(index))).tolist()
    starts = [0]
    while (start := after[starts[-1]]) < len(index):
        starts.append(start)
    return starts
