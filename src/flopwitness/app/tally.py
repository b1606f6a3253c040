"""Features of one device as time goes by: recent samples are kept, older ones only as sums.

Features add up over time, so a workload of days needs no more memory than one of minutes. A stretch is summed
where all channels answered, because blanks are filled in from their neighbours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.estimate.features.row import FEATURE_NAMES, session_features

MAX_DIRTY_STRETCHES = 10
"""Without any instant at which all channels answered, a stretch grows to this many times its size."""

MAX_USELESS_SAMPLES = 128
"""Samples that nobody needs may stay until there are this many: copying the others costs time."""


@dataclass(frozen=True, slots=True)
class Summed:
    """Features of one device over a stretch.

    Attributes
    ----------
    start_ns, stop_ns : int
        The stretch, UTC nanoseconds.
    values : mapping of str to float
        As ``session_features`` gives them for an idle power of 0.
    n_samples : int
        Samples after the start, up to the stop.
    starts_at_sample : bool
        Whether there is one at the start.
    """

    start_ns: int
    stop_ns: int
    values: Mapping[str, float]
    n_samples: int
    starts_at_sample: bool

    @property
    def seconds(self) -> float:
        """Length of the stretch."""
        return (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND

    def within(self, start_ns: int, stop_ns: int) -> "Summed":
        """Return the share that falls into a stretch, as if all were spread evenly."""
        first, last = max(start_ns, self.start_ns), min(stop_ns, self.stop_ns)
        if (first, last) == (self.start_ns, self.stop_ns):
            return self
        share = (last - first) / (self.stop_ns - self.start_ns)
        values = {name: value * share for name, value in self.values.items()}
        return Summed(first, last, values, round(self.n_samples * share), starts_at_sample=False)


def added(parts: Iterable[Summed]) -> Summed:
    """Add up stretches that follow each other.

    What is NaN in one part and known in others was not seen there: the known rate is carried over, as within
    a session. What is NaN in all stays NaN.
    """
    found = list(parts)
    if len(found) == 1:
        return found[0]
    rows = np.array([[part.values[name] for name in FEATURE_NAMES] for part in found])
    seconds = np.array([part.seconds for part in found])[:, None]
    known = np.isfinite(rows)
    known_seconds = np.where(known, seconds, 0.0).sum(axis=0)
    totals = np.where(known, rows, 0.0).sum(axis=0)
    missing = ~known.all(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        totals = np.where(missing, totals * (seconds.sum() / known_seconds), totals)
    return Summed(
        found[0].start_ns,
        found[-1].stop_ns,
        dict(zip(FEATURE_NAMES, totals.tolist(), strict=True)),
        sum(part.n_samples for part in found),
        found[0].starts_at_sample,
    )


class Tally:
    """The samples of one device that are still needed, and sums of those that are not.

    Parameters
    ----------
    first : Trace
        Its first samples, at least one.
    """

    def __init__(self, first: Trace) -> None:
        self.device: Device = first.device
        self.channels: set[str] = set(first.channels)
        self.last_step_ns = _last_step_ns(first, int(first.time_ns[0]))
        self._recent = [first]
        self._sums: list[Summed] = []

    @property
    def last_ns(self) -> int:
        """Its last sample."""
        return int(self._recent[-1].time_ns[-1])

    @property
    def n_kept(self) -> int:
        """Samples in memory."""
        return sum(len(piece) for piece in self._recent)

    def append(self, piece: Trace) -> None:
        """Take samples, all after the ones before."""
        self.channels |= set(piece.channels)
        self.last_step_ns = _last_step_ns(piece, self.last_ns)
        self._recent.append(piece)

    def features(self, start_ns: int, stop_ns: int) -> Summed:
        """Return the features of a stretch, from sums as far as it is summed, else from its samples."""
        parts = [
            each.within(start_ns, stop_ns)
            for each in self._sums
            if each.start_ns < stop_ns and each.stop_ns > start_ns
        ]
        first_ns = max(start_ns, self._sums[-1].stop_ns) if parts else start_ns
        if first_ns < stop_ns or not parts:
            parts.append(self._measured(first_ns, stop_ns))
        return added(parts)

    def forget_before(self, instant_ns: int) -> None:
        """Drop sums and samples from before an instant, but for the last sample there."""
        self._sums = [each for each in self._sums if each.stop_ns > instant_ns]
        while len(self._recent) > 1 and self._recent[1].time_ns[0] <= instant_ns:
            del self._recent[0]
        head = self._recent[0]
        n_before = int(head.time_ns.searchsorted(instant_ns, side="left")) - 1
        if n_before >= MAX_USELESS_SAMPLES:
            self._recent[0] = _copied(head.between(n_before, len(head)))

    def compact(self, until_ns: int, boundaries: Iterable[int], *, stretch_ns: int) -> None:
        """Sum the samples up to an instant at which every channel answered, in stretches apart at boundaries.

        Parameters
        ----------
        until_ns : int
            The latest instant.
        boundaries : iterable of int
            Where a workload may start or stop.
        stretch_ns : int
            How much is worth it; with less, nothing is done.
        """
        whole = self._whole()
        start_ns = self._sums[-1].stop_ns if self._sums else min([*boundaries, until_ns])
        if until_ns - start_ns < stretch_ns:
            return
        clean = _clean_instants(whole)
        clean = clean[(clean > start_ns) & (clean <= until_ns)]
        if not len(clean) and until_ns - start_ns > MAX_DIRTY_STRETCHES * stretch_ns:
            clean = whole.time_ns[(whole.time_ns > start_ns) & (whole.time_ns <= until_ns)]
        if not len(clean):
            return
        cuts = [start_ns, *sorted({b for b in boundaries if start_ns < b < clean[-1]}), int(clean[-1])]
        self._sums += [self._measured(*ends) for ends in pairwise(cuts)]
        first = int(whole.time_ns.searchsorted(cuts[-1], side="left")) - 1
        self._recent = [_copied(whole.between(max(first, 0), len(whole)))]

    def _measured(self, start_ns: int, stop_ns: int) -> Summed:
        session = cut_session((self._whole(),), start_ns, stop_ns)
        values = session_features(session, {self.device.uuid: 0.0}).values
        time_ns = session.traces[0].time_ns
        n_samples = int(((time_ns > start_ns) & (time_ns <= stop_ns)).sum())
        return Summed(start_ns, stop_ns, values, n_samples, bool((time_ns == start_ns).any()))

    def _whole(self) -> Trace:
        self._recent = [joined(self._recent)]
        return self._recent[0]


def stub_session(start_ns: int, stop_ns: int, devices: Iterable[Device], name: str) -> Session:
    """Return a session without its samples: its stretch, devices and identity."""
    return Session(start_ns, stop_ns, tuple(Trace(device, [], {}) for device in devices), name)


def _last_step_ns(piece: Trace, before_ns: int) -> int:
    """Return when the step before the last sample began."""
    return int(piece.time_ns[-2]) if len(piece) > 1 else before_ns


def _clean_instants(trace: Trace) -> NDArray[np.int64]:
    """Return the samples at which, and beside which, every channel answered that answers most rounds.

    Counters that are read now and then need to stand at the instant alone: what lies between two readings is
    known from them. A gauge that is read now and then enters no feature beside one that is read each round.
    """
    beside, clean = np.ones((2, len(trace)), dtype=np.bool_)
    for name, column in trace.channels.items():
        answered = ~np.isnan(column)
        n_answered = int(answered.sum())
        if 2 * n_answered >= len(trace):
            beside &= answered
        elif n_answered and name.endswith("_total"):
            clean &= answered
    clean[1:-1] &= beside[:-2] & beside[1:-1] & beside[2:]
    clean[[0, -1]] = False
    instants: NDArray[np.int64] = trace.time_ns[clean]
    return instants


def _copied(trace: Trace) -> Trace:
    """Return the same samples in memory of their own, so that the piece they came from can go."""
    columns = {name: column.copy() for name, column in trace.channels.items()}
    return Trace(trace.device, trace.time_ns.copy(), columns)
