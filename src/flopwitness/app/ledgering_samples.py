"""A recording against a ledger: whether its samples are those that the ledger vouches for."""

from collections.abc import Iterable
from dataclasses import dataclass

from flopwitness.core.recording import Recording
from flopwitness.verify.ledger.entries import Entry
from flopwitness.verify.ledger.evidence import spans_of
from flopwitness.verify.ledger.samples import SampleSpan, span_digest


@dataclass(frozen=True, slots=True)
class SampleMatch:
    """What the comparison found.

    Attributes
    ----------
    n_alike : int
        Spans whose samples are all there, unaltered.
    altered : tuple of tuple of int and SampleSpan
        Entry and span whose samples are others, or not all there.
    n_elsewhere : int
        Spans of devices, or of times, that the recording does not reach.
    """

    n_alike: int
    altered: tuple[tuple[int, SampleSpan], ...]
    n_elsewhere: int


def matched_samples(entries: Iterable[Entry], recording: Recording) -> SampleMatch:
    """Compute the digests of a ledger's spans from a recording, and compare.

    A span that the recording reaches only in part counts as altered: samples of it are missing.
    """
    traces = {trace.device.uuid: trace for trace in recording.traces if len(trace)}
    n_alike, n_elsewhere = 0, 0
    altered: list[tuple[int, SampleSpan]] = []
    for entry in entries:
        for span in spans_of(entry):
            trace = traces.get(span.device.uuid)
            if trace is None or span.stop_ns < trace.time_ns[0] or span.start_ns >= trace.time_ns[-1]:
                n_elsewhere += 1
            elif span_digest(trace, span) == (span.n_samples, span.sha256):
                n_alike += 1
            else:
                altered.append((entry.sequence, span))
    return SampleMatch(n_alike, tuple(altered), n_elsewhere)
