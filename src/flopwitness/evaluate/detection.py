"""How well a detector found what ran: its workloads against those that a program logged. Knows no FLOP.

Work shares time, or it does not: there is no threshold of overlap. A logged workload is found as one when one
finding alone shares time with it, that finding shares time with no other, and it names every GPU.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Run, Target

JOIN_SECONDS = 1.0
"""Logged runs of one name that lie this close together are one workload.

The lab leaves 0.3 s between the repetitions of a configuration, and 5 s or more between configurations.
"""

N_TOLERATED_POLLS = 2
"""How many polls a start or an end may be off."""


@dataclass(frozen=True, slots=True)
class TrueWorkload:
    """What one program did without a longer pause, as it was logged.

    Attributes
    ----------
    name : str
        Of its configuration.
    start_ns, stop_ns : int
        From the start of its first run to the end of its last, UTC nanoseconds.
    runs : tuple of Run
        At least one, in time order.
    """

    name: str
    start_ns: int
    stop_ns: int
    runs: tuple[Run, ...]

    @property
    def n_devices(self) -> int:
        """GPUs that the log says it ran on; 1 where the log does not say."""
        return max((run.config.integers("n_gpus") or (1,))[0] for run in self.runs)

    def flop(self, target: Target) -> float | None:
        """Return what was counted in all of its runs; None where one of them was not counted."""
        counts = [run.truth.flop(target) for run in self.runs]
        return None if None in counts else float(sum(count for count in counts if count is not None))


@dataclass(frozen=True, slots=True)
class FoundWorkload:
    """What a detector told of one workload.

    Attributes
    ----------
    start_ns, stop_ns : int
        Its stretch, UTC nanoseconds.
    n_devices : int
        GPUs that it names.
    is_stalled : bool
        Whether it was told as GPUs that were held without any work.
    estimates : mapping of Target to mapping of str to Estimate
        By target and method.
    """

    start_ns: int
    stop_ns: int
    n_devices: int
    is_stalled: bool = False
    estimates: Mapping[Target, Mapping[str, Estimate]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """Logged and found workloads, and which of them share time.

    Attributes
    ----------
    true, found : tuple
        In time order.
    poll_seconds : float
        How often the detector decides, > 0.
    parting_seconds : float
        Idle time between two workloads from which on its rule parts them, > 0.
    shared : ndarray of shape (n_true, n_found), bool
        Which pairs share time.
    """

    true: tuple[TrueWorkload, ...]
    found: tuple[FoundWorkload, ...]
    poll_seconds: float
    parting_seconds: float
    shared: NDArray[np.bool_]

    @property
    def missed(self) -> NDArray[np.bool_]:
        """Logged workloads with which nothing found shares time, shape (n_true,)."""
        nowhere: NDArray[np.bool_] = self.shared.sum(axis=1) == 0
        return nowhere

    @property
    def split(self) -> NDArray[np.bool_]:
        """Logged workloads that were found as several, shape (n_true,)."""
        several: NDArray[np.bool_] = self.shared.sum(axis=1) > 1
        return several

    @property
    def merged(self) -> NDArray[np.bool_]:
        """Logged workloads that were found together with another, shape (n_true,)."""
        with_others: NDArray[np.bool_] = (self.shared & (self.shared.sum(axis=0) > 1)).any(axis=1)
        return with_others

    @property
    def partly(self) -> NDArray[np.bool_]:
        """Logged workloads that were found alone and whole, but not on all of their GPUs, shape (n_true,)."""
        asked = np.array([true.n_devices for true in self.true], dtype=np.int64)
        told = np.array([found.n_devices for found in self.found], dtype=np.int64)
        short: NDArray[np.bool_] = self.shared @ told < asked
        return short & ~(self.missed | self.split | self.merged)

    @property
    def as_one(self) -> NDArray[np.bool_]:
        """Logged workloads that were found as they should be, shape (n_true,)."""
        return ~(self.missed | self.split | self.merged | self.partly)

    @property
    def too_close(self) -> NDArray[np.bool_]:
        """Merged workloads that lie closer to a neighbour than the rule can part, shape (n_true,)."""
        starts, stops = _instants(self.true)
        is_short = starts[1:] - stops[:-1] < self.parting_seconds * NANOSECONDS_PER_SECOND
        beside = np.zeros(len(self.true), dtype=np.bool_)
        beside[:-1] |= is_short
        beside[1:] |= is_short
        return self.merged & beside

    @property
    def spurious(self) -> NDArray[np.bool_]:
        """Findings of work of which the log says nothing, shape (n_found,)."""
        stalled = np.array([found.is_stalled for found in self.found], dtype=np.bool_)
        return ~self.shared.any(axis=0) & ~stalled

    @property
    def pairs(self) -> tuple[tuple[TrueWorkload, FoundWorkload], ...]:
        """Each workload that was found as one, with its finding."""
        rows = np.flatnonzero(self.as_one)
        return tuple((self.true[row], self.found[int(self.shared[row].argmax())]) for row in rows.tolist())

    @property
    def error_seconds(self) -> NDArray[np.float64]:
        """Start and end found, less those logged, of what was found as one; shape (n_as_one, 2)."""
        rows = [(found.start_ns - true.start_ns, found.stop_ns - true.stop_ns) for true, found in self.pairs]
        seconds: NDArray[np.float64] = np.array(rows, dtype=np.int64).reshape(-1, 2) / NANOSECONDS_PER_SECOND
        return seconds

    @property
    def within_tolerance(self) -> NDArray[np.bool_]:
        """Where start and end are off by two polls at most, shape (n_as_one, 2)."""
        near: NDArray[np.bool_] = np.abs(self.error_seconds) <= N_TOLERATED_POLLS * self.poll_seconds
        return near


def true_workloads(runs: Iterable[Run], *, join_seconds: float = JOIN_SECONDS) -> tuple[TrueWorkload, ...]:
    """Put logged runs together that make one workload: neighbours of one name with a short pause between.

    Parameters
    ----------
    runs : iterable of Run
        In any order; a warm-up that belongs to a workload bears its name.
    join_seconds : float
        Longest pause that belongs to a workload, >= 0.

    Returns
    -------
    tuple of TrueWorkload
        In time order.
    """
    groups: list[list[Run]] = []
    join_ns = round(join_seconds * NANOSECONDS_PER_SECOND)
    for run in sorted(runs, key=lambda run: run.start_ns):
        last = groups[-1][-1] if groups else None
        if last is None or last.config.name != run.config.name or run.start_ns - last.stop_ns > join_ns:
            groups.append([])
        groups[-1].append(run)
    return tuple(
        TrueWorkload(group[0].config.name, group[0].start_ns, max(run.stop_ns for run in group), tuple(group))
        for group in groups
    )


def matched(
    true: Iterable[TrueWorkload],
    found: Iterable[FoundWorkload],
    *,
    poll_seconds: float,
    parting_seconds: float,
) -> Detection:
    """Say which logged and found workloads share time; stretches that only touch do not.

    Raises
    ------
    InvalidNounError
        When a duration of the rule is not above 0.
    """
    if not (poll_seconds > 0 and parting_seconds > 0):
        raise InvalidNounError(f"poll {poll_seconds} s and parting {parting_seconds} s must be above 0")
    logged = tuple(sorted(true, key=lambda one: one.start_ns))
    told = tuple(sorted(found, key=lambda one: (one.start_ns, one.stop_ns)))
    starts, stops = _instants(logged)
    told_starts, told_stops = _instants(told)
    shared = (starts[:, None] < told_stops) & (told_starts < stops[:, None])
    return Detection(logged, told, poll_seconds, parting_seconds, shared)


def _instants(stretches: Sequence[TrueWorkload | FoundWorkload]) -> tuple[NDArray[np.int64], ...]:
    """Return starts and stops, each of shape (n,)."""
    ends = np.array([(one.start_ns, one.stop_ns) for one in stretches], dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]
