"""How well sessions were chained into jobs: jobs found against runs logged. Knows no FLOP."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from flopwitness.core.workload import Run

RHYTHM = frozenset(
    {"steps", "pauses", "pause_seconds", "duty_ratio", "burst_steps", "turns", "preheat", "preheat_seconds"}
)
"""Hyper-parameters that say when steps run, not what they are: runs that differ in these alone are alike."""


@dataclass(frozen=True, slots=True)
class LoggedJob:
    """One program as it was logged, from its first logged step to its last, pauses included.

    Attributes
    ----------
    name, family : str
        Of its configuration.
    start_ns, stop_ns : int
        UTC nanoseconds.
    shape : mapping
        Its hyper-parameters without those of ``RHYTHM``: programs of one shape take the same steps.
    """

    name: str
    start_ns: int
    stop_ns: int
    family: str = ""
    shape: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlacedSession:
    """A session that was found, and the job that it was placed in."""

    start_ns: int
    stop_ns: int
    job_id: str


@dataclass(frozen=True, slots=True)
class Stitched:
    """One logged job and what became of it.

    Attributes
    ----------
    logged : LoggedJob
        What ran.
    n_sessions : int
        Sessions that share time with it.
    job_ids : frozenset of str
        Jobs that these were placed in.
    others : tuple of str
        Names of logged jobs of other shapes that share a job with it: merged wrongly.
    alike : tuple of str
        The same of its own shape: the program was run again, and nothing but a log tells that from a restart.
    """

    logged: LoggedJob
    n_sessions: int
    job_ids: frozenset[str]
    others: tuple[str, ...]
    alike: tuple[str, ...]

    @property
    def is_missed(self) -> bool:
        """Whether no session shares time with it."""
        return self.n_sessions == 0

    @property
    def is_split(self) -> bool:
        """Whether it was taken for several jobs."""
        return len(self.job_ids) > 1

    @property
    def is_merged(self) -> bool:
        """Whether another workload was taken for a part of it."""
        return bool(self.others)

    @property
    def is_right(self) -> bool:
        """Whether it is one job with no other workload in it."""
        return not (self.is_missed or self.is_split or self.is_merged)


@dataclass(frozen=True, slots=True)
class Stitching:
    """A capture's logged jobs and what became of them.

    Attributes
    ----------
    jobs : tuple of Stitched
        In time order.
    n_pairs : int
        Neighbours in time of different shapes.
    n_false_merges : int
        Those of them that share a job.
    """

    jobs: tuple[Stitched, ...]
    n_pairs: int
    n_false_merges: int

    @property
    def false_merge_ratio(self) -> float | None:
        """Share of neighbours merged though different; None where there are none."""
        return self.n_false_merges / self.n_pairs if self.n_pairs else None


def logged_jobs(runs: Iterable[Run]) -> tuple[LoggedJob, ...]:
    """Return the programs of a log: runs of one name that follow each other are one, in one process."""
    ordered = sorted(runs, key=lambda run: run.start_ns)
    found = []
    for name, group in groupby(ordered, key=lambda run: run.config.name):
        some = list(group)
        config = some[0].config
        shape = {key: value for key, value in config.parameters.items() if key not in RHYTHM}
        stop_ns = max(run.stop_ns for run in some)
        found.append(LoggedJob(name, some[0].start_ns, stop_ns, config.family, shape))
    return tuple(found)


def stitching(logged: Sequence[LoggedJob], placed: Iterable[PlacedSession]) -> Stitching:
    """Set placed sessions against logged jobs.

    Parameters
    ----------
    logged : sequence of LoggedJob
        In time order.
    placed : iterable of PlacedSession
        All sessions that were found; those that share no time with a logged job are left out.
    """
    found = list(placed)
    sessions = [
        [one for one in found if one.start_ns < job.stop_ns and job.start_ns < one.stop_ns] for job in logged
    ]
    job_ids = [frozenset(one.job_id for one in some) for some in sessions]
    rows = []
    for at, job in enumerate(logged):
        mixed = [
            other
            for other, ids in zip(logged, job_ids, strict=True)
            if other is not job and ids & job_ids[at]
        ]
        others = tuple(other.name for other in mixed if not _are_alike(job, other))
        alike = tuple(other.name for other in mixed if _are_alike(job, other))
        rows.append(Stitched(job, len(sessions[at]), job_ids[at], others, alike))
    pairs = [
        bool(first.job_ids & second.job_ids)
        for first, second in pairwise(rows)
        if not _are_alike(first.logged, second.logged)
    ]
    return Stitching(tuple(rows), len(pairs), sum(pairs))


def _are_alike(first: LoggedJob, second: LoggedJob) -> bool:
    return first.name == second.name or (bool(first.shape) and first.shape == second.shape)
