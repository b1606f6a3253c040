"""Record: batches of samples into segments, and a sealed recording at the end. Judges nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from flopwitness.app.ticking import Clock, Round, Ticker, batched
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance
from flopwitness.storage.segments import SegmentsHeader, SegmentStore


class Store(Protocol):
    """Keeps a recording in progress."""

    def append(self, traces: Round) -> None:
        """Force samples to disk."""
        ...

    def seal(self, findings: tuple[Finding, ...]) -> Path | None:
        """Turn what was appended into one recording."""
        ...


def new_store(folder: Path, clock: Clock, provenance: Provenance) -> SegmentStore:
    """Start a recording in a folder, with both clocks in its header; it bears the folder's name."""
    header = SegmentsHeader(folder.resolve().name, provenance, clock.utc_ns(), clock.monotonic_ns())
    return SegmentStore.create(folder, header)


def record(ticker: Ticker, store: Store, *, lost: Callable[[], Mapping[str, str]] = dict) -> Path | None:
    """Append every batch, then seal.

    Parameters
    ----------
    ticker : Ticker
        Gives the rounds; it ends when its clock is stopped.
    store : Store
        Where they go.
    lost : callable
        Asked after the last round: why each device that stopped to answer did so, by UUID.

    Returns
    -------
    Path or None
        The sealed recording; None where no device ever answered.

    Raises
    ------
    BadInputError
        When the disk is full; nothing is sealed, and what was appended stays readable.
    """
    for batch in batched(ticker):
        store.append(batch)
    return store.seal((*ticker.findings(), *lost_findings(lost())))


def lost_findings(lost: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return a finding for each device that was lost; ``lost`` gives the reason by UUID."""
    return tuple(
        Finding("lost-device", f"GPU {uuid} was lost: {why}", Severity.ALARM, subject=uuid)
        for uuid, why in lost.items()
    )
