"""How well jobs are stitched: on a dataset as recorded, on its sessions shuffled, and on its runs split."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from flopwitness.app.detecting import everything_logged
from flopwitness.app.jobs import placed_jobs
from flopwitness.app.opening import open_dataset
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.dataset import Dataset
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Run
from flopwitness.evaluate.splices import MEMORY, Part, PauseMemory, Splice, spliced
from flopwitness.evaluate.stitching import (
    LoggedJob,
    PlacedSession,
    Stitched,
    Stitching,
    logged_jobs,
    stitching,
)

SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0
MIN_IDLE_SECONDS = 0.5
"""An idle stretch as short as this still fills a pause."""

MIN_PART_SECONDS = 1.5
MOST_PARTS = 4
"""A run is cut into two to four parts, none shorter than this where it is long enough."""

N_SHUFFLES = 10


@dataclass(frozen=True, slots=True)
class StitchingTrials:
    """What became of a dataset's jobs.

    Attributes
    ----------
    name : str
        Of the dataset.
    recorded : Stitching
        As it was recorded; where warm-ups are logged, each belongs to its workload.
    shuffled : tuple of Stitching
        Its sessions in another order, each with the idle time and memory after it, pauses of 2 to 60 s; none
        of a dataset with a single usable session.
    split : mapping of PauseMemory to tuple of Stitching
        Its runs cut into parts with pauses of 2 to 60 s between them, one a run. ``recorded`` where memory
        was not read, else ``held`` and ``freed``.
    """

    name: str
    recorded: Stitching
    shuffled: tuple[Stitching, ...]
    split: Mapping[PauseMemory, tuple[Stitching, ...]]


@dataclass(frozen=True, slots=True)
class _Usable:
    """A logged job that one session holds, with the idle stretch after it."""

    job: LoggedJob
    session: Session
    idle_ns: tuple[int, int]


def stitching_of(
    path: Path, *, chip: str, seed: int = 0, n_shuffles: int = N_SHUFFLES
) -> list[dict[str, object]]:
    """Score a dataset; return plain rows: recorded, in parts, shuffled, and one for each kind of split.

    Each row has ``dataset``, ``what``, ``n_jobs``, ``n_right``, ``n_split``, ``n_merged``, ``n_alike``
    (merged with a run of the same shape alone), ``n_missed``, ``n_pairs`` and ``n_false_merges``
    (neighbours of other shapes that share a job), ``false_merge_ratio``, None without neighbours, and
    ``failures``, a sentence for each job that is not right. In parts are those jobs as recorded that left
    more than one session: runs that pause, and those that warm up before a rest.

    Raises
    ------
    BadInputError
        When the folder is no dataset.
    """
    dataset, rng = open_dataset(path, chip=chip), np.random.default_rng(seed)
    logged = everything_logged(path, dataset.runs).runs
    trials = stitching_trials(dataset, logged, rng=rng, n_shuffles=n_shuffles)
    in_parts = Stitching(tuple(job for job in trials.recorded.jobs if job.n_sessions > 1), 0, 0)
    rows = [_row(trials.name, "recorded", [trials.recorded]), _row(trials.name, "in parts", [in_parts])]
    if trials.shuffled:
        rows.append(_row(trials.name, "shuffled", trials.shuffled))
    return rows + [_row(trials.name, f"split, memory {kind}", some) for kind, some in trials.split.items()]


def stitching_totals(rows: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the sums of the rows of several datasets, one for each ``what``, without their failures."""
    totals: dict[str, dict[str, int]] = {}
    for row in rows:
        total = totals.setdefault(str(row["what"]), dict.fromkeys(COUNTS, 0))
        for name in COUNTS:
            total[name] += int(str(row[name]))
    return [{"dataset": "all", "what": what, **total, **_ratio(total)} for what, total in totals.items()]


def stitching_trials(
    dataset: Dataset, logged: Sequence[Run], *, rng: np.random.Generator, n_shuffles: int = N_SHUFFLES
) -> StitchingTrials:
    """Score a dataset as it was recorded, shuffled and split.

    Parameters
    ----------
    dataset : Dataset
        Its runs are what is split.
    logged : sequence of Run
        Everything that was logged, a warm-up by the name of its workload.
    rng : numpy.random.Generator
        Decides on orders, cuts and pauses.
    n_shuffles : int
        How many orders to try.
    """
    recording, jobs = dataset.recording, logged_jobs(dataset.runs)
    sessions = detected_sessions(recording)
    usable = _usable(sessions, jobs)
    has_memory = any(MEMORY in trace for trace in recording.traces)
    kinds = (PauseMemory.HELD, PauseMemory.FREED) if has_memory else (PauseMemory.RECORDED,)
    return StitchingTrials(
        recording.name,
        stitching(logged_jobs(logged), placed_sessions(sessions, recording)),
        tuple(_shuffled(recording, usable, rng) for _ in range(n_shuffles if len(usable) > 1 else 0)),
        {kind: tuple(_split(recording, one, kind, rng) for one in usable) for kind in kinds},
    )


