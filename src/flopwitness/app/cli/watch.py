"""``flopwitness watch``: the daemon. Builds its parts, and says what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.config_option import ConfigFile
from flopwitness.app.cli.options import (
    AsJson,
    CalibrationPath,
    Chip,
    CountedAs,
    LedgerKey,
    LedgerPath,
    Speed,
    TokenFile,
)
from flopwitness.app.cli.output import data, utc
from flopwitness.app.cli.record import say, stopping_clock
from flopwitness.app.cli.watch_ledger import open_book, seen
from flopwitness.app.cli.watch_observers import (
    Collector,
    JobsFolder,
    Listen,
    Onlookers,
    Wanted,
    onlookers,
    open_jobs,
)
from flopwitness.app.cli.watch_telling import Told, entry_of, outliving_readers, teller
from flopwitness.app.composing import calibrations_of, source_of
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.keeping import Kept
from flopwitness.app.losses import LostSamples
from flopwitness.app.opening import DEFAULT_CHIP
from flopwitness.app.recorder import new_store
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.app.ticking import HostClock, Round, batched
from flopwitness.core.finding import Finding
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityWatch
from flopwitness.detect.polling import PollingWatch
from flopwitness.estimate.calibration import Calibration
from flopwitness.storage.segments import HEADER, SegmentStore, is_unsealed, iter_segments, last_recorded_ns


class DetectorName(StrEnum):
    """How workloads are found."""

    ACTIVITY = "activity"
    EXPERIMENT = "experiment"


WATCHES = {DetectorName.ACTIVITY: ActivityWatch, DetectorName.EXPERIMENT: PollingWatch}
INTERVALS = {DetectorName.ACTIVITY: 0.1, DetectorName.EXPERIMENT: 0.5}
"""Sampling interval where none is given; the experiment sampled twice a second and polled every 1.5 s."""

JournalPath = Annotated[
    Path | None,
    typer.Option("--journal", help="File that finished workloads are appended to, one JSON object a line."),
]
RecordFolder = Annotated[
    Path | None,
    typer.Option(
        "--record", help="Record the samples, a folder a run, into this one; what a kill left is continued."
    ),
]
Replayed = Annotated[
    Path | None,
    typer.Option("--replay", help="Watch a recording instead of this machine.", metavar="RECORDING"),
]
Detector = Annotated[
    DetectorName, typer.Option("--detector", help="'experiment' is the published polling rule.")
]
Interval = Annotated[
    float | None,
    typer.Option("--interval", help="Seconds between samples: 0.1, or 0.5 for the experiment's detector."),
]
Once = Annotated[bool, typer.Option("--once", help="Stop after the first finished workload.")]


def run(
    journal: JournalPath = None,
    record: RecordFolder = None,
    replay: Replayed = None,
    speed: Speed = 0.0,
    detector: Detector = DetectorName.ACTIVITY,
    interval: Interval = None,
    calibration: CalibrationPath = None,
    target: CountedAs = Target.ALGORITHMIC,
    chip: Chip = DEFAULT_CHIP,
    once: Once = False,
    ledger: LedgerPath = None,
    ledger_key: LedgerKey = None,
    listen: Listen = None,
    token_file: TokenFile = None,
    jobs: JobsFolder = None,
    otlp: Collector = None,
    json: AsJson = False,
    config: ConfigFile = None,  # noqa: ARG001  its callback has read it
) -> int:
    """Watch GPUs: find workloads as they end, estimate their FLOP, keep them in a journal or a ledger."""
    clock = stopping_clock()
    every = interval or INTERVALS[detector]
    label = f"replay of {replay.name}" if replay else "this machine"
    wanted = Wanted(target, data().is_terminal and not json, listen, token_file, otlp, ledger, label)
    plan = Plan(wanted, detector, every, journal, record, (ledger, ledger_key), jobs, once, json)
    with source_of(replay, clock, chip=chip, pace=(speed, every), say=say) as source:
        _watch(plan, source, clock, calibrations=calibrations_of(calibration, source))
    return 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a command line asked for, as ``run`` takes it."""

    wanted: Wanted
    detector: DetectorName
    interval_seconds: float
    journal: Path | None
    record: Path | None
    ledger: tuple[Path | None, Path | None]
    jobs: Path | None
    once: bool
    as_json: bool


