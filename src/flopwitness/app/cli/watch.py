"""``flopwitness watch``: the daemon. Builds its parts, and says what it finds."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.cli.estimate import SHOWN_METHODS, session_object
from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, CountedAs
from flopwitness.app.cli.output import data, print_json, talk, utc
from flopwitness.app.cli.record import LiveSampler, live_provenance, stopping_clock
from flopwitness.app.daemon import Daemon, Finished, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.liveview import LiveView
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, open_recording, shipped_calibration
from flopwitness.app.recorder import lost_findings, new_store
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.ticking import HostClock, Round, Ticker, batched
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance
from flopwitness.core.session import Session
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityWatch
from flopwitness.detect.polling import PollingWatch
from flopwitness.estimate.calibration import Calibration
from flopwitness.storage.journal import Journal
from flopwitness.storage.segments import HEADER, SegmentStore, is_unsealed, iter_segments


class DetectorName(StrEnum):
    """How workloads are found."""

    ACTIVITY = "activity"
    EXPERIMENT = "experiment"


WATCHES = {DetectorName.ACTIVITY: ActivityWatch, DetectorName.EXPERIMENT: PollingWatch}
INTERVALS = {DetectorName.ACTIVITY: 0.1, DetectorName.EXPERIMENT: 0.5}
"""Sampling interval where none is given; the experiment sampled twice a second and polled every 1.5 s."""

BASELINES = "idle-baselines.json"

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
    json: AsJson = False,
) -> int:
    """Watch GPUs: find workloads as they end, estimate their FLOP, keep them in a journal."""
    view = LiveView(target) if data().is_terminal and not json else None
    clock = stopping_clock()
    source = _Replay(replay, chip, clock, speed) if replay else _Live(clock, interval or INTERVALS[detector])
    kept = _Kept(journal, target, as_json=json)
    with source, _screen(view) as screen:
        store = _store(record, clock, source.provenance) if record else None
        daemon = Daemon(
            WorkloadFinder(WATCHES[detector]),
            _calibrations(calibration),
            outputs=Outputs(
                kept.is_known, kept.keep, _teller(kept, view, screen), store, _shower(view, screen)
            ),
            baselines=kept.baselines,
        )
        if store is not None:
            daemon.recall(iter_segments(store.folder))
        daemon.run(batched(source.rounds(daemon.finder.last_instants())), once=once)
        if store is not None:
            store.seal(source.findings())
    return 0


class _Live(AbstractContextManager["_Live"]):
    """The GPUs of this machine."""

    def __init__(self, clock: HostClock, interval: float) -> None:
        from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver

        self._clock, self._interval = clock, interval
        self._sampler: LiveSampler = best_sampler(interval_seconds=interval)
        self._ticker: Ticker | None = None
        self.provenance = live_provenance(self._sampler, interval)

    def rounds(self, after_ns: Mapping[str, int]) -> Iterator[Round]:
        """Yield rounds until the clock is stopped; say on standard error when a GPU is lost or comes back."""
        self._ticker = Ticker(self._sampler, self._clock, interval_seconds=self._interval, after_ns=after_ns)
        lost: dict[str, str] = {}
        for pieces in self._ticker:
            if self._sampler.lost.keys() != lost.keys():
                lost = dict(self._sampler.lost)
                talk().print("lost: " + (", ".join(map(" ".join, lost.items())) or "none"), markup=False)
            yield pieces

    def findings(self) -> tuple[Finding, ...]:
        """Return what sampling lost."""
        own = self._ticker.findings() if self._ticker else ()
        return (*own, *lost_findings(self._sampler.lost))

    def __exit__(self, *_: object) -> None:
        self._sampler.close()


class _Replay(AbstractContextManager["_Replay"]):
    """A recording in place of this machine."""

    def __init__(self, path: Path, chip: str, clock: HostClock, speed: float) -> None:
        self._clock, self._speed = clock, speed
        self._recording = open_recording(path, chip=chip)
        self.provenance = self._recording.provenance

    def rounds(self, after_ns: Mapping[str, int]) -> Iterator[Round]:
        """Yield the rounds after these instants."""
        sampler = ReplaySampler(self._recording, after_ns=after_ns)
        return replayed(sampler, self._clock, speed=self._speed)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was known of the recording."""
        return self._recording.findings

    def __exit__(self, *_: object) -> None:
        """Let go of nothing."""


