"""Device memory over time, as runs of one value: a paused process holds it, a finished one gives it back."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

MAX_SILENCE_NS = 60 * NANOSECONDS_PER_SECOND
"""Equal readings further apart than this are two runs: what lay between was not seen."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRuns:
    """Stretches in which every reading gave the same value.

    Attributes
    ----------
    first_ns, last_ns : ndarray of shape (n_runs,), int64
        First and last reading of each, in time order.
    used_bytes : ndarray of shape (n_runs,), float64
        What was in use.
    """

    first_ns: NDArray[np.int64]
    last_ns: NDArray[np.int64]
    used_bytes: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.used_bytes)

    def seen_within(self, start_ns: int, stop_ns: int) -> NDArray[np.float64]:
        """Return the values that reach into a closed stretch, shape (n_values,); empty where unread."""
        return self.used_bytes[(self.first_ns <= stop_ns) & (self.last_ns >= start_ns)]

    def level_within(self, start_ns: int, stop_ns: int) -> float | None:
        """Return what was in use for half of a closed stretch or longer, a median over time; None if unread.

        Not the peak: the next workload may be built in the last moments of a session.
        """
        first_ns, last_ns = np.maximum(self.first_ns, start_ns), np.minimum(self.last_ns, stop_ns)
        inside = first_ns <= last_ns
        if not inside.any():
            return None
        used = self.used_bytes[inside]
        order = np.argsort(used)
        weights = np.cumsum((last_ns - first_ns)[inside][order] + 1)
        return float(used[order][int(np.searchsorted(weights, weights[-1] / 2))])

    def newest(self, n_runs: int) -> "MemoryRuns":
        """Return the last so many runs."""
        return MemoryRuns(self.first_ns[-n_runs:], self.last_ns[-n_runs:], self.used_bytes[-n_runs:])


def memory_runs(trace: Trace) -> MemoryRuns:
    """Return the memory readings of a trace; no run where the source has none."""
    used = trace.column("memory_used_bytes")
    known = np.isfinite(used)
    return _runs(trace.time_ns[known], trace.time_ns[known], used[known])


def joined_runs(parts: Iterable[MemoryRuns]) -> MemoryRuns:
    """Return runs that follow each other as if they had been read at once."""
    found = list(parts)
    return _runs(
        np.concatenate([part.first_ns for part in found]),
        np.concatenate([part.last_ns for part in found]),
        np.concatenate([part.used_bytes for part in found]),
    )


def _runs(first_ns: NDArray[np.int64], last_ns: NDArray[np.int64], used: NDArray[np.float64]) -> MemoryRuns:
    if not len(used):
        return MemoryRuns(first_ns, last_ns, used)
    silences_ns = first_ns[1:] - last_ns[:-1]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(used) != 0) | (silences_ns > MAX_SILENCE_NS)]))
    stops = np.append(starts[1:], len(used)) - 1
    return MemoryRuns(first_ns[starts], last_ns[stops], used[starts])
