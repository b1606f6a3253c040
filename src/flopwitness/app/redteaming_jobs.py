"""Which jobs detectors find around runs that were split or throttled, beside their benign twins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from flopwitness.app.detecting import CADENCES
from flopwitness.app.jobs import placed_jobs
from flopwitness.app.report.redteam_content import Lane, Span
from flopwitness.app.witnessing import detected_sessions
from flopwitness.core.dataset import Dataset
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Run
from flopwitness.detect.polling import PollingDetector
from flopwitness.detect.run import sessions_of
from flopwitness.detect.stitch import stitch
from flopwitness.evaluate.cadence import sampled_every
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.attacks.twins import TWIN

AGAINST_DETECTION = ("S1", "S2")
"""The experiment's strategies that aim at the detector: splitting and throttling."""

MARGIN_SECONDS = 3.0
"""What is shown before and after a run; less than the rest between configurations."""

Job = tuple[int, int]
"""When a job began and when it ended, UTC nanoseconds."""

FindJobs = Callable[[Recording], Sequence[Job]]
"""Finds the jobs of a whole recording."""


def experiment_jobs(recording: Recording) -> tuple[Job, ...]:
    """Find jobs as the experiment's daemon did: two samples a second, polls of utilisation."""
    interval_seconds = CADENCES["experiment"].interval_seconds
    traces = sampled_every(recording, interval_seconds=interval_seconds or 0.5).traces
    return _stretches(stitch(sessions_of(PollingDetector(), traces), traces=traces))


def found_sessions(recording: Recording) -> tuple[Job, ...]:
    """Find stretches of work by activity; a pause ends one."""
    return _stretches(detected_sessions(recording))


def linked_jobs(recording: Recording) -> tuple[Job, ...]:
    """Find jobs as linked sessions: each from the start of its first to the end of its last."""
    sessions = detected_sessions(recording)
    ends: dict[str, Job] = {}
    for session, placed in zip(sessions, placed_jobs(sessions, recording.traces), strict=True):
        start_ns, stop_ns = ends.get(placed.job_id, (session.start_ns, session.stop_ns))
        ends[placed.job_id] = min(start_ns, session.start_ns), max(stop_ns, session.stop_ns)
    return tuple(ends.values())


DETECTORS: Mapping[str, FindJobs] = MappingProxyType(
    {"experiment": experiment_jobs, "ours, sessions": found_sessions, "ours, jobs": linked_jobs}
)
"""By the name that the figure gives them."""


def job_lanes(
    datasets: Sequence[Dataset],
    attacks: Iterable[Attack],
    *,
    detectors: Mapping[str, FindJobs] = DETECTORS,
) -> tuple[Lane, ...]:
    """Return a lane for each attack on detection at its strongest, and for its twin before it.

    Parameters
    ----------
    datasets : sequence of Dataset
        Where the runs may be.
    attacks : iterable of Attack
        Those that aim at the detector are taken.
    detectors : mapping of str to callable
        By name; each sees whole recordings.
    """
    wanted = [attack for attack in attacks if attack.reference in AGAINST_DETECTION]
    twins = dict.fromkeys(attack.twin.name for attack in wanted)
    strongest = [f"{attack.name}-{attack.strengths[-1].label}" for attack in wanted]
    jobs: dict[tuple[str, str], Sequence[Job]] = {}
    lanes = []
    for name in (*twins, *strongest):
        found = _first_run(datasets, name)
        if found is None:
            continue
        dataset, run = found
        for detector, find in detectors.items():
            if (key := (dataset.recording.name, detector)) not in jobs:
                jobs[key] = find(dataset.recording)
        by_detector = {
            detector: _spans(jobs[dataset.recording.name, detector], run) for detector in detectors
        }
        lanes.append(Lane(name, _is_benign(run), _seconds(run.stop_ns - run.start_ns), by_detector))
    return tuple(lanes)


def _first_run(datasets: Sequence[Dataset], name: str) -> tuple[Dataset, Run] | None:
    return next(
        ((dataset, run) for dataset in datasets for run in dataset.runs if run.config.name == name), None
    )


def _is_benign(run: Run) -> bool:
    return run.config.family == TWIN


def _spans(jobs: Iterable[Job], run: Run) -> tuple[Span, ...]:
    """Return the jobs that share time with a run, in seconds from its start, cut at the margins."""
    first, last = -MARGIN_SECONDS, _seconds(run.stop_ns - run.start_ns) + MARGIN_SECONDS
    return tuple(
        Span(
            max(_seconds(start_ns - run.start_ns), first),
            min(_seconds(stop_ns - run.start_ns), last),
        )
        for start_ns, stop_ns in jobs
        if start_ns < run.stop_ns and stop_ns > run.start_ns
    )


def _stretches(sessions: Iterable[Session]) -> tuple[Job, ...]:
    return tuple((session.start_ns, session.stop_ns) for session in sessions)


def _seconds(nanoseconds: int) -> float:
    return nanoseconds / NANOSECONDS_PER_SECOND
