"""Columns of cells to channels: units, blanks and impossible values, by one rule for every format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import Cells
from flopwitness.telemetry.readers.clocks import NO_INSTANT
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.fields import Field, in_base_units
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Which rows of a table count, whose they are and when."""

    keep: NDArray[np.bool_]
    index: NDArray[np.int64]
    time_ns: NDArray[np.int64]


def channels_of(
    context: Context, table: Table, fields: Mapping[str, Field], keep: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """Return the channels of a table's columns, in base units, of the rows that are kept.

    Parameters
    ----------
    context : Context
        Takes the notes.
    table : Table
        The rows.
    fields : mapping of str to Field
        What each column is, by name; a column that is not in the table is left out.
    keep : ndarray of shape (n_rows,), bool
        Rows with an instant and a device.
    """
    channels: dict[str, NDArray[np.float64]] = {}
    for name, field in _major_first(fields):
        if name not in table.columns:
            continue
        values = _values(context, name, field, table.numbers(name, field.unit), lines=table.lines, keep=keep)
        merge(channels, field, values)
    return channels


def numeric_channels(
    context: Context,
    columns: Mapping[str, NDArray[np.float64]],
    fields: Mapping[str, Field],
    lines: NDArray[np.int64] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return the channels of columns that are numbers already; infinite ones are taken out and counted."""
    channels: dict[str, NDArray[np.float64]] = {}
    for name, field in _major_first(fields):
        if name not in columns:
            continue
        values = np.array(columns[name], dtype=np.float64)
        is_infinite = np.isinf(values)
        values[is_infinite] = np.nan
        cells = Cells(values, np.zeros(len(values), np.bool_), is_infinite)
        where = np.zeros(len(values), np.int64) if lines is None else lines
        merge(
            channels,
            field,
            _values(context, name, field, cells, lines=where, keep=np.ones(len(values), np.bool_)),
        )
    return channels


def merge(channels: dict[str, NDArray[np.float64]], field: Field, values: NDArray[np.float64]) -> None:
    """Add a field's values to the channels; where the channel is there, they fill its blanks alone."""
    found = channels.get(field.channel)
    channels[field.channel] = values if found is None else np.where(np.isnan(found), values, found)


def note_columns(
    context: Context, names: Sequence[str], known: Mapping[str, object], expected: Sequence[str] = ()
) -> None:
    """Say which columns are not known, and which the format normally has and are gone."""
    for name in names:
        if name and name not in known:
            message = f"column {shown(name)} is not known and was set aside"
            context.notes.say(Finding("unknown-column", message, Severity.NOTE))
    for name in expected:
        if name not in names:
            message = f"column {name!r}, which this format normally has, is not in the file"
            context.notes.say(Finding("missing-column", message, subject=name))


def keys_of(
    context: Context,
    table: Table,
    *,
    index: NDArray[np.int64],
    time_ns: NDArray[np.int64],
    is_device: NDArray[np.bool_] | None = None,
) -> Keys:
    """Return which rows have an instant and a device; the others are counted as lost."""
    is_known = time_ns != NO_INSTANT
    if is_device is not None:
        is_known = is_known & is_device
    context.notes.count(
        "bad-row",
        "rows have no usable time or GPU and were left out",
        n=int((~is_known).sum()),
        line=table.line(~is_known),
    )
    return Keys(is_known, index[is_known], time_ns[is_known])


def _major_first(fields: Mapping[str, Field]) -> list[tuple[str, Field]]:
    return sorted(fields.items(), key=lambda each: each[1].is_minor)


def _values(  # noqa: PLR0913  one column, with all that its notes need
    context: Context,
    name: str,
    field: Field,
    cells: Cells,
    *,
    lines: NDArray[np.int64],
    keep: NDArray[np.bool_],
) -> NDArray[np.float64]:
    kept = cells.take(keep)
    values, is_impossible = in_base_units(field, kept.values)
    where = f"cells in column {name!r}"
    channel = field.channel
    for code, is_one, what in (
        ("missing-values", kept.is_missing, f"{where} hold no answer"),
        ("bad-cell", kept.is_bad, f"{where} are no number"),
        ("infinite-value", kept.is_infinite, f"{where} are infinite and were taken out"),
        ("quarantined", is_impossible, f"{where} cannot be a measurement of {channel} and were taken out"),
    ):
        if is_one.any():
            line = int(lines[keep][int(np.argmax(is_one))]) or None
            context.notes.count(
                code,
                what,
                n=int(is_one.sum()),
                line=None if code == "missing-values" else line,
                subject=channel,
            )
    return values