class _Kept:
    """The journal, if any, and the idle baselines beside it."""

    def __init__(self, path: Path | None, target: Target, *, as_json: bool) -> None:
        self._journal = Journal(path) if path else None
        self._baselines_path = path.parent / BASELINES if path else None
        self._told: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for entry in self._journal.entries() if self._journal else ():
            for uuid in entry["devices"]:
                lane = self._told.setdefault((uuid, entry["name"]), [])
                lane.append((entry["start_ns"], entry["stop_ns"]))
        self._target = target
        self.as_json = as_json
        self.baselines = IdleBaselines()
        if self._baselines_path and self._baselines_path.exists():
            self.baselines.load(self._baselines_path)

    def is_known(self, session: Session) -> bool:
        """Say whether the journal holds work of these devices that overlaps.

        Not the identity alone: after a restart a partner's end may be known sooner, which changes who is
        joined to whom.
        """
        return all(
            any(
                start_ns < session.stop_ns and session.start_ns < stop_ns
                for start_ns, stop_ns in self._told.get((trace.device.uuid, session.name), ())
            )
            for trace in session.traces
        )

    def keep(self, finished: Finished) -> None:
        """Force a workload, and the baselines, to disk."""
        if self._journal is not None and self._baselines_path is not None:
            self._journal.append(self.entry(finished))
            self.baselines.save(self._baselines_path)

    def entry(self, finished: Finished) -> dict[str, object]:
        """Return a finished workload as JSON values: those of ``estimate --json``, and exact instants."""
        session = finished.witnessed.session
        instants = {"start_ns": session.start_ns, "stop_ns": session.stop_ns}
        return session_object(finished.witnessed, self._target) | instants | {"n_samples": finished.n_samples}

    def line(self, finished: Finished) -> str:
        """Return a finished workload as one line for people."""
        session, estimates = finished.witnessed.session, finished.witnessed.estimates.get(self._target, {})
        one = next((estimates[name] for name in SHOWN_METHODS if name in estimates), None)
        flop = (
            f"{one.point_flop:.4g} FLOP [{one.low_flop:.4g}, {one.high_flop:.4g}] {one.method}"
            if one
            else "-"
        )
        name = session.name or "workload"
        where = f"{session.duration_seconds:.1f} s on {len(session.traces)} GPUs"
        return f"{utc(session.start_ns)[:-8]} {name} {session.session_id}: {where}, {flop}"


def _teller(kept: _Kept, view: LiveView | None, screen: Live | None) -> Callable[[Finished], None]:
    def tell(finished: Finished) -> None:
        if kept.as_json:
            print_json(kept.entry(finished))
        else:
            console = screen.console if screen else data()
            console.print(kept.line(finished), markup=False, soft_wrap=True)
        if view:
            view.count(finished)
        sys.stdout.flush()

    return tell


def _shower(view: LiveView | None, screen: Live | None) -> Callable[[Daemon], None]:
    def show(daemon: Daemon) -> None:
        if view and screen:
            view.take(daemon)
            screen.update(view.table(), refresh=True)

    return show


def _screen(view: LiveView | None) -> AbstractContextManager[Live | None]:
    return Live(view.table(), console=data(), auto_refresh=False) if view else nullcontext()


def _calibrations(path: Path | None) -> Callable[[tuple[str, ...]], Calibration]:
    """Return what gives the calibration for chips: the file named, or the one shipped for them."""
    if path:
        named = open_calibration(path)
        return lambda _: named
    return cache(shipped_calibration)


def _store(folder: Path, clock: HostClock, provenance: Provenance) -> SegmentStore:
    """Continue the recording that a kill left in a folder, or start one there, named by its start."""
    unfinished = sorted(path.parent for path in folder.glob(f"*/{HEADER}") if is_unsealed(path.parent))
    if unfinished:
        return SegmentStore.reopen(unfinished[-1])
    name = "".join(letter for letter in utc(clock.utc_ns()) if letter.isalnum())
    return new_store(folder / name, clock, provenance)
