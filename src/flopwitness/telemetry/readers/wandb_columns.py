"""Tables of Weights & Biases: one column a metric and GPU, to rows of each GPU."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.clocks import NO_INSTANT
from flopwitness.telemetry.readers.reading import Context, Head
from flopwitness.telemetry.readers.tables import Layout, Table, tables
from flopwitness.telemetry.readers.wandb_gpus import GpuRows

Instants = Callable[[Table], NDArray[np.int64]]


def header_cells(head: Head) -> tuple[str, ...]:
    """Return the cells of the first line, quotes taken off; empty where it is no table."""
    try:
        return tuple(cell.strip() for cell in next(csv.reader(io.StringIO(head.first)), []))
    except csv.Error:
        return ()


def gpu_columns(
    context: Context,
    n_cells: int,
    metrics: Mapping[int, tuple[str, str]],
    *,
    times: tuple[int, ...],
    instants: Instants,
) -> dict[str, GpuRows]:
    """Return the rows of each GPU of a table; a row that is blank for a GPU is none of it.

    Parameters
    ----------
    context : Context
        The file.
    n_cells : int
        How many columns it has.
    metrics : mapping of int to tuple of (str, str)
        GPU and metric of each column that is one, by its place.
    times : tuple of int
        Places of the columns that ``instants`` needs; these go by their place as text.
    instants : callable
        Gives the instant of each row of a table.
    """
    layout = Layout(
        tuple(str(place) for place in range(n_cells)),
        wanted={str(place) for place in (*metrics, *times)},
        is_quoted=True,
    )
    parts: dict[str, list[GpuRows]] = {}
    for table in tables(context, layout):
        for label, rows in _of_table(context, table, metrics, instants(table)):
            parts.setdefault(label, []).append(rows)
    return {label: _joined(rows) for label, rows in parts.items()}


def _of_table(
    context: Context, table: Table, metrics: Mapping[int, tuple[str, str]], time_ns: NDArray[np.int64]
) -> Iterator[tuple[str, GpuRows]]:
    is_known = time_ns != NO_INSTANT
    what = "rows have no usable time and were left out"
    context.notes.count("bad-row", what, n=int((~is_known).sum()), line=table.line(~is_known))
    by_gpu: dict[str, dict[str, NDArray[np.float64]]] = {}
    for place, (label, metric) in metrics.items():
        cells = table.numbers(str(place))
        for code, is_one, words in (
            ("bad-cell", cells.is_bad, "cells are no number"),
            ("infinite-value", cells.is_infinite, "cells are infinite and were taken out"),
        ):
            context.notes.count(code, words, n=int(is_one.sum()), line=table.line(is_one), subject=metric)
        by_gpu.setdefault(label, {})[metric] = cells.values
    for label, columns in by_gpu.items():
        is_row = is_known & ~np.isnan(np.vstack(list(columns.values()))).all(axis=0)
        kept = {metric: column[is_row] for metric, column in columns.items()}
        yield label, GpuRows(time_ns[is_row], kept, table.lines[is_row])


def _joined(parts: list[GpuRows]) -> GpuRows:
    return GpuRows(
        np.concatenate([part.time_ns for part in parts]),
        {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns},
        np.concatenate([part.lines for part in parts]),
    )
