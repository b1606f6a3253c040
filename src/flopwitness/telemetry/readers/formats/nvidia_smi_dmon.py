"""``nvidia-smi dmon``: one row a GPU and round, columns held apart by blanks, two header lines a screenful.

The first header line names columns, the second their units; which there are depends on the driver and on
``-s``. ``sm`` and ``mem`` are the utilisations of ``nvidia-smi --query-gpu``, ``mclk`` is the memory clock,
``pclk`` that of the SMs, ``fb`` is MiB under the name MB. A dash is no answer, as for most fields in MIG
mode. Rows carry no time unless ``-o T`` (time of day) or ``-o DT`` (date and time, both local) was given;
the tool prints every second unless ``-d`` says otherwise. ``rxpci`` and ``txpci`` can be far beyond the
link.

Sources: NVIDIA, nvidia-smi documentation, "Device Monitoring"; ``nvidia-smi dmon -h``.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.aligned import Aligned, aligned_tables, header_names, tabbed
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.daytime import DayTimes
from flopwitness.telemetry.readers.echoed import echoed_words, option, seconds_of, timed_rounds
from flopwitness.telemetry.readers.fields import Field, mebibytes, megabytes, megahertz, percent, plain
from flopwitness.telemetry.readers.lost import LostGpus
from flopwitness.telemetry.readers.numbering import Numbering
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.ticks import Rounds

TOOL = "nvidia-smi dmon"
USUAL_SECONDS = 1.0

FIELDS: Mapping[str, Field] = MappingProxyType(
    {
        "pwr": plain("power_watts"),
        "gtemp": plain("temperature_celsius"),
        "temp": plain("temperature_celsius"),
        "mtemp": plain("mem_temperature_celsius"),
        "sm": percent("gpu_util_ratio"),
        "mem": percent("mem_util_ratio"),
        "mclk": megahertz("mem_clock_hertz"),
        "pclk": megahertz("sm_clock_hertz"),
        "fb": mebibytes("memory_used_bytes"),
        "rxpci": megabytes("pcie_rx_bytes_per_second"),
        "txpci": megabytes("pcie_tx_bytes_per_second"),
    }
)
KNOWN = dict.fromkeys(
    (
        "gpu",
        "date",
        "time",
        "enc",
        "dec",
        "jpg",
        "ofa",
        "pviol",
        "tviol",
        "bar1",
        "ccpm",
        "sbecc",
        "dbecc",
        "pci",
    )
)
"""Columns without a channel."""

SKIPPED = re.compile(rb"^(?:#|>|\$|nvidia-smi)[^\n]*", re.MULTILINE)


def claims(head: Head) -> bool:
    """Say whether a head has a header of dmon: a GPU column, and one of its columns."""
    names = set(first_header(head))
    return "gpu" in names and "pid" not in names and bool(names & FIELDS.keys())


def first_header(head: Head) -> tuple[str, ...]:
    """Return the columns that the first comment with a GPU column names; none where there is none."""
    lines = tabbed(head.data[:4096]).split(b"\n")
    headers = (header_names(line) for line in lines if line.startswith(b"#"))
    return next((names for names in headers if "gpu" in names), ())


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a log."""
    head = Head.of(context.input.head())
    names = first_header(head)
    note_columns(context, names, {**KNOWN, **FIELDS})
    numbering, rounds = Numbering(context, ("gpu",), indexes=("gpu",)), Rounds()
    lost, days = LostGpus(numbering), DayTimes(context, TOOL)
    stated = seconds_of(option(echoed_words(head, TOOL), "-d", "--delay"))
    aligned = Aligned(names, {*FIELDS, "gpu", "date", "time"}, _header_start(head), SKIPPED)
    for table in aligned_tables(context, aligned):
        if "gpu" not in table.columns:
            continue
        index = numbering.of(table)
        if "time" in table.columns:
            time_ns = days.of(table)
        else:
            time_ns = _counted(context, rounds, index, stated=stated)
        field = next((name for name in FIELDS if name in table.columns), "")
        is_lost = lost.rows(table, field, index=index, time_ns=time_ns)
        keep = ~is_lost & keys_of(context, table, index=index, time_ns=time_ns, is_device=index >= 0).keep
        if keep.any():
            channels = channels_of(context, table, FIELDS, keep)
            yield Readings(numbering.known, index[keep], time_ns[keep], channels)


def _header_start(head: Head) -> bytes:
    lines = (line for line in tabbed(head.data[:4096]).split(b"\n") if line.startswith(b"#"))
    return next(line.split(b"\t")[0] for line in lines if "gpu" in header_names(line))


def _counted(
    context: Context, rounds: Rounds, index: NDArray[np.int64], *, stated: float | None
) -> NDArray[np.int64]:
    is_device = index >= 0
    places = np.zeros(len(index), dtype=np.int64)
    places[is_device] = rounds.of(index[is_device])
    return timed_rounds(context, places, TOOL, stated_seconds=stated, usual_seconds=USUAL_SECONDS)


FORMAT = Format(name="nvidia-smi-dmon", title="nvidia-smi dmon", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
