"""What a run logged with Weights & Biases, as JSON lines: steps, losses, times. Holds no samples.

``{"_step": 0, "_timestamp": 1770091506.1, "_runtime": 256.7, "train_loss": 1.1}``: seconds since 1970.
Texts are left out: they may be anything. Source: docs.wandb.ai, history of a run.
"""

import math
import re
from collections.abc import Mapping

from flopwitness.telemetry.readers.formats import wandb_events
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary
from flopwitness.telemetry.readers.wandb_records import RUNTIME, STEP, TIMESTAMP, Record, records

FIRST = re.compile(r'^\{(?=.*"_timestamp"\s*:)(?=.*"_(?:step|runtime)"\s*:)')


def claims(head: Head) -> bool:
    """Say whether a head is an object with a step and a time, and no system metrics."""
    return FIRST.match(head.first[:20_000]) is not None and not wandb_events.claims(head)


def summarise(context: Context) -> Summary:
    """Return a row a record."""
    rows = [_row(context, record) for block in context.input.blocks() for record in records(context, block)]
    if not rows:
        raise context.refused("", expected="records of a run", got="none that can be read")
    return Summary("what a run logged", tuple(rows), context.notes.findings())


def _row(context: Context, record: Record) -> Mapping[str, object]:
    numbers = record.numbers(context)
    logged = {
        key: None if math.isnan(number) else number
        for key, number in numbers.items()
        if not key.startswith("_") and not isinstance(record.content[key], str)
    }
    step, runtime = (numbers.get(name, math.nan) for name in (STEP, RUNTIME))
    return {
        "time_ns": record.time_ns if TIMESTAMP in numbers else None,
        "runtime_seconds": None if math.isnan(runtime) else runtime,
        "step": None if math.isnan(step) else step,
        **logged,
    }


FORMAT = Format(name="wandb-history", title="W&B history of a run", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
