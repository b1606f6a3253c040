"""``run-<id>.wandb``: what Weights & Biases writes while a run goes on.

``:W&B``, two bytes 0xBEE1, a version; then a LevelDB log of ``Record`` messages: field 7 holds system
metrics (an instant in field 2; items in field 3, each a key in field 1 and a JSON text in field 16), field
2 what the run logged. A file of 7 bytes is a head alone: the run wrote nothing, or never closed its file.
Other records hold host, paths and e-mail and are not read.

Source: github.com/wandb/wandb, ``wandb/proto/wandb_internal.proto`` and
``wandb/sdk/internal/datastore.py``.
"""

import math
from collections.abc import Iterator

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.log_blocks import log_records
from flopwitness.telemetry.readers.protobuf_wire import children, fields_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.wandb_gpus import GpuRecords, gpu_readings
from flopwitness.telemetry.readers.wandb_records import is_blank

MAGIC = b":W&B\xe1\xbe"
HEAD_BYTES = 7
HISTORY, STATS = 2, 7
INSTANT, ITEM = 2, 3
SECONDS, NANOSECONDS = 1, 2
KEY, VALUE_JSON = 1, 16
LAST_SECOND = 2**62 // 10**9


def claims(head: Head) -> bool:
    """Say whether a head is that of a run's file."""
    return head.data.startswith(MAGIC)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of each GPU."""
    data = context.input.raw()
    if len(data) <= HEAD_BYTES:
        got = f"a head alone ({len(data)} bytes): the run wrote nothing"
        raise context.refused("", expected="records of a run", got=got)

    def lost(what: str) -> None:
        context.notes.count("bad-row", f"times a {what} was left out")

    gpus, n_history = GpuRecords(), 0
    for number, record in enumerate(log_records(data, HEAD_BYTES, lost), 1):
        try:
            for kind, content in fields_of(record):
                if kind == STATS and isinstance(content, bytes):
                    _add_stats(context, gpus, content, number)
                n_history += kind == HISTORY
        except ValueError:
            lost("record that is no message")
    if n_history:
        message = f"{n_history} records of what the run logged hold no samples and were set aside"
        context.notes.say(Finding("history-aside", message, Severity.NOTE))
    yield from gpu_readings(context, gpus.rows())


def _add_stats(context: Context, gpus: GpuRecords, stats: bytes, number: int) -> None:
    instants = [_instant_ns(each) for each in children(stats, INSTANT)]
    numbers = dict(_numbers(context, stats, number))
    if not instants or instants[-1] is None:
        context.notes.count("bad-row", "records have no usable time and were left out")
        return
    gpus.add(instants[-1], numbers, line=number)


def _instant_ns(message: bytes) -> int | None:
    parts = {number: value for number, value in fields_of(message) if isinstance(value, int)}
    seconds, nanoseconds = parts.get(SECONDS, 0), parts.get(NANOSECONDS, 0)
    if seconds >= LAST_SECOND or nanoseconds >= 10**9:
        return None
    return seconds * 10**9 + nanoseconds


def _numbers(context: Context, stats: bytes, number: int) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a record's items; what is no number is counted."""
    for item in children(stats, ITEM):
        parts = {field: value for field, value in fields_of(item) if isinstance(value, bytes)}
        key = parts.get(KEY, b"").decode(errors="replace")
        text = parts.get(VALUE_JSON, b"").decode(errors="replace").strip().strip('"')
        if "gpu." not in key:
            continue
        value = number_of(text)
        if value is None and not is_blank(text):
            context.notes.count("bad-cell", "values are no number", line=number)
        yield key, math.nan if value is None else value


FORMAT = Format(name="wandb-binary", title="W&B run file", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
