"""Long form, a row a sample of one series: gathered over blocks, then dealt out to series."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.prometheus.series import Series

MOST_ROWS = 4_000_000
"""So many rows are kept before some are handed on: 24 bytes each, and some four times that while dealing."""


class LongRows:
    """Rows of many series, in any order."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    def add(
        self, numbers: NDArray[np.int64], time_ns: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Keep rows: number of the series, instant and value of each."""
        if len(numbers):
            self._parts.append((numbers, time_ns, values))
            self._n_rows += len(numbers)

    def take(self, labels: Sequence[Mapping[str, str]], *, is_last: bool = True) -> list[Series]:
        """Return the series of all rows, and forget these.

        Parameters
        ----------
        labels : sequence of mapping of str to str
            Those of each series, by its number.
        is_last : bool
            Where more rows come, those of the latest instant wait for them: their scrape may not be whole.
        """
        if not self._parts:
            return []
        columns = list(zip(*self._parts, strict=True))
        self._parts, self._n_rows = [], 0
        numbers, time_ns = np.concatenate(columns[0]), np.concatenate(columns[1])
        values = np.concatenate(columns[2])
        if not is_last:
            waits = time_ns == time_ns.max()
            self.add(numbers[waits], time_ns[waits], values[waits])
            numbers, time_ns, values = numbers[~waits], time_ns[~waits], values[~waits]
        return _dealt(numbers, time_ns, values, labels=labels)


def _dealt(
    numbers: NDArray[np.int64],
    time_ns: NDArray[np.int64],
    values: NDArray[np.float64],
    *,
    labels: Sequence[Mapping[str, str]],
) -> list[Series]:
    order = np.argsort(numbers.astype(np.int32), kind="stable")
    numbers, time_ns, values = numbers[order], time_ns[order], values[order]
    edges = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1, [len(numbers)]]).tolist()
    return [
        Series(labels[int(numbers[start])], time_ns[start:stop], values[start:stop])
        for start, stop in pairwise(edges)
        if stop > start
    ]
