"""``nvidia-smi -q -x``: everything the driver says, once, or again and again with ``-l``: documents in a row.

The tree was renamed over the years: ``power_readings`` became ``gpu_power_readings`` with driver 535, and its
``power_draw`` became ``average_power_draw`` and ``instant_power_draw`` with driver 570; reasons to throttle
became reasons of clock events. What is below ``mig_device`` is a slice's, not the board's; module power of
superchips is set aside. Times are local and without zone.

Sources: NVIDIA, nvidia-smi documentation; github.com/netdata/netdata/issues/15755,
github.com/netdata/netdata/pull/19757, github.com/influxdata/telegraf/issues/16569; masks: NVML API reference,
``nvmlClocksEventReasons``. That the time reads like C's ``ctime`` is unverified for other languages.
"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from types import MappingProxyType
from xml.etree.ElementTree import Element, ParseError, iterparse

import numpy as np
import pyarrow as pa

from flopwitness.core.finding import Finding
from flopwitness.telemetry.readers.clocks import written_instants
from flopwitness.telemetry.readers.columns import channels_of, keys_of
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.lost import LostGpus
from flopwitness.telemetry.readers.numbering import Numbering
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table

OPENING, CLOSING = b"<nvidia_smi_log", b"</nvidia_smi_log>"
PATTERNS = ("%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M:%S")
MOST_GPUS_PER_LOG = 1024

PATHS: Mapping[str, tuple[Field, tuple[str, ...]]] = MappingProxyType(
    {
        "power": (
            Field("power_watts", unit="W"),
            (
                "gpu_power_readings/average_power_draw",
                "gpu_power_readings/power_draw",
                "power_readings/power_draw",
            ),
        ),
        "instant": (Field("power_instant_watts", unit="W"), ("gpu_power_readings/instant_power_draw",)),
        "limit": (
            Field("power_limit_watts", unit="W"),
            (
                "gpu_power_readings/enforced_power_limit",
                "power_readings/enforced_power_limit",
                "gpu_power_readings/current_power_limit",
                "power_readings/power_limit",
            ),
        ),
        "gpu": (Field("gpu_util_ratio", divisor=100.0, unit="%"), ("utilization/gpu_util",)),
        "memory": (Field("mem_util_ratio", divisor=100.0, unit="%"), ("utilization/memory_util",)),
        "sm": (Field("sm_clock_hertz", multiplier=1e6, unit="MHz"), ("clocks/sm_clock",)),
        "mem": (Field("mem_clock_hertz", multiplier=1e6, unit="MHz"), ("clocks/mem_clock",)),
        "temperature": (Field("temperature_celsius", unit="C"), ("temperature/gpu_temp",)),
        "memory_temperature": (Field("mem_temperature_celsius", unit="C"), ("temperature/memory_temp",)),
        "used": (Field("memory_used_bytes", multiplier=1048576.0, unit="MiB"), ("fb_memory_usage/used",)),
    }
)
"""Each field and where it was and is; the first that is there counts."""

EXPECTED = ("power", "gpu", "sm")
"""Fields that every board since 2012 has a place for; when all logs lack it, it was renamed again."""

REASONS = MappingProxyType(
    {
        "gpu_idle": 0x1,
        "applications_clocks_setting": 0x2,
        "sw_power_cap": 0x4,
        "hw_slowdown": 0x8,
        "sync_boost": 0x10,
        "sw_thermal_slowdown": 0x20,
        "hw_thermal_slowdown": 0x40,
        "hw_power_brake_slowdown": 0x80,
        "display_clocks_setting": 0x100,
    }
)
REASON = re.compile(r"^clocks_(?:event|throttle)_reason_(\w+)$")
FIELDS = {**{name: field for name, (field, _) in PATHS.items()}, "reasons": Field("throttle_reasons_mask")}

Row = dict[str, str]


def claims(head: Head) -> bool:
    """Say whether a head opens such a document."""
    start = head.data.lstrip()[:2048]
    return start.startswith(b"<") and OPENING in start


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of all documents of a file."""
    rows = _rows(context)
    if not rows:
        return
    _note_gone(context, rows)
    names = ("stamp", "uuid", "id", "product", *FIELDS)
    columns = {name: pa.array([row.get(name, "") for row in rows], pa.string()) for name in names}
    table = Table(names, columns, np.zeros(len(rows), dtype=np.int64))
    time_ns, lacks_zone = written_instants([row["stamp"] for row in rows], PATTERNS, context.asked.zone)
    if lacks_zone:
        expected = "a time zone, which nvidia-smi does not print: give --tz"
        raise context.refused("element <timestamp>", expected=expected, got="none")
    numbering = Numbering(context, ("uuid", "id"), product="product")
    index = numbering.of(table)
    is_lost = LostGpus(numbering).rows(table, "power", index=index, time_ns=time_ns)
    keep = ~is_lost & keys_of(context, table, index=index, time_ns=time_ns, is_device=index >= 0).keep
    if keep.any():
        yield Readings(numbering.known, index[keep], time_ns[keep], channels_of(context, table, FIELDS, keep))


