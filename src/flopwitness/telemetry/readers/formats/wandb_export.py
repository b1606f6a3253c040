"""A chart that was exported from the pages of Weights & Biases as CSV.

``"Relative Time (Process)","<run> - system/gpu.0.powerWatts"``, and for each column its ``__MIN`` and
``__MAX`` over the points that were merged, which are not read. Times are seconds since the run began, so
its start must be said; a chart over steps has no time at all. Source: exports of wandb.ai.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.clocks import NO_INSTANT, seconds_to_ns
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.wandb_columns import gpu_columns, header_cells
from flopwitness.telemetry.readers.wandb_gpus import KEY, gpu_readings
from flopwitness.telemetry.readers.wandb_records import start_of

COLUMN = re.compile(r"^(?P<run>.*) - (?P<key>system[./]gpu\.\d{1,4}\.\w+?)$")
MERGED = ("__MIN", "__MAX")
RELATIVE = "Relative Time ("
AXES = (RELATIVE, "Wall Time", "Step")


def claims(head: Head) -> bool:
    """Say whether a head names an axis of a chart and metrics of a GPU."""
    names = header_cells(head)
    return bool(names) and names[0].startswith(AXES) and bool(_metrics(names))


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each GPU."""
    names = header_cells(Head.of(context.input.head()))
    if not names[0].startswith(RELATIVE):
        expected = "a chart over relative time: export it so"
        raise context.refused("line 1", expected=expected, got=shown(names[0]))
    base_ns = start_of(context)

    def instants(table: Table) -> NDArray[np.int64]:
        time_ns = seconds_to_ns(table.numbers("0").values)
        return np.where(time_ns == NO_INSTANT, NO_INSTANT, time_ns + base_ns)

    rows = gpu_columns(context, len(names), _metrics(names), times=(0,), instants=instants)
    yield from gpu_readings(context, rows)


def _metrics(names: tuple[str, ...]) -> dict[int, tuple[str, str]]:
    """Return GPU and metric of each column; of several runs, the GPU is named with its run."""
    found = {
        place: (match["run"], key)
        for place, name in enumerate(names)
        if not name.endswith(MERGED) and (match := COLUMN.match(name)) and (key := KEY.match(match["key"]))
    }
    has_one_run = len({run for run, _ in found.values()}) == 1
    return {
        place: (key["index"] if has_one_run else f"{run}:{key['index']}", key["metric"])
        for place, (run, key) in found.items()
    }


FORMAT = Format(name="wandb-export", title="W&B chart as CSV", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
