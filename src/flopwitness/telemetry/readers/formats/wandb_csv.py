"""System metrics of Weights & Biases as CSV: ``_timestamp,_runtime,system.gpu.0.powerWatts,...``.

Seconds since 1970, or else since the run began; GPUs and CPU come in separate records, so most cells are
empty. Source: docs.wandb.ai/ref/python/experiments/system-metrics.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.clocks import NO_INSTANT, seconds_to_ns
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.wandb_columns import gpu_columns, header_cells
from flopwitness.telemetry.readers.wandb_gpus import KEY, gpu_readings
from flopwitness.telemetry.readers.wandb_records import RUNTIME, TIMESTAMP, start_of


def claims(head: Head) -> bool:
    """Say whether a head names a time of W&B and metrics of a GPU."""
    names = header_cells(head)
    return bool({TIMESTAMP, RUNTIME} & set(names)) and any(KEY.match(name) for name in names)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each GPU."""
    names = header_cells(Head.of(context.input.head()))
    metrics = {
        place: (found["index"], found["metric"])
        for place, name in enumerate(names)
        if (found := KEY.match(name))
    }
    by = TIMESTAMP if TIMESTAMP in names else RUNTIME
    base_ns, place = start_of(context) if by == RUNTIME else 0, names.index(by)

    def instants(table: Table) -> NDArray[np.int64]:
        time_ns = seconds_to_ns(table.numbers(str(place)).values)
        return np.where(time_ns == NO_INSTANT, NO_INSTANT, time_ns + base_ns)

    rows = gpu_columns(context, len(names), metrics, times=(place,), instants=instants)
    yield from gpu_readings(context, rows)


FORMAT = Format(name="wandb-csv", title="W&B system metrics as CSV", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
