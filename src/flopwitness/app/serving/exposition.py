"""``/metrics``: a snapshot as Prometheus scrapes it. What is not known is not there, never 0."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from flopwitness.app.serving.exposition_gpus import gpu_families
from flopwitness.app.serving.exposition_text import Family, counter, gauge, info, labels, rendered
from flopwitness.app.serving.exposition_workloads import workload_families
from flopwitness.app.serving.snapshot import LedgerNow, Snapshot
from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

HEAD_DIGITS = 12
"""Hexadecimal digits of a ledger's head that a sample carries: 48 bits, which a float64 holds exactly."""


def exposition(snapshot: Snapshot, *, openmetrics: bool = False) -> bytes:
    """Return a snapshot as metrics.

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    openmetrics : bool
        Whether to write OpenMetrics 1.0 in place of Prometheus' text format 0.0.4.

    Returns
    -------
    bytes
        UTF-8. Names begin with ``flopwitness_``; units are base units. A value that is not known (NaN) is
        left out, a bound that is not known is ``+Inf``.
    """
    return rendered(_families(snapshot), openmetrics=openmetrics)


def _families(snapshot: Snapshot) -> Iterator[Family]:
    yield info("flopwitness_build", "Version of the watcher.", [labels(version=_version())])
    yield from _watching(snapshot)
    yield from gpu_families(snapshot.devices)
    yield from workload_families(snapshot)
    yield from _findings(snapshot.findings)
    if snapshot.ledger is not None:
        yield from _ledger(snapshot.ledger)


@cache
def _version() -> str:
    """Return the installed version; empty where the package is not installed but lies beside."""
    try:
        return version("flopwitness")
    except PackageNotFoundError:
        return ""


def _watching(snapshot: Snapshot) -> Iterator[Family]:
    if snapshot.at_ns:
        yield gauge(
            "flopwitness_last_sample_timestamp_seconds",
            "The last sample of any GPU.",
            [("", snapshot.at_ns / NANOSECONDS_PER_SECOND)],
        )
    yield counter("flopwitness_samples", "Samples taken, over all GPUs.", [("", float(snapshot.n_samples))])
    yield counter(
        "flopwitness_missed_ticks",
        "Rounds of samples that were missed.",
        [("", float(snapshot.n_missed))],
    )


def _findings(findings: tuple[Finding, ...]) -> Iterator[Family]:
    """Yield the latest findings by code: how many are kept, and when the last of them was."""
    named = [(labels(code=each.code, severity=each.severity.value), each) for each in findings]
    yield gauge(
        "flopwitness_findings",
        "Findings among the latest that are kept.",
        [(label, float(n)) for label, n in Counter(label for label, _ in named).items()],
    )
    last: dict[str, float] = {}
    for label, each in named:
        instants = [instant for instant in (each.start_ns, each.stop_ns) if instant is not None]
        if instants:
            last[label] = max(last.get(label, 0.0), max(instants) / NANOSECONDS_PER_SECOND)
    yield gauge(
        "flopwitness_finding_last_timestamp_seconds",
        "Up to when the latest finding of a code reaches.",
        list(last.items()),
    )


def _ledger(ledger: LedgerNow) -> Iterator[Family]:
    yield info("flopwitness_ledger", "Where the ledger lies.", [labels(path=ledger.path)])
    yield counter("flopwitness_ledger_entries", "Entries of the ledger.", [("", float(ledger.n_entries))])
    if ledger.head_sha256:
        yield gauge(
            "flopwitness_ledger_head_prefix",
            "First 48 bits of the hash of the ledger's last entry: kept elsewhere, it pins what was written.",
            [("", float(int(ledger.head_sha256[:HEAD_DIGITS], 16)))],
        )