def _rows(context: Context) -> list[Row]:
    """Return the cells of each GPU of each document."""
    data = context.input.whole().text.encode()  # a byte that is no UTF-8 costs itself, not its document
    if b"<!ENTITY" in data:
        raise context.refused("", expected="XML without entities of its own", got="<!ENTITY")
    rows: list[Row] = []
    start = data.find(OPENING)
    while start >= 0:
        following = data.find(OPENING, start + 1)
        end = data.find(CLOSING, start, following if following >= 0 else len(data))
        is_whole = end >= 0
        stop = end + len(CLOSING) if is_whole else (following if following >= 0 else len(data))
        rows += _document_rows(context, data[start:stop])
        if not is_whole:
            context.notes.count("truncated", "document has no end; GPUs before it were kept")
        start = following
    return rows


def _document_rows(context: Context, document: bytes) -> list[Row]:
    rows: list[Row] = []
    stamp = ""
    try:
        for _, element in iterparse(BytesIO(document), events=("end",)):  # noqa: S314  no entities
            if element.tag == "timestamp" and not stamp:
                stamp = element.text or ""
            elif element.tag == "gpu" and len(rows) < MOST_GPUS_PER_LOG:
                rows.append({"stamp": stamp, **_cells(element)})
                element.clear()
    except ParseError:
        context.notes.count("bad-row", "documents are damaged and were read up to there")
    return rows


def _cells(gpu: Element) -> Row:
    cells = {
        "id": gpu.get("id", ""),
        "uuid": _text(gpu, "uuid"),
        "product": _text(gpu, "product_name"),
        "reasons": _mask(gpu),
    }
    for name, (_, paths) in PATHS.items():
        found = next((gpu.find(path) for path in paths if gpu.find(path) is not None), None)
        if found is not None:
            cells[name] = (found.text or "").strip()
    return cells


def _text(gpu: Element, path: str) -> str:
    return (gpu.findtext(path) or "").strip()


def _mask(gpu: Element) -> str:
    """Return the mask of the reasons that are active; nothing where one of them has no answer."""
    mask, n_answers = 0, 0
    for group in ("clocks_event_reasons", "clocks_throttle_reasons"):
        for element in gpu.iterfind(f"{group}/*"):
            found = REASON.match(element.tag)
            bit = REASONS.get(found.group(1)) if found else None
            state = (element.text or "").strip().lower()
            if bit is None:
                continue
            if state not in {"active", "not active"}:
                return ""
            n_answers += 1
            mask |= bit if state == "active" else 0
    return str(mask) if n_answers else ""


def _note_gone(context: Context, rows: list[Row]) -> None:
    for name in EXPECTED:
        if not any(name in row for row in rows):
            where = " or ".join(PATHS[name][1])
            message = f"no GPU has {where}: this driver names it otherwise, or nothing was asked for it"
            context.notes.say(Finding("missing-column", message, subject=PATHS[name][0].channel))


FORMAT = Format(name="nvidia-smi-xml", title="nvidia-smi -q -x XML", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