def _watch(
    plan: Plan,
    source: LiveSource | ReplaySource,
    clock: HostClock,
    *,
    calibrations: Callable[[tuple[str, ...]], Calibration],
) -> None:
    lost, target = LostSamples(), plan.wanted.target
    scheduled = open_jobs(plan.jobs, source)
    findings = partial(_findings, source=source, lost=lost)
    told = Told(target, findings, scheduled.job_ids if scheduled else None)
    opened = open_book(plan.ledger, source, calibrations, findings=findings, interval=plan.interval_seconds)
    with opened as book, onlookers(plan.wanted, source, scheduled) as looking:
        kept = Kept(plan.journal, partial(entry_of, told=told), ledger=book)
        store = _store(plan.record, source, kept)
        tell = teller(lambda: kept.latest, looking.console, as_json=plan.as_json, target=target)
        tell = outliving_readers(tell, clock, is_kept=bool(plan.journal or book))
        daemon = Daemon(
            WorkloadFinder(WATCHES[plan.detector]),
            calibrations,
            outputs=Outputs(kept.is_known, kept.keep, _told(tell, looking), store, looking.take),
            baselines=kept.baselines,
            jobs=kept.jobs,
        )
        see = partial(seen, lost=lost, book=book)
        recording = _watched(daemon, source, store, see=see, once=plan.once)
        if book is not None:
            book.recording = recording


def _told(tell: Callable[[Finished], None], looking: Onlookers) -> Callable[[Finished], None]:
    """Tell a workload, and have those who look on count it."""

    def told(finished: Finished) -> None:
        tell(finished)
        looking.count(finished)

    return told


def _watched(
    daemon: Daemon,
    source: LiveSource | ReplaySource,
    store: SegmentStore | None,
    *,
    see: Callable[[Iterator[Round]], Iterator[Round]],
    once: bool,
) -> Path | None:
    """Recall what a killed daemon recorded, watch to the end, and return the sealed recording, if any."""
    batches = batched(source.rounds(store.last_instants() if store is not None else {}))
    if store is not None and store.last_instants():
        batches = _begun(batches)
        daemon.recall(see(iter_segments(store.folder)))
    daemon.run(see(batches), once=once)
    return store.seal(source.findings()) if store is not None else None


def _begun(batches: Iterator[Round]) -> Iterator[Round]:
    """Have sampling begin now: it goes on by itself while a long recording is recalled."""
    first = next(batches, None)
    return batches if first is None else chain([first], batches)


def _findings(
    finished: Finished, *, source: LiveSource | ReplaySource, lost: LostSamples
) -> tuple[Finding, ...]:
    """Return all that is to be known of a finished workload."""
    witnessed = finished.witnessed
    return (*witnessed.findings, *lost.findings(witnessed.session), *source.notes())


def _store(folder: Path | None, source: LiveSource | ReplaySource, kept: Kept) -> SegmentStore | None:
    """Continue the recording that a kill left in a folder, or start one there, named by its start.

    Instants go on after all that is known of these devices, also where the clock was set back.
    """
    uuids = {device.uuid for device in source.devices}
    unsealed = sorted(path.parent for path in folder.glob(f"*/{HEADER}")) if folder else []
    unsealed = [path for path in unsealed if is_unsealed(path)]
    store = SegmentStore.reopen(unsealed[-1]) if unsealed else None
    known_ns = (kept.last_ns(uuids), last_recorded_ns(folder, uuids) if folder else None)
    floor_ns = max((last_ns for last_ns in known_ns if last_ns is not None), default=None)
    source.join(store.header if store else None, floor_ns=floor_ns)
    if store or not folder:
        return store
    name = "".join(letter for letter in utc(source.clocks.utc_ns()) if letter.isalnum())
    return new_store(folder / name, source.clocks, source.provenance)
