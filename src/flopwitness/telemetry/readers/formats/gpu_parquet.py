"""Parquet tables of GPU samples that are not ours: NVML readings at 1 Hz beside those of DCGM.

``timestamp_epoch`` is seconds since 1970; ``timestamp_utc`` says its zone in its name. ``dcgm_*`` repeat the
NVML columns and fill their blanks only. ``fan_speed_pct`` -1 is "not supported". Whether ``pcie_*_mbps`` is
megabits or megabytes a second is not said: set aside.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.columns import note_columns
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.fields import Field, megabytes, megahertz, percent, plain
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.sheet import Clock, Sheet
from flopwitness.telemetry.readers.sheet_readings import sheet_readings
from flopwitness.telemetry.readers.tables import Table

MAGIC = b"PAR1"
MOST_ROWS = 20_000_000
"""Eight months of a GPU at 1 Hz; a few bytes of Parquet can claim to be more rows than any memory holds."""

BATCH_ROWS = 65_536

SHEET = Sheet(
    name="gpu-parquet",
    title="Parquet of NVML and DCGM samples",
    time="timestamp_epoch",
    clock=Clock.EPOCH,
    gpu="gpu",
    uuid="gpu_uuid",
    product="gpu_name",
    fields={
        "gpu_utilization_pct": percent("gpu_util_ratio"),
        "mem_utilization_pct": percent("mem_util_ratio"),
        "mem_used_mb": megabytes("memory_used_bytes"),
        "power_draw_w": plain("power_watts"),
        "temperature_c": plain("temperature_celsius"),
        "sm_clock_mhz": megahertz("sm_clock_hertz"),
        "mem_clock_mhz": megahertz("mem_clock_hertz"),
        "dcgm_gpu_util": Field("gpu_util_ratio", divisor=100.0, is_minor=True),
        "dcgm_power_usage": Field("power_watts", is_minor=True),
        "dcgm_gpu_temp": Field("temperature_celsius", is_minor=True),
        "dcgm_sm_clock": Field("sm_clock_hertz", multiplier=1e6, is_minor=True),
        "dcgm_mem_clock": Field("mem_clock_hertz", multiplier=1e6, is_minor=True),
    },
    aside=(
        *("timestamp_utc", "mem_total_mb", "pcie_tx_mbps", "pcie_rx_mbps", "encoder_util_pct"),
        *("decoder_util_pct", "fan_speed_pct", "workload_label", "run_id", "driver_version"),
    ),
)
IN_TEXT = replace(SHEET, time="timestamp_utc", clock=Clock.ISO)


def claims(head: Head) -> bool:
    """Say whether a file is Parquet: what its columns are stands at its end."""
    return head.data.startswith(MAGIC)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a table."""
    file = _opened(context)
    names = tuple(name.lower() for name in file.schema_arrow.names)
    sheet = next((one for one in (SHEET, IN_TEXT) if one.time in names), None)
    if sheet is None or not set(names) & SHEET.fields.keys():
        expected = "columns such as 'timestamp_epoch' and 'power_draw_w'"
        raise context.refused("", expected=expected, got=shown(", ".join(names)))
    note_columns(context, names, dict.fromkeys(SHEET.known), ("gpu_uuid", "power_draw_w"))
    in_utc = replace(context, asked=replace(context.asked, zone=context.asked.zone or UTC))
    yield from sheet_readings(in_utc, sheet, ("gpu", *names), partial(_tables, file=file))


def _opened(context: Context) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(pa.BufferReader(context.input.raw()))
        n_rows = file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise context.refused("", expected="a whole Parquet file", got=shown(error)) from None
    if n_rows > MOST_ROWS:
        raise context.refused("", expected=f"at most {MOST_ROWS:,} rows", got=f"{n_rows:,}")
    return file


def _tables(context: Context, *, file: pq.ParquetFile) -> Iterator[Table]:
    here = {name.lower(): name for name in file.schema_arrow.names if name.lower() in SHEET.known}
    first = 1
    batches = file.iter_batches(BATCH_ROWS, columns=list(here.values()), use_threads=False)
    while (batch := _next(context, batches)) is not None:
        columns = {name: _text(batch.column(place)) for place, name in enumerate(here)}
        columns["gpu"] = pa.array(["0"] * batch.num_rows)
        yield Table(tuple(columns), columns, np.arange(first, first + batch.num_rows))
        first += batch.num_rows


def _next(context: Context, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise context.refused("", expected="intact Parquet pages", got=shown(error)) from None


def _text(column: pa.Array) -> pa.Array:
    """Return a column as text cells, so that one rule reads every kind; what has no text is bad."""
    try:
        text = column.cast(pa.string())
        text.validate(full=True)  # a damaged page may hold bytes that are no UTF-8
    except (pa.ArrowException, ValueError):
        text = pa.array(["no cell"] * len(column), pa.string())
    return arrow_compute().fill_null(text, "")


FORMAT = Format(name=SHEET.name, title=SHEET.title, claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
