"""Record: batches of samples into segments, and a sealed recording at the end. Judges nothing."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from flopwitness.app.losses import LostGpus
from flopwitness.app.ticking import Round, batched
from flopwitness.app.timeline import Timeline, boot_id
from flopwitness.core.device import Device
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Provenance
from flopwitness.core.trace import Trace
from flopwitness.storage.segments import SegmentsHeader, SegmentStore


class Store(Protocol):
    """Keeps a recording in progress."""

    def append(self, traces: Round) -> None:
        """Force samples to disk."""
        ...

    def seal(self, findings: tuple[Finding, ...]) -> Path | None:
        """Turn what was appended into one recording."""
        ...


class LiveSampler(Protocol):
    """What is asked of a live sampler."""

    source: str
    driver: str
    lost: Mapping[str, str]

    def sample(self) -> Round:
        """Return one sample of each device that answered."""
        ...

    def close(self) -> None:
        """Let go of the hardware."""
        ...


class FoundSampler(LiveSampler, Protocol):
    """A live sampler that says which devices it found."""

    devices: tuple[Device, ...]


class Clocks(Protocol):
    """Tells both times, as a ``Clock`` or a ``Timeline`` does."""

    def utc_ns(self) -> int:
        """Return nanoseconds since the Unix epoch."""
        ...

    def monotonic_ns(self) -> int:
        """Return nanoseconds since some instant; never set back."""
        ...


class Attended:
    """The rounds of a live source, on one line of instants; what goes wrong is told as it happens.

    A sample speaks of the time since the one before. The first of a device after a restart, or after it was
    lost, does not: nobody was there. Its gauges are blanked, so that the stretch counts as unseen and not as
    what the device happens to do now; counters bridge it.

    Parameters
    ----------
    rounds : iterable of Round
        What the source gives.
    timeline : Timeline
        Where its samples stand.
    lost : callable
        Asked after each round: why each device that does not answer does not, by UUID.
    say : callable
        Takes a line for people.
    known : collection of str
        Devices of which there are samples from before a restart, by UUID.
    """

    def __init__(
        self,
        rounds: Iterable[Round],
        timeline: Timeline,
        *,
        lost: Callable[[], Mapping[str, str]],
        say: Callable[[str], object],
        known: Collection[str] = (),
    ) -> None:
        self._rounds = rounds
        self._timeline = timeline
        self._lost = lost
        self._say = say
        self._gpus = LostGpus()
        self._away = set(known)
        self._silent: dict[str, str] = {}

    def __iter__(self) -> Iterator[Round]:
        for pieces in self._rounds:
            yield self._timeline.shifted(tuple(map(self._back, pieces)))
            if (step := self._timeline.step()) is not None:
                self._say(step)
            for line in self._gpus.note(self._missing(pieces), self._timeline.utc_ns()):
                self._say(line)

    def _missing(self, pieces: Round) -> Mapping[str, str]:
        """Return who does not answer, with the reason; one is back when its samples are, not sooner."""
        answered = {piece.device.uuid for piece in pieces}
        silent = {uuid: why for uuid, why in self._silent.items() if uuid not in answered}
        self._silent = silent | dict(self._lost())
        self._away |= self._silent.keys()
        return self._silent

    def _back(self, piece: Trace) -> Trace:
        """Return samples of a device, the first without its gauges where the device was away."""
        if piece.device.uuid not in self._away:
            return piece
        self._away.discard(piece.device.uuid)
        return gauges_blanked(piece, 1)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was told, added up."""
        return (*self._timeline.findings(), *self._gpus.findings())


def gauges_blanked(piece: Trace, n_samples: int) -> Trace:
    """Return samples with NaN for the first few of every gauge; cumulative counters stay."""
    columns = {name: column.copy() for name, column in piece.channels.items()}
    for name, column in columns.items():
        if not name.endswith("_total"):
            column[:n_samples] = np.nan
    return Trace(piece.device, piece.time_ns, columns)


def live_provenance(sampler: LiveSampler, interval_seconds: float) -> Provenance:
    """Return where live samples come from."""
    return Provenance(
        source=sampler.source, driver=sampler.driver, clock="host UTC", interval_seconds=interval_seconds
    )


def new_store(folder: Path, clock: Clocks, provenance: Provenance) -> SegmentStore:
    """Start a recording in a folder, with both clocks in its header; it bears the folder's name."""
    name = folder.resolve().name
    header = SegmentsHeader(name, provenance, clock.utc_ns(), clock.monotonic_ns(), boot_id())
    return SegmentStore.create(folder, header)


def record(
    rounds: Iterable[Round], store: Store, *, findings: Callable[[], tuple[Finding, ...]] = tuple
) -> Path | None:
    """Append every batch, then seal.

    Parameters
    ----------
    rounds : iterable of Round
        Such as a ticker, which ends when its clock is stopped.
    store : Store
        Where they go.
    findings : callable
        Asked after the last round: what the recording should say of itself.

    Returns
    -------
    Path or None
        The sealed recording; None where no device ever answered.

    Raises
    ------
    BadInputError
        When the disk is full; nothing is sealed, and what was appended stays readable.
    """
    for batch in batched(rounds):
        store.append(batch)
    return store.seal(findings())
