"""``flopwitness watch``: the daemon. Builds its parts, and says what it finds."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import StrEnum
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live

from flopwitness.app.cli.estimate import SHOWN_METHODS, class_text, session_object
from flopwitness.app.cli.joblines import job_line, job_object
from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, CountedAs, LedgerKey, LedgerPath
from flopwitness.app.cli.output import data, print_json, utc
from flopwitness.app.cli.record import say, stopping_clock
from flopwitness.app.cli.watch_ledger import open_book, seen
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.keeping import Kept
from flopwitness.app.liveview import LiveView
from flopwitness.app.losses import LostSamples
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, shipped_calibration
from flopwitness.app.recorder import new_store
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.app.ticking import HostClock, Round, batched
from flopwitness.core.estimate import Estimate
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
Speed = Annotated[
    float, typer.Option("--speed", help="Speed of a replay; 0 is as fast as possible.", min=0.0)
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
    json: AsJson = False,
) -> int:
    """Watch GPUs: find workloads as they end, estimate their FLOP, keep them in a journal or a ledger."""
    view = LiveView(target) if data().is_terminal and not json else None
    clock = stopping_clock()
    every = interval or INTERVALS[detector]
    lost = LostSamples()
    with _source(replay, clock, chip=chip, speed=speed, interval=every) as source, _screen(view) as screen:
        calibrations = _calibrations(calibration, source)
        findings = partial(_findings, source=source, lost=lost)
        with open_book((ledger, ledger_key), source, calibrations, findings=findings, interval=every) as book:
            kept = Kept(journal, partial(_entry, target=target, findings=findings), ledger=book)
            store = _store(record, source, kept)
            tell = _teller(kept, view, screen, as_json=json, target=target)
            tell = _outliving_readers(tell, clock, is_kept=bool(journal or book))
            daemon = Daemon(
                WorkloadFinder(WATCHES[detector]),
                calibrations,
                outputs=Outputs(kept.is_known, kept.keep, tell, store, _shower(view, screen)),
                baselines=kept.baselines,
                jobs=kept.jobs,
            )
            recording = _watched(daemon, source, store, see=partial(seen, lost=lost, book=book), once=once)
            if book is not None:
                book.recording = recording
    return 0


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


def _source(
    replay: Path | None, clock: HostClock, *, chip: str, speed: float, interval: float
) -> LiveSource | ReplaySource:
    if replay:
        return ReplaySource(replay, clock, chip=chip, speed=speed)
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver

    sampler = best_sampler(interval_seconds=interval)
    return LiveSource(sampler, clock, interval_seconds=interval, say=say)


def _entry(
    finished: Finished, *, target: Target, findings: Callable[[Finished], tuple[Finding, ...]]
) -> dict[str, object]:
    """Return a finished workload as JSON values: those of ``estimate --json``, and exact instants.

    The FLOP of its job are those so far: an entry that was kept does not change.
    """
    witnessed = finished.witnessed
    session = witnessed.session
    instants = {"start_ns": session.start_ns, "stop_ns": session.stop_ns}
    answer = replace(witnessed, findings=findings(finished))
    job = {"job": job_object(finished.job)} if finished.job else {}
    return session_object(answer, target) | instants | {"n_samples": finished.n_samples} | job


def _findings(
    finished: Finished, *, source: LiveSource | ReplaySource, lost: LostSamples
) -> tuple[Finding, ...]:
    """Return all that is to be known of a finished workload."""
    witnessed = finished.witnessed
    return (*witnessed.findings, *lost.findings(witnessed.session), *source.notes())


def _line(finished: Finished, entry: Mapping[str, Any], target: Target) -> str:
    """Return a finished workload as one line for people, with what is to be known of it in brackets.

    Where it continues a job, the line goes on with why, and with what the job has spent.
    """
    session, estimates = finished.witnessed.session, finished.witnessed.estimates.get(target, {})
    one = next((estimates[name] for name in SHOWN_METHODS if name in estimates), None)
    flop = _flop_text(one) if one else "-"
    name = session.name or "workload"
    where = f"{session.duration_seconds:.1f} s on {len(session.traces)} GPUs"
    kind = class_text(finished.witnessed.opinion)
    codes = ", ".join(dict.fromkeys(finding["code"] for finding in entry["findings"]))
    told = f"{utc(session.start_ns)[:-8]} {name} {session.session_id}: {where}, work: {kind}, {flop}"
    told = f"{told} ({codes})" if codes else told
    continued = job_line(finished.job, target, SHOWN_METHODS) if finished.job else ""
    return f"{told}; {continued}" if continued else told


def _flop_text(estimate: Estimate) -> str:
    """Return a point with its ends, and what it can be at most where that has an end."""
    ends = f"[{estimate.low_flop:.4g}, {estimate.high_flop:.4g}]"
    most = f", at most {estimate.most_flop:.4g} if hostile" if estimate.most_flop < float("inf") else ""
    return f"{estimate.point_flop:.4g} FLOP {ends} {estimate.method}{most}"


def _teller(
    kept: Kept, view: LiveView | None, screen: Live | None, *, as_json: bool, target: Target
) -> Callable[[Finished], None]:
    def tell(finished: Finished) -> None:
        if as_json:
            print_json(kept.latest)
        else:
            console = screen.console if screen else data()
            console.print(_line(finished, kept.latest, target), markup=False, soft_wrap=True)
        if view:
            view.count(finished)
        sys.stdout.flush()

    return tell


def _outliving_readers(
    tell: Callable[[Finished], None], clock: HostClock, *, is_kept: bool
) -> Callable[[Finished], None]:
    """Go on where nobody reads standard output any more, if a journal keeps what is found; else stop."""

    def told(finished: Finished) -> None:
        try:
            tell(finished)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if is_kept:
                say("nobody reads standard output any more: workloads go to the journal alone")
            else:
                clock.stop()

    return told


def _shower(view: LiveView | None, screen: Live | None) -> Callable[[Daemon], None]:
    def show(daemon: Daemon) -> None:
        if view and screen:
            view.take(daemon)
            screen.update(view.table(), refresh=True)

    return show


def _screen(view: LiveView | None) -> AbstractContextManager[Live | None]:
    return Live(view.table(), console=data(), auto_refresh=False) if view else nullcontext()


def _calibrations(
    path: Path | None, source: LiveSource | ReplaySource
) -> Callable[[tuple[str, ...]], Calibration]:
    """Return what gives the calibration for chips: the file named, or the one shipped for them.

    Each chip is tried at once: what cannot be estimated is refused before hours of watching, not after.
    """
    if path:
        named = open_calibration(path)
        return lambda _: named
    shipped = cache(shipped_calibration)
    for device in source.devices:
        shipped((device.chip,))
    return shipped


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
