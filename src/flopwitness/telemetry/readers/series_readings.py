"""Series of a file to readings: by the pivot of ``telemetry.prometheus``, with the notes of a file."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace
from flopwitness.telemetry.prometheus.grouping import SLICE_LABEL, UUID_LABELS
from flopwitness.telemetry.prometheus.names import signal_named
from flopwitness.telemetry.prometheus.pivot import Pivot
from flopwitness.telemetry.prometheus.series import NAME, Series
from flopwitness.telemetry.readers.columns import numeric_channels
from flopwitness.telemetry.readers.fields import plain
from flopwitness.telemetry.readers.reading import UUID_INFERRED, Context, Readings

INDEX_LABELS = ("gpu", "minor_number", "index", "gpu_id", "device")
"""What numbers a GPU where no label holds its UUID, the most usual first."""


def identified(context: Context, labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels of a GPU's series with a UUID: capture, host and index where the file has none."""
    folded = {name.casefold(): value for name, value in labels.items()}
    if any(folded.get(name) for name in UUID_LABELS):
        return labels
    index = next((folded[name] for name in INDEX_LABELS if folded.get(name)), "")
    if not index or signal_named(labels.get(NAME, "")) is None:
        return labels
    context.notes.say(UUID_INFERRED)
    place = [context.capture, *filter(None, [folded.get("hostname", "")]), index]
    return {**labels, "UUID": ":".join(place)}


def identity_of(labels: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return which signal of which device or slice a series is; None where it is none that we know."""
    name = labels.get(NAME, "")
    if signal_named(name) is None:
        return None
    folded = {label.casefold(): value for label, value in labels.items()}
    uuid = next((folded[label] for label in UUID_LABELS if folded.get(label)), "")
    return (name.removesuffix("_total"), uuid, folded.get(SLICE_LABEL, "")) if uuid else None


class SeriesReader:
    """Turns windows of a file's series into readings.

    Parameters
    ----------
    context : Context
        Takes the notes; ``close`` adds those of the pivot.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pivot = Pivot()
        self._last_ns: dict[str, int] = {}
        self._channels: set[str] = set()

    def readings(self, series: Iterable[Series]) -> Iterator[Readings]:
        """Yield the readings of each device; samples before those already given are counted and left out."""
        known = [Series(identified(self._context, each.labels), each.time_ns, each.values) for each in series]
        self._count_late(known)
        for piece in self._pivot.take(known):
            self._last_ns[piece.device.uuid] = int(piece.time_ns[-1])
            self._channels |= set(piece.channels)
            yield self._reading(piece)

    def close(self) -> None:
        """Say what the pivot lost, and which signal one would expect and is not there."""
        for finding in self._pivot.findings():
            self._context.notes.say(finding)
        if self._channels and "power_watts" not in self._channels:
            message = "no series of power, which exporters normally give, is in the file"
            self._context.notes.say(Finding("missing-column", message, Severity.WARNING, "power_watts"))

    def _reading(self, piece: Trace) -> Readings:
        device = piece.device
        named = self._context.device("", uuid=device.uuid, chip=device.chip, host=device.host)
        fields = {name: plain(name) for name in piece.channels}
        channels = numeric_channels(self._context, piece.channels, fields)
        return Readings({0: named}, np.zeros(len(piece), dtype=np.int64), piece.time_ns, channels)

    def _count_late(self, series: Iterable[Series]) -> None:
        for each in series if self._last_ns else ():
            uuid = (identity_of(each.labels) or ("", "", ""))[1]
            n_late = int((each.time_ns <= self._last_ns.get(uuid, -1)).sum())
            what = f"samples of {uuid} come too late in a large file to be put in order and were left out"
            self._context.notes.count("late-rows", what, n=n_late, subject=uuid)
