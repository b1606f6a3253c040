"""InfiniBand rates of a host. Fabric traffic belongs to no GPU, so it becomes figures a port, not samples.

``timestamp,phase,ib0_tx_bytes_s,ib0_rx_bytes_s,ib0_tx_pkts_s,ib0_rx_pkts_s,...,total_tx_bytes_s,total_rx_bytes_s``:
epoch seconds, bytes and packets a second. The totals are sums of the ports and are left out. A figure is a
mean over the time that was seen: a step over three times the usual one is a gap, and is not bridged.

Source: home-made loggers over ``/sys/class/infiniband/*/ports/*/counters`` (Linux kernel documentation,
``ABI/stable/sysfs-class-infiniband``).
"""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.telemetry.readers.clocks import seconds_to_ns
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.header import header_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Summary
from flopwitness.telemetry.readers.tables import Layout, tables

RATE = re.compile(r"^(?!total_)(\w{1,40})_(tx|rx)_(bytes|pkts)_s$")
TOTAL = re.compile(r"^total_(tx|rx)_(bytes|pkts)_s$")
GAP_STEPS = 3.0
"""A step this many times the usual one is a gap."""

FABRIC_NOTE = Finding(
    "fabric-traffic",
    "traffic of a host's fabric belongs to no GPU: figures a port were kept, samples and sums were set aside",
    Severity.NOTE,
)

Column = NDArray[np.float64]


def claims(head: Head) -> bool:
    """Say whether a head is a header of ports' rates."""
    names = head.header()
    ports = [match for name in names if (match := RATE.match(name))]
    return "timestamp" in names and "gpu" not in names and any(port[1].startswith("ib") for port in ports)


def summarise(context: Context) -> Summary:
    """Return a row a port."""
    names = header_of(context)
    rates = {name: match for name in names if (match := RATE.match(name))}
    totals = [name for name in names if TOTAL.match(name)]
    note_columns(context, names, dict.fromkeys(("timestamp", "phase", *rates, *totals)), ("timestamp",))
    context.notes.say(FABRIC_NOTE)
    time_ns, columns = _columns(context, names, list(rates))
    step_seconds = np.diff(time_ns) / NANOSECONDS_PER_SECOND
    is_seen = step_seconds <= GAP_STEPS * (np.median(step_seconds) if len(step_seconds) else 0.0)
    ports = list(dict.fromkeys(match[1] for match in rates.values()))
    rows = [
        {
            "port": port,
            "n_samples": len(time_ns),
            "started_ns": int(time_ns[0]) if len(time_ns) else None,
            "stopped_ns": int(time_ns[-1]) if len(time_ns) else None,
            "observed_seconds": float(step_seconds[is_seen].sum()),
            **_figures(port, columns, step_seconds, is_seen),
        }
        for port in ports
    ]
    return Summary("InfiniBand ports of a host", tuple(rows), context.notes.findings())


def _columns(
    context: Context, names: tuple[str, ...], rates: list[str]
) -> tuple[NDArray[np.int64], Mapping[str, Column]]:
    """Return the rates of the whole file in time order, the first row of each stamp."""
    fields = {name: Field(_channel(name)) for name in rates}
    stamps: list[NDArray[np.int64]] = []
    parts: dict[str, list[Column]] = {name: [] for name in rates}
    for table in tables(context, Layout(names, wanted={"timestamp", *rates})):
        time_ns = seconds_to_ns(table.numbers("timestamp").values)
        keys = keys_of(context, table, index=np.zeros(len(table), np.int64), time_ns=time_ns)
        stamps.append(keys.time_ns)
        found = channels_of(context, table, fields, keys.keep)
        for name in rates:
            parts[name].append(found[_channel(name)])
    time_ns, first = np.unique(np.concatenate(stamps or [np.array([], np.int64)]), return_index=True)
    return time_ns, {
        name: np.concatenate(part)[first] if part else np.array([]) for name, part in parts.items()
    }


def _channel(name: str) -> str:
    return name.removesuffix("_s") + "_per_second"


def _figures(
    port: str, columns: Mapping[str, Column], step_seconds: Column, is_seen: NDArray[np.bool_]
) -> dict[str, float | None]:
    """Return mean and largest rate each way; None where nobody saw two readings in a row."""
    figures: dict[str, float | None] = {}
    for way in ("tx", "rx"):
        for what in ("bytes", "pkts"):
            values = columns.get(f"{port}_{way}_{what}_s")
            if values is None:
                continue
            mean = (values[1:] + values[:-1]) / 2
            known = is_seen & np.isfinite(mean)
            seconds = float(step_seconds[known].sum())
            name = f"{way}_{'packets' if what == 'pkts' else what}_per_second"
            figures[name] = float(step_seconds[known] @ mean[known]) / seconds if seconds > 0 else None
            is_answer = np.isfinite(values)
            figures[f"most_{name}"] = float(values[is_answer].max()) if is_answer.any() else None
    return figures


FORMAT = Format(name="infiniband-csv", title="InfiniBand rates of a host", claims=claims, summarise=summarise)
"""Registered in ``flopwitness.telemetry.readers.known``."""