def placed_sessions(sessions: Sequence[Session], recording: Recording) -> tuple[PlacedSession, ...]:
    """Return sessions with their jobs, as they are scored."""
    return tuple(
        PlacedSession(session.start_ns, session.stop_ns, placed.job_id)
        for session, placed in zip(sessions, placed_jobs(sessions, recording.traces), strict=True)
    )


def _usable(sessions: Sequence[Session], jobs: Sequence[LoggedJob]) -> list[_Usable]:
    """Return the longest session of each job that holds no other, where idle time follows at all."""
    gaps = _idle_stretches(sessions)
    found: dict[str, _Usable] = {}
    for session in sessions:
        inside = [job for job in jobs if job.start_ns < session.stop_ns and session.start_ns < job.stop_ns]
        after = [gap for gap in gaps if gap[0] > session.stop_ns]
        if len(inside) == 1 and after:
            known = found.get(inside[0].name)
            if known is None or session.duration_seconds > known.session.duration_seconds:
                found[inside[0].name] = _Usable(inside[0], session, after[0])
    return list(found.values())


def _idle_stretches(sessions: Sequence[Session]) -> list[tuple[int, int]]:
    """Return what lies between sessions, without the tenth of a second in which the next one may begin."""
    found, reach_ns = [], 0
    for session in sessions:
        gap_ns = session.start_ns - reach_ns
        if reach_ns and gap_ns > (MIN_IDLE_SECONDS + 0.1) * NANOSECONDS_PER_SECOND:
            found.append((reach_ns + 1, session.start_ns - NANOSECONDS_PER_SECOND // 10))
        reach_ns = max(reach_ns, session.stop_ns)
    return found


def _shuffled(recording: Recording, usable: Sequence[_Usable], rng: np.random.Generator) -> Stitching:
    order = [usable[at] for at in rng.permutation(len(usable))]
    parts = [
        Part(
            recording,
            (one.session.start_ns, one.session.stop_ns),
            one.idle_ns,
            pause_seconds=_pause_seconds(rng),
            name=one.job.name,
        )
        for one in order
    ]
    made = spliced(parts)
    logged = [
        LoggedJob(name, start_ns, stop_ns, one.job.family, one.job.shape)
        for (name, start_ns, stop_ns), one in zip(made.parts, order, strict=True)
    ]
    return _scored(made, logged)


def _split(recording: Recording, one: _Usable, memory: PauseMemory, rng: np.random.Generator) -> Stitching:
    """Cut the measured steps of a job; a pause of 6 s, as the experiment's attack takes, in half of all."""
    start_ns, stop_ns = one.job.start_ns, one.job.stop_ns
    most = int((stop_ns - start_ns) / NANOSECONDS_PER_SECOND / MIN_PART_SECONDS)
    n_parts = max(min(int(rng.integers(2, MOST_PARTS + 1)), most), 2)
    cuts = np.linspace(start_ns, stop_ns, n_parts + 1).astype(np.int64).tolist()
    parts = [
        Part(
            recording,
            ends,
            one.idle_ns,
            pause_seconds=6.0 if rng.random() < 0.5 else _pause_seconds(rng),
            memory=memory,
            name=one.job.name,
        )
        for ends in pairwise(cuts)
    ]
    made = spliced(parts)
    return _scored(made, [LoggedJob(one.job.name, made.parts[0][1], made.parts[-1][2])])


def _pause_seconds(rng: np.random.Generator) -> float:
    return float(rng.uniform(SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS))


def _scored(made: Splice, logged: Sequence[LoggedJob]) -> Stitching:
    sessions = detected_sessions(made.recording)
    return stitching(logged, placed_sessions(sessions, made.recording))


COUNTS = (
    "n_jobs",
    "n_right",
    "n_split",
    "n_merged",
    "n_alike",
    "n_missed",
    "n_pairs",
    "n_false_merges",
)
"""What rows count."""


def _row(dataset: str, what: str, found: Sequence[Stitching]) -> dict[str, object]:
    jobs = [job for one in found for job in one.jobs]
    counts = (
        len(jobs),
        sum(job.is_right for job in jobs),
        sum(job.is_split for job in jobs),
        sum(job.is_merged for job in jobs),
        sum(bool(job.alike) and not job.is_merged for job in jobs),
        sum(job.is_missed for job in jobs),
        sum(one.n_pairs for one in found),
        sum(one.n_false_merges for one in found),
    )
    row = dict(zip(COUNTS, counts, strict=True))
    failures = [_failure(job) for job in jobs if not job.is_right]
    return {"dataset": dataset, "what": what, **row, **_ratio(row), "failures": failures}


def _ratio(counts: Mapping[str, int]) -> dict[str, float | None]:
    n_pairs = counts["n_pairs"]
    return {"false_merge_ratio": counts["n_false_merges"] / n_pairs if n_pairs else None}


def _failure(job: Stitched) -> str:
    if job.is_missed:
        return f"{job.logged.name} was missed"
    in_several = f"{job.n_sessions} sessions in {len(job.job_ids)} jobs" if job.is_split else ""
    merged = f"merged with {', '.join(job.others)}" if job.is_merged else ""
    return f"{job.logged.name}: {', '.join(filter(None, (in_several, merged)))}"
