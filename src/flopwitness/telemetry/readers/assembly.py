"""Readings of blocks to pieces of Traces, each device's in time order, and pieces to a Recording."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace, joined
from flopwitness.telemetry.readers.notes import Notes, on_one_line
from flopwitness.telemetry.readers.reading import Context, Format, Readings
from flopwitness.telemetry.readers.rules.judge import judged_whole
from flopwitness.telemetry.readers.traces import compared, median_step_seconds


@dataclass
class Ordering:
    """Puts readings in order, block by block.

    Rows of one block are sorted; of a later block, rows that are not after what a device had before are
    counted and left out. A file up to the size of a block is one, so all its rows count.

    Parameters
    ----------
    notes : Notes
        Takes what was out of order or there twice.
    """

    notes: Notes
    _last_ns: dict[str, int] = field(default_factory=dict)

    def pieces(self, readings: Readings) -> Iterator[Trace]:
        """Yield one piece for each device of a block that has a sample."""
        for device, own in _rows_by_device(readings):
            uuid = device.uuid
            rows = self._in_order(own, readings, uuid)
            if len(rows):
                yield _trace(device, rows, readings)

    def _in_order(self, rows: NDArray[np.int64], readings: Readings, uuid: str) -> NDArray[np.int64]:
        time_ns = readings.time_ns[rows]
        n_backward = int((np.diff(time_ns) < 0).sum())
        if n_backward:
            self.notes.count(
                "unsorted",
                f"times run back among the rows of {uuid}; rows were sorted",
                n=n_backward,
                subject=uuid,
            )
            order = np.argsort(time_ns, kind="stable")
            rows, time_ns = rows[order], time_ns[order]
        last_ns = self._last_ns.get(uuid)
        if last_ns is not None and len(rows) and time_ns[0] <= last_ns:
            is_late = time_ns <= last_ns
            what = f"rows of {uuid} come too late in a large file to be put in order and were left out"
            self.notes.count("late-rows", what, n=int(is_late.sum()), subject=uuid)
            rows, time_ns = rows[~is_late], time_ns[~is_late]
        is_repeat = np.concatenate([[False], np.diff(time_ns) == 0]) if len(rows) else np.array([], np.bool_)
        if is_repeat.any():
            differs = _differs(rows, is_repeat, readings)
            for code, is_one, what in (
                ("duplicate-times", differs, "with other values; the first row of each stamp was kept"),
                ("repeated-rows", is_repeat & ~differs, "with the same values; it counts once"),
            ):
                severity = Severity.WARNING if code == "duplicate-times" else Severity.NOTE
                self.notes.count(
                    code,
                    f"rows of {uuid} repeat a stamp {what}",
                    n=int(is_one.sum()),
                    subject=uuid,
                    severity=severity,
                )
            rows = rows[~is_repeat]
        if len(rows):
            self._last_ns[uuid] = int(readings.time_ns[rows[-1]])
        return rows


def _rows_by_device(readings: Readings) -> Iterator[tuple[Device, NDArray[np.int64]]]:
    """Yield the rows of each device that has some; numbers of one UUID are one device."""
    labels = np.array(list(readings.devices), dtype=np.int64)
    devices = list(readings.devices.values())
    order = np.argsort(labels)
    first_of: dict[str, int] = {}
    firsts = np.array([first_of.setdefault(device.uuid, place) for place, device in enumerate(devices)])
    whose = firsts[order[np.searchsorted(labels[order], readings.index)]]
    present = np.flatnonzero(np.bincount(whose)).tolist()
    if len(present) == 1:
        yield devices[present[0]], np.arange(len(whose))
        return
    rows = np.argsort(whose, kind="stable")
    stops = np.searchsorted(whose[rows], present, side="right").tolist()
    for place, start, stop in zip(present, (0, *stops), stops, strict=False):
        yield devices[place], rows[start:stop]


def _differs(rows: NDArray[np.int64], is_repeat: NDArray[np.bool_], readings: Readings) -> NDArray[np.bool_]:
    """Say which repeated rows hold other values than the first of their stamp."""
    firsts = rows[np.maximum.accumulate(np.where(is_repeat, 0, np.arange(len(rows))))]
    differs = np.zeros(len(rows), dtype=np.bool_)
    for column in readings.channels.values():
        kept, dropped = column[firsts], column[rows]
        differs |= (kept != dropped) & ~(np.isnan(kept) & np.isnan(dropped))
    return differs & is_repeat


def _trace(device: Device, rows: NDArray[np.int64], readings: Readings) -> Trace:
    names = tuple(readings.channels)
    time_ns = readings.time_ns[rows]
    block = np.empty((len(names), len(rows)))
    for place, name in enumerate(names):
        np.take(readings.channels[name], rows, out=block[place])
    for fresh in (time_ns, block):
        fresh.flags.writeable = False  # nobody else has it: it need not be copied again
    return Trace.stacked(device, time_ns, names, block=block)


def recording_of(context: Context, form: Format, pieces: Iterable[Trace]) -> Recording:
    """Join pieces to a recording and judge it whole; a channel that never answered counts as not offered.

    Raises
    ------
    BadInputError
        When there is no sample.
    """
    by_uuid: dict[str, list[Trace]] = defaultdict(list)
    for piece in pieces:
        by_uuid[piece.device.uuid].append(piece)
    whole = [joined(_of_one_device(parts)) for parts in by_uuid.values()]
    judged = judged_whole(whole, context.notes, is_relayed=form.is_relayed)
    traces = tuple(_offered(trace, context.notes) for trace in judged)
    if not traces:
        raise no_sample(context, form)
    findings = (*file_findings(context), *map(on_one_line, compared(traces)))
    return Recording(
        context.capture, traces, provenance_of(context, form, median_step_seconds(traces)), findings
    )


def no_sample(context: Context, form: Format) -> BadInputError:
    """Return the error for a file without a single usable sample, with the reason that was noted first."""
    found = [each for each in context.notes.findings() if each.severity is not Severity.NOTE]
    rows = [each.message for each in found if each.code == "bad-row"]
    noted = next(iter([*rows, *(each.message for each in found)]), "none")
    return context.refused("", expected=f"samples in {form.title}", got=noted)


def file_findings(context: Context) -> tuple[Finding, ...]:
    """Return what reading lost, once all pieces were taken."""
    if context.input.is_gzip_cut:
        context.notes.say(Finding("truncated", "the gzip stream has no end; what came before was kept"))
    return context.notes.findings()


def provenance_of(context: Context, form: Format, interval_seconds: float | None) -> Provenance:
    """Return where a recording came from."""
    return Provenance(
        source=form.name,
        input_sha256=context.input.sha256,
        host=context.asked.host,
        clock="UTC as written" if context.asked.zone is None else f"written as {context.asked.zone}",
        interval_seconds=interval_seconds,
        reader=f"{form.name} {form.version}",
    )


def _of_one_device(parts: list[Trace]) -> list[Trace]:
    """Return pieces under the device that the first of them names: a later one may know less."""
    device = parts[0].device
    return [part if part.device == device else Trace(device, part.time_ns, part.channels) for part in parts]


def _offered(trace: Trace, notes: Notes) -> Trace:
    empty = [name for name, column in trace.channels.items() if np.isnan(column).all()]
    for name in empty:
        message = f"{name} holds no answer throughout; the channel counts as not offered"
        notes.say(Finding("channel-absent", message, Severity.NOTE, subject=name))
    if not empty:
        return trace
    return Trace(trace.device, trace.time_ns, {n: c for n, c in trace.channels.items() if n not in empty})
