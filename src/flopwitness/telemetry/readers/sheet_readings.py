"""Rows of text cells to readings, as a sheet declares them, whatever file the rows came from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.columns import Keys, channels_of, keys_of
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.numbering import Numbering
from flopwitness.telemetry.readers.reading import Context, Readings
from flopwitness.telemetry.readers.sheet import Sheet
from flopwitness.telemetry.readers.sheet_clocks import Times, times_of
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.ticks import Places, rows_in_tick

if TYPE_CHECKING:
    from flopwitness.core.device import Device

Rows = Callable[[Context], Iterator[Table]]
"""Reads the rows of a file; may be asked again for another pass, also over the head of it."""


def sheet_readings(context: Context, sheet: Sheet, names: Sequence[str], rows: Rows) -> Iterator[Readings]:
    """Yield the readings of a log.

    Parameters
    ----------
    context : Context
        The pass.
    sheet : Sheet
        What the columns are.
    names : sequence of str
        Columns of the file.
    rows : callable
        Reads its rows.
    """
    if sheet.remark:
        context.notes.say(Finding("format-remark", sheet.remark, Severity.NOTE))
    times = times_of(context, sheet, rows)
    if sheet.wide is None:
        yield from _long(context, sheet, names, rows=rows, times=times)
    else:
        yield from _wide(context, sheet, names, rows=rows, times=times)


def _long(
    context: Context, sheet: Sheet, names: Sequence[str], *, rows: Rows, times: Times
) -> Iterator[Readings]:
    labels = tuple(name for name in sheet.labels if name in names)
    numbering = Numbering(context, labels, product=sheet.product, host=sheet.host, uuid=sheet.uuid)
    places = None if labels else _places(rows, times, numbering)
    for table in rows(context):
        time_ns = times.of(table)
        index = numbering.of(table) if places is None else places.of(time_ns)
        keys = keys_of(context, table, index=index, time_ns=time_ns, is_device=index >= 0)
        if keys.keep.any():
            channels = channels_of(context, table, sheet.fields, keys.keep)
            yield Readings(numbering.known, keys.index, keys.time_ns, channels)


def _places(rows: Rows, times: Times, numbering: Numbering) -> Places:
    """Tell GPUs by the order of rows in a tick; looks at the head alone, however the file is read."""
    context = times.context
    start = Input.of_bytes(context.input.head(), context.path)
    trial = replace(times, context=Context(start, context.asked, Notes()))
    first = next(rows(trial.context), None)
    n_places = 1 if first is None else rows_in_tick(trial.of(first))
    message = f"no column tells GPUs apart; {n_places} were told by the order of rows within a tick"
    severity = Severity.WARNING if n_places > 1 else Severity.NOTE
    context.notes.say(Finding("identity-inferred", message, severity))
    numbering.known.update({place: context.device(place) for place in range(n_places)})
    return Places(n_places)


def _wide(
    context: Context, sheet: Sheet, names: Sequence[str], *, rows: Rows, times: Times
) -> Iterator[Readings]:
    """Turn one column a device into rows, a device at a time."""
    found = {name: sheet.column(name) for name in names if name and name not in sheet.aside}
    owners = _WideDevices(context, sheet)
    for whole in rows(context):
        table = _without_tokens(whole, sheet)
        machines = owners.machines(table)
        keys = keys_of(context, table, index=machines, time_ns=times.of(table), is_device=machines >= 0)
        for name, column in found.items():
            if column is not None and keys.keep.any():
                channels = channels_of(context, table, {name: column[1]}, keys.keep)
                yield from owners.readings(keys, column[0], channels)


class _WideDevices:
    """Names the device of each column and, where rows are of several machines, of each of them."""

    def __init__(self, context: Context, sheet: Sheet) -> None:
        self._context, self._sheet = context, sheet
        self._machines = Numbering(context, (sheet.host,) if sheet.host else ())
        self._hosts: dict[int, str] = {}
        self._devices: dict[tuple[int, str], int] = {}
        self._known: dict[int, Device] = {}

    def machines(self, table: Table) -> NDArray[np.int64]:
        """Return the machine of each row, 0 where the log is of one."""
        if not self._sheet.host:
            return np.zeros(len(table), dtype=np.int64)
        found = self._machines.of(table)
        prefix = f"{self._context.capture}:"
        self._hosts = {n: d.uuid.removeprefix(prefix) for n, d in self._machines.known.items()}
        return found

    def readings(
        self, keys: Keys, label: str, channels: Mapping[str, NDArray[np.float64]]
    ) -> Iterator[Readings]:
        """Yield the rows of one column, without those of machines that have no answer in it."""
        answered = ~np.isnan(next(iter(channels.values())))
        has_answer = np.bincount(keys.index, weights=answered) > 0
        keep = has_answer[keys.index]
        if not keep.any():
            return
        here = np.flatnonzero(has_answer).tolist()
        numbers = np.full(len(has_answer), -1, dtype=np.int64)
        numbers[here] = [self._number(machine, label) for machine in here]
        known = {int(number): self._known[number] for number in numbers[here].tolist()}
        index = numbers[keys.index][keep]
        yield Readings(known, index, keys.time_ns[keep], {n: c[keep] for n, c in channels.items()})

    def _number(self, machine: int, label: str) -> int:
        if (machine, label) not in self._devices:
            number = self._devices[machine, label] = len(self._devices)
            host = label if self._sheet.is_node_a_column else self._hosts.get(machine, "")
            name = label if self._sheet.is_node_a_column or not host else f"{host}:{label}"
            self._known[number] = self._context.device(name, host=host)
        return self._devices[machine, label]


def _without_tokens(table: Table, sheet: Sheet) -> Table:
    """Blank the cells that mean "no answer" in this kind of log alone."""
    if not sheet.missing:
        return table
    pc = arrow_compute()
    tokens = pa.array(list(sheet.missing))
    columns = {
        name: pc.if_else(pc.is_in(pc.utf8_trim(text, ' \t\r"'), value_set=tokens), "", text)
        for name, text in table.columns.items()
    }
    return Table(table.names, columns, table.lines)
