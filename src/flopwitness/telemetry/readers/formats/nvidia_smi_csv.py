"""``nvidia-smi --query-gpu=... --format=csv``: whatever fields were asked for, one row a GPU and tick.

Values carry their units unless ``nounits`` was given, the header carries them in any case. A blank follows
each comma, which some tools remove. ``noheader`` leaves only the cells to tell columns by. Times are local,
without zone. Without a column that tells GPUs apart, a row's place within its tick does. In MIG mode there
is no utilisation, and power is the whole board's.

Sources: ``nvidia-smi --help-query-gpu``; NVIDIA, nvidia-smi documentation.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.clocks import iso_instants
from flopwitness.telemetry.readers.columns import channels_of, keys_of
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.lost import LostGpus
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.numbering import Numbering
from flopwitness.telemetry.readers.nvidia_smi_fields import IDENTITY
from flopwitness.telemetry.readers.nvidia_smi_header import Columns, columns_of, is_header, is_row
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Layout, Table, tables
from flopwitness.telemetry.readers.ticks import Places, rows_in_tick

AVERAGE, DRAW, INSTANT = "power.draw.average", "power.draw", "power.draw.instant"


def claims(head: Head) -> bool:
    """Say whether a head is a header of fields that nvidia-smi knows, or rows that start with its stamps."""
    return is_header(head.first) or is_row(head.first)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a log."""
    columns = columns_of(context)
    owners = _owners(context, columns)
    lost = LostGpus(owners.numbering)
    first_field = next(iter(columns.fields), "")
    for table in tables(context, _layout(columns)):
        stamps = _stamps(context, table)
        index = owners.of(table, stamps)
        is_lost = lost.rows(table, first_field, index=index, time_ns=stamps)
        is_device = index >= 0
        keys = keys_of(context, table, index=index, time_ns=stamps, is_device=is_device | is_lost)
        keep = keys.keep & is_device & ~is_lost
        channels = channels_of(context, table, columns.fields, keep)
        _set_instant_apart(context, table, columns.fields, keep=keep, channels=channels)
        if keep.any():
            yield Readings(owners.numbering.known, index[keep], stamps[keep], channels)


def _layout(columns: Columns) -> Layout:
    wanted = {*columns.fields, *IDENTITY, "timestamp", "name"}
    return Layout(columns.names, wanted=wanted, header_lines=columns.header_lines)


def _stamps(context: Context, table: Table) -> NDArray[np.int64]:
    stamps, lacks_zone = iso_instants(table.columns["timestamp"], context.asked.zone)
    if lacks_zone:
        expected = "a time zone, which nvidia-smi does not print: give --tz"
        raise context.refused("column 'timestamp'", expected=expected, got="none")
    return stamps


class _Owners:
    """Tells whose a row is: by the columns that name a GPU, else by its place in the tick."""

    def __init__(self, context: Context, names: tuple[str, ...], n_places: int) -> None:
        self.numbering = Numbering(context, names, product="name", indexes=("index",))
        self._places = Places(n_places)
        if not names:
            devices = {place: context.device(place) for place in range(n_places)}
            self.numbering.known.update(devices)

    def of(self, table: Table, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of each row's device, negative where nobody knows."""
        return self.numbering.of(table) if self.numbering.names else self._places.of(stamps)


def _owners(context: Context, columns: Columns) -> _Owners:
    names = tuple(name for name in IDENTITY if name in columns.names)
    if names:
        return _Owners(context, names, 0)
    n_places = _rows_in_tick(context, columns)
    message = f"no column tells GPUs apart; {n_places} were told by the order of rows within a tick"
    severity = Severity.WARNING if n_places > 1 else Severity.NOTE
    context.notes.say(Finding("identity-inferred", message, severity))
    return _Owners(context, (), n_places)


def _rows_in_tick(context: Context, columns: Columns) -> int:
    """Look at the head of a log alone, so that the answer does not depend on how the file is read."""
    start = Input.of_bytes(context.input.head(), context.path)
    trial = Context(start, context.asked, Notes())
    first = next(islice(tables(trial, _layout(columns)), 1), None)
    return 1 if first is None else rows_in_tick(_stamps(trial, first))


def _set_instant_apart(
    context: Context,
    table: Table,
    fields: Mapping[str, Field],
    *,
    keep: NDArray[np.bool_],
    channels: dict[str, NDArray[np.float64]],
) -> None:
    """Make ``power.draw`` the instant power where the average beside it has no answer: Turing and older."""
    if not {AVERAGE, DRAW} <= fields.keys():
        return
    average = table.numbers(AVERAGE, fields[AVERAGE].unit).take(keep)
    is_instant = average.is_missing & ~np.isnan(channels["power_watts"])
    if not is_instant.any():
        return
    moved = np.where(is_instant, channels["power_watts"], np.nan)
    there = channels.get("power_instant_watts", np.full(len(moved), np.nan))
    channels["power_instant_watts"] = np.where(np.isnan(there), moved, there)
    channels["power_watts"] = np.where(is_instant, np.nan, channels["power_watts"])
    message = "power.draw.average has no answer on this GPU, so its power.draw is the reading of the instant"
    context.notes.say(Finding("power-is-instant", message, Severity.NOTE, subject="power_instant_watts"))


FORMAT = Format(
    name="nvidia-smi-csv",
    title="nvidia-smi --query-gpu CSV",
    claims=claims,
    parse=parse,
    notes={"gpu_util_ratio": "share of time with a kernel running: no measure of work"},
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
