"""The ledger of ``flopwitness watch``; what it needs is imported only where one is asked for."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from flopwitness.app.cli.options import both_or_neither
from flopwitness.app.daemon import Finished
from flopwitness.app.losses import LostSamples
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.app.ticking import Round
from flopwitness.core.finding import Finding
from flopwitness.estimate.calibration import Calibration

if TYPE_CHECKING:
    from flopwitness.app.ledgering_watch import WatchLedger


def open_book(
    paths: tuple[Path | None, Path | None],
    source: LiveSource | ReplaySource,
    calibration_for: Callable[[tuple[str, ...]], Calibration],
    *,
    findings: Callable[[Finished], tuple[Finding, ...]],
    interval: float,
) -> "AbstractContextManager[WatchLedger | None]":
    """Open the ledger that was asked for, if any.

    Parameters
    ----------
    paths : tuple of Path or None
        The ledger and its private key: both or neither.
    source : LiveSource or ReplaySource
        What is watched.
    calibration_for : callable
        Gives the calibration for chips.
    findings : callable
        Gives all that is to be known of a finished workload.
    interval : float
        Seconds between samples.

    Raises
    ------
    BadInputError
        When only one of the two is given, or they cannot be used.
    """
    pair = both_or_neither("watch", *paths)
    if pair is None:
        return nullcontext()
    from flopwitness.app.ledgering_watch import WatchFacts, WatchLedger  # noqa: PLC0415  needs cryptography

    is_replay = isinstance(source, ReplaySource)
    facts = WatchFacts(source.devices, source.provenance, calibration_for, interval, findings, is_replay)
    return WatchLedger(*pair, facts)


def seen(batches: Iterable[Round], lost: LostSamples, book: "WatchLedger | None") -> Iterator[Round]:
    """Have all who look at samples look at them before the daemon does."""
    counted = lost.passing(batches)
    return counted if book is None else book.passing(counted)
