"""System metrics of Weights & Biases as JSON lines: ``wandb-events.jsonl`` and exports of the same shape.

``{"_timestamp": 1770091506.1, "system.gpu.0.powerWatts": 201.0, ...}``: seconds since 1970, a record every
15 s (every 30 s in older versions). The originals hold host, paths and e-mail; nothing of these is kept.
Source: docs.wandb.ai/ref/python/experiments/system-metrics.
"""

import re
from collections.abc import Iterator

from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.wandb_gpus import GpuRecords, gpu_readings
from flopwitness.telemetry.readers.wandb_records import records

FIRST = re.compile(r'^\{(?=.*"_(?:timestamp|runtime)"\s*:)(?=.*"system\.)')


def claims(head: Head) -> bool:
    """Say whether a head is an object with a time and system metrics."""
    return FIRST.match(head.first[:20_000]) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each GPU; the whole file is read before, since units and idle parts show late."""
    gpus = GpuRecords()
    for block in context.input.blocks():
        for record in records(context, block):
            gpus.add(record.time_ns, record.numbers(context, only="gpu."), line=record.line)
    yield from gpu_readings(context, gpus.rows())


FORMAT = Format(name="wandb-events", title="W&B system metrics", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
