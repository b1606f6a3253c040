"""What kind of work a stream shows: windows are weighed as they pass, and only what they say is kept.

A window of the stream lies on the stream's own grid, not on a session's: the opinion on a session rests on
the windows that lie wholly inside it, edges left out. A week costs no more memory than an hour.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.ticking import Round
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.core.workclass import ClassOpinion
from flopwitness.detect.lost import ACTIVITY
from flopwitness.estimate.classify.opinion import Classifier, Seen, judged, seen_in, unknown
from flopwitness.estimate.classify.windows import (
    SAMPLES_A_WINDOW,
    WINDOW_SECONDS,
    window_values,
)

MAX_ROWS = 8192
"""Rows of a device; then pairs of neighbours become one, so that half the places are free again."""


class OpinionWatch:
    """Takes samples and says of sessions what kind of work they were.

    Parameters
    ----------
    classifier_for : callable
        Gives the classifier for a chip, or None where there is none.
    max_rows : int
        As ``MAX_ROWS``.
    """

    def __init__(
        self, classifier_for: Callable[[str], Classifier | None], *, max_rows: int = MAX_ROWS
    ) -> None:
        self._classifier_for = classifier_for
        self._max_rows = max_rows
        self._buffers: dict[str, list[Trace]] = {}
        self._rows: dict[str, list[_Row]] = {}

    @property
    def n_rows(self) -> int:
        """How much is kept, over all devices."""
        return sum(map(len, self._rows.values()))

    def observe(self, pieces: Round) -> None:
        """Take the next samples of each device."""
        for piece in pieces:
            # All that tells a lost sample from idle, or a stream would judge other samples than a file.
            kept = {name: piece[name] for name in ACTIVITY if name in piece}
            buffer = self._buffers.setdefault(piece.device.uuid, [])
            buffer.append(Trace(piece.device, piece.time_ns, kept))
            if sum(map(len, buffer)) >= SAMPLES_A_WINDOW and _seconds(buffer) >= WINDOW_SECONDS:
                self._weigh(joined(buffer))
                buffer.clear()

    def opinion(self, session: Session) -> ClassOpinion:
        """Say what kind of work a session was, from its stretch and devices alone."""
        chips = sorted({trace.device.chip for trace in session.traces})
        if any(self._classifier_for(chip) is None for chip in chips):
            return unknown(f"no classifier was fitted for {', '.join(chips)}")
        inside = [
            row.seen
            for trace in session.traces
            for row in self._rows.get(trace.device.uuid, ())
            if row.start_ns >= session.start_ns and row.stop_ns <= session.stop_ns
        ]
        if not inside:
            return unknown("no whole window of samples with every signal lies inside it")
        return judged(_added(inside))

    def _weigh(self, trace: Trace) -> None:
        classifier = self._classifier_for(trace.device.chip)
        if classifier is None:
            return
        values, step_seconds = window_values(trace)
        if not len(values):
            return
        rows = self._rows.setdefault(trace.device.uuid, [])
        ends = int(trace.time_ns[0]), int(trace.time_ns[-1])
        rows.append(_Row(*ends, seen_in(values, step_seconds, classifier)))
        if len(rows) > self._max_rows:
            self._rows[trace.device.uuid] = _halved(rows)


class _Row(NamedTuple):
    """What one stretch of the stream said."""

    start_ns: int
    stop_ns: int
    seen: Seen


def _halved(rows: list[_Row]) -> list[_Row]:
    """Return the same rows, each pair as one; the last stays as it is where their number is odd."""
    pairs = [
        _Row(first.start_ns, second.stop_ns, _added((first.seen, second.seen)))
        for first, second in zip(rows[::2], rows[1::2], strict=False)
    ]
    return pairs + rows[len(pairs) * 2 :]


def _added(parts: Iterable[Seen]) -> Seen:
    every = list(parts)
    logs: NDArray[np.float64] = np.sum([part.summed_logs for part in every], axis=0)
    votes: NDArray[np.int64] = np.sum([part.votes for part in every], axis=0)
    return Seen(logs, votes, sum(part.n_unfamiliar for part in every))


def _seconds(buffer: list[Trace]) -> float:
    n_ns = int(buffer[-1].time_ns[-1]) - int(buffer[0].time_ns[0])
    return n_ns / NANOSECONDS_PER_SECOND
