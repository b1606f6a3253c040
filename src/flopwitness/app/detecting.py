"""Replay a dataset through the daemon and see what it makes of it: detection and totals, end to end.

The daemon is handed samples alone. What the program logged is compared afterwards.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.labwork import OTHER_RUNS
from flopwitness.app.opening import open_dataset
from flopwitness.app.replay import DEFAULT_INTERVAL_SECONDS, ReplaySampler, replayed
from flopwitness.app.ticking import HostClock, batched
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Run
from flopwitness.detect.activity import DEFAULT_RULE, ActivityWatch
from flopwitness.detect.polling import DEFAULT_POLLING, PollingWatch
from flopwitness.detect.stream import Watch
from flopwitness.detect.stretches import STALLED_NAME
from flopwitness.estimate.calibration import Calibration
from flopwitness.evaluate.cadence import sampled_every
from flopwitness.evaluate.detection import Detection, FoundWorkload, matched, true_workloads
from flopwitness.evaluate.totals import Total, total_of
from flopwitness.lab.journal import WARMUP
from flopwitness.storage.datasets import read_dataset_runs

CalibrationFor = Callable[[tuple[str, ...]], Calibration]
"""Gives the calibration for the chips of a workload."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """A detector with the rhythm that it is meant for.

    Attributes
    ----------
    make_watch : callable
        Gives the watch of one device.
    interval_seconds : float or None
        From sample to sample, > 0; None takes every sample of the recording.
    poll_seconds : float or None
        How often the detector decides, > 0; None where it decides at every sample.
    parting_seconds : float
        Idle time that ends a workload, > 0.
    """

    make_watch: Callable[[], Watch]
    interval_seconds: float | None
    poll_seconds: float | None
    parting_seconds: float


CADENCES: Mapping[str, Cadence] = MappingProxyType(
    {
        "activity": Cadence(ActivityWatch, None, None, DEFAULT_RULE.quiet_seconds),
        "experiment": Cadence(
            PollingWatch,
            0.5,
            DEFAULT_POLLING.poll_seconds,
            DEFAULT_POLLING.closing_polls * DEFAULT_POLLING.poll_seconds,
        ),
    }
)
"""Two detectors with their rhythm.

``activity``: ours, at the recorded rate. It calls each sample idle or not, so a poll is a sample; a workload
ends after 0.8 s of idle samples, at the first of them.
``experiment``: the published one, two samples a second, a poll every 1.5 s, three idle polls to end a job.
"""


@dataclass(frozen=True, slots=True)
class Logged:
    """What a program logged of a capture.

    Attributes
    ----------
    runs : tuple of Run
        Everything that was logged; a warm-up bears the name of its workload.
    is_complete : bool
        Whether the log lists all that ran, as the lab's does; a recorder's names the measured runs alone.
    """

    runs: tuple[Run, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """One capture through the daemon, set against its log.

    Attributes
    ----------
    name, cadence : str
        Of the dataset, and of the detector.
    detection : Detection
        What was found, and how it fits.
    totals : tuple of Total
        By target and method of the calibration.
    """

    name: str
    cadence: str
    detection: Detection
    totals: tuple[Total, ...]


def detection_of(path: Path, cadence: str, *, chip: str, calibration_for: CalibrationFor) -> Replayed:
    """Replay a dataset through the daemon at one of ``CADENCES`` and compare with everything logged.

    Raises
    ------
    BadInputError
        When the folder is no dataset, or no calibration fits its chip.
    """
    dataset, rhythm = open_dataset(path, chip=chip), CADENCES[cadence]
    logged = everything_logged(path, dataset.runs)
    told = watched(dataset.recording, rhythm, calibration_for)
    interval = dataset.recording.provenance.interval_seconds or DEFAULT_INTERVAL_SECONDS
    detection = matched(
        true_workloads(logged.runs),
        [_found(one) for one in told],
        poll_seconds=rhythm.poll_seconds or interval,
        parting_seconds=rhythm.parting_seconds,
    )
    chips = tuple(trace.device.chip for trace in dataset.recording.traces)
    totals = tuple(
        total_of(detection, target, method=method, is_complete=logged.is_complete)
        for target, by_name in calibration_for(chips).fitted.items()
        for method in by_name
    )
    return Replayed(dataset.recording.name, cadence, detection, totals)


def watched(recording: Recording, cadence: Cadence, calibration_for: CalibrationFor) -> tuple[Finished, ...]:
    """Return what ``flopwitness watch --replay`` tells of a recording: the same daemon, the same parts."""
    if cadence.interval_seconds is not None:
        recording = sampled_every(recording, interval_seconds=cadence.interval_seconds)
    told: list[Finished] = []
    daemon = Daemon(
        WorkloadFinder(cadence.make_watch),
        calibration_for,
        outputs=Outputs(lambda _: False, told.append, lambda _: None),
        baselines=IdleBaselines(),
    )
    daemon.run(batched(replayed(ReplaySampler(recording), HostClock(), speed=0)))
    return tuple(told)


def everything_logged(path: Path, runs: Iterable[Run]) -> Logged:
    """Return the runs of a dataset together with its warm-ups and dropped runs, where the lab listed them."""
    others = path / OTHER_RUNS
    if not others.exists():
        return Logged(tuple(runs), is_complete=False)
    listed = (*runs, *read_dataset_runs(others)[0])
    return Logged(tuple(_named_after_workload(run) for run in listed), is_complete=True)


def _named_after_workload(run: Run) -> Run:
    name = run.config.name.removesuffix(f"-{WARMUP}")
    return run if name == run.config.name else replace(run, config=replace(run.config, name=name))


def _found(told: Finished) -> FoundWorkload:
    session = told.witnessed.session
    return FoundWorkload(
        session.start_ns,
        session.stop_ns,
        len(session.traces),
        is_stalled=session.name == STALLED_NAME,
        estimates=told.witnessed.estimates,
    )
