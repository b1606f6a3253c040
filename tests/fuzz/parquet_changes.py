"""Parquet files that are nearly right: cells, columns and types changed, then written anew."""

import random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

MAGIC = b"PAR1"
ODD_NUMBERS = (
    None,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1.0,
    0.0,
    1e308,
    140737488355328.0,
    1e-320,
    2.0**64,
)
TYPES = (
    pa.string(),
    pa.float32(),
    pa.float64(),
    pa.int64(),
    pa.int8(),
    pa.bool_(),
    pa.timestamp("s"),
    pa.binary(),
)


def parquet_changed(data: bytes, rng: random.Random) -> bytes | None:
    """Change a file of Parquet; None for what is none."""
    if not data.startswith(MAGIC):
        return None
    try:
        table = parquet.read_table(pa.BufferReader(data))
        for _ in range(rng.choice((1, 1, 2, 4)) if table.num_columns else 0):
            table = _changed(table, rng)
        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink)
    except (pa.ArrowException, OSError, OverflowError, ValueError):
        return None
    return bytes(sink.getvalue().to_pybytes())


def _changed(table: Any, rng: random.Random) -> Any:
    place = rng.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place)
    way = rng.randrange(8)
    if way == 0 and table.num_columns > 1:
        return table.remove_column(place)
    if way == 1:
        return table.rename_columns([rng.choice((name, "x")) if n == name else n for n in table.column_names])
    if way == 2:
        return table.append_column(name, column)
    if way == 3:
        return table.take(pa.array(rng.choices(range(table.num_rows), k=table.num_rows)))
    return table.set_column(place, name, _other_column(column, way, rng))


def _other_column(column: Any, way: int, rng: random.Random) -> Any:
    if way == 4:
        return pa.nulls(len(column))
    if way == 5:
        return pa.array([[1]] * len(column))
    return column.cast(rng.choice(TYPES)) if way == 6 else _odd_cells(column.to_pylist(), rng)


def _odd_cells(cells: list[Any], rng: random.Random) -> Any:
    """Put odd numbers, or a missing one, among the cells of a column."""
    for _ in range(rng.choice((1, 2, 5)) if cells else 0):
        cells[rng.randrange(len(cells))] = rng.choice(ODD_NUMBERS)
    if any(isinstance(cell, str) for cell in cells):
        return pa.array([None if cell is None else str(cell) for cell in cells])
    return pa.array(cells)
