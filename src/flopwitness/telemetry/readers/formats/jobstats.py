"""jobstats: what the GPUs of one Slurm job did on average, as JSON or as Slurm's AdminComment keeps it.

``jobstats -j`` prints an object with ``total_time`` in seconds, ``gpus``, and per node the mean utilisation
in percent and bytes of memory of each GPU. Slurm's AdminComment holds the same object as ``JS1:`` and the
base64 of its gzip; ``JS1:Short`` and ``JS1:None`` stand for a job without data. GPUs are numbered by device
minor, which need not be NVML's index.

Source: PrincetonUniversity/jobstats (github.com/PrincetonUniversity/jobstats), README, ``jobstats.py`` and
issue 34.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Mapping
from typing import Any

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.fields import PERCENT_PER_RATIO, possible
from flopwitness.telemetry.readers.json_text import json_of, number_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary
from flopwitness.telemetry.readers.source import GZIP_WINDOW_BITS

PREFIX = "JS1:"
NO_DATA = frozenset({"short", "none"})
MOST_BYTES = 16 * 1024 * 1024
"""A job on thousands of GPUs has less, unpacked."""

MINOR_KEYS = Finding(
    "device-minor", "GPUs are numbered by device minor, which need not be NVML's index", Severity.NOTE
)
FIELDS = ("gpu_utilization", "gpu_used_memory", "gpu_total_memory")
LOOK = re.compile(r'"(?:gpu_utilization|gpu_total_memory|gpu_used_memory|total_memory|used_memory)"\s*:')


def claims(head: Head) -> bool:
    """Say whether a head is a job's figures, plain or as Slurm keeps them."""
    if head.first.startswith(PREFIX):
        return True
    text = "\n".join(head.lines)
    return text.startswith("{") and '"nodes"' in text and bool(LOOK.search(text))


def summarise(context: Context) -> Summary:
    """Return a row a GPU."""
    text = context.input.whole().text.strip()
    rows = rows_of_comment(context, text) if text.startswith(PREFIX) else rows_of(context, text)
    return Summary("GPUs of a job, by jobstats", tuple(rows), context.notes.findings())


def rows_of_comment(context: Context, comment: str) -> list[dict[str, object]]:
    """Return the rows of an AdminComment; none where jobstats had no data, which a finding says.

    Raises
    ------
    BadInputError
        When it is no base64 of a gzip stream of JSON.
    """
    packed = comment.strip().removeprefix(PREFIX)
    if packed.lower() in NO_DATA:
        message = f"jobstats has no data of the job: {PREFIX}{packed}"
        context.notes.say(Finding("unmeasured", message))
        return []
    try:
        stream = zlib.decompressobj(wbits=GZIP_WINDOW_BITS)
        data = stream.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise context.refused("", expected=f"{PREFIX} and base64 of gzip", got=str(error)) from None
    if not stream.eof:
        got = "more" if stream.unconsumed_tail else "a stream without its end"
        raise context.refused("", expected=f"at most {MOST_BYTES:,} bytes of figures", got=got)
    return rows_of(context, data.decode("utf-8", errors="replace"))


def rows_of(context: Context, text: str) -> list[dict[str, object]]:
    """Return the rows of a job's JSON object."""
    job = json_of(context, text)
    nodes = job.get("nodes") if isinstance(job, dict) else None
    if not isinstance(nodes, dict):
        raise context.refused("field 'nodes'", expected="an object by host", got=type(nodes).__name__)
    duration_seconds = _duration(context, job)
    rows: list[dict[str, object]] = []
    for host, node in nodes.items():
        figures = [_gpu(context, node, minor) for minor in _minors(node)]
        rows += [{"host": host, **gpu, "duration_seconds": duration_seconds} for gpu in figures]
    if rows:
        context.notes.say(MINOR_KEYS)
    n_gpus = number_of(job.get("gpus"))
    if n_gpus is not None and n_gpus != len(rows):
        message = f"the job is said to have {n_gpus:g} GPUs, and figures of {len(rows)} are there"
        context.notes.say(Finding("gpu-count", message))
    return rows


def _duration(context: Context, job: Mapping[str, Any]) -> float | None:
    seconds = number_of(job.get("total_time"))
    if seconds is None or seconds < 0:
        context.notes.say(Finding("missing-values", "the job's duration is not told"))
        return None
    return seconds


def _minors(node: object) -> list[str]:
    if not isinstance(node, dict):
        return []
    found = [name for field in FIELDS if isinstance(node.get(field), dict) for name in node[field]]
    return sorted(dict.fromkeys(found), key=lambda name: (len(name), name))


def _gpu(context: Context, node: Mapping[str, Any], minor: str) -> dict[str, object]:
    values = {field: _value(context, node, field, minor=minor) for field in FIELDS}
    percent = values["gpu_utilization"]
    ratio = None if percent is None else percent / PERCENT_PER_RATIO
    if ratio is not None and ratio > possible("gpu_util_ratio")[1]:
        context.notes.count("quarantined", "utilisations are no share and were taken out")
        ratio = None
    return {
        "device_minor": minor,
        "gpu_util_ratio": ratio,
        "memory_used_bytes": values["gpu_used_memory"],
        "memory_total_bytes": values["gpu_total_memory"],
    }


def _value(context: Context, node: Mapping[str, Any], field: str, *, minor: str) -> float | None:
    by_minor = node.get(field)
    value = number_of(by_minor.get(minor)) if isinstance(by_minor, dict) else None
    if value is None or value < 0:
        context.notes.count("missing-values", f"GPUs have no {field}")
        return None
    return value


FORMAT = Format(name="jobstats", title="jobstats figures of a Slurm job", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
