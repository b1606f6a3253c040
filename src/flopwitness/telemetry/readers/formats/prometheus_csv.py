"""Long CSV dump of Prometheus series: a row a sample, with its labels in columns and once more as text.

``timestamp,metric_name,gpu_id,device,uuid,modelName,Hostname,container,pod,namespace,value,labels_raw``,
every cell quoted, quotes doubled inside ``labels_raw``, stamps ISO 8601. A series is told by metric, UUID
and slice; container, pod and namespace come and go and are no part of it. Such dumps are in the order of
their queries, metric after metric, so all rows are gathered before any is handed on.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.prometheus.series import NAME
from flopwitness.telemetry.readers.cells import Cells, arrow_compute
from flopwitness.telemetry.readers.clocks import NO_INSTANT, iso_instants
from flopwitness.telemetry.readers.columns import note_columns
from flopwitness.telemetry.readers.exposition import label_list
from flopwitness.telemetry.readers.long_rows import MOST_ROWS, LongRows
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.series_readings import SeriesReader, identified
from flopwitness.telemetry.readers.tables import Layout, Table, tables

LABELS = {
    "uuid": "UUID",
    "gpu_id": "gpu",
    "modelname": "modelName",
    "hostname": "Hostname",
    "device": "device",
}
"""Columns that are labels of a device, and the labels' names."""

NEEDED = ("timestamp", "metric_name", "value")
KNOWN = frozenset({*NEEDED, *LABELS, "container", "pod", "namespace", "labels_raw"})
UNIT = "\x1f"
"""ASCII's unit separator joins the cells that tell a series."""


def claims(head: Head) -> bool:
    """Say whether a head names the columns of a long dump."""
    return set(NEEDED) <= set(head.header()) and bool({"uuid", "gpu_id", "labels_raw"} & set(head.header()))


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a dump."""
    names = Head.of(context.input.head()).header()
    note_columns(context, names, dict.fromkeys(KNOWN), expected=("uuid", "labels_raw"))
    layout = Layout(names, wanted=KNOWN - {"container", "pod", "namespace"}, is_quoted=True)
    rows, reader, dump = LongRows(), SeriesReader(context), _Dump(context)
    for table in tables(context, layout):
        dump.add(rows, table)
        if len(rows) >= MOST_ROWS:
            yield from reader.readings(rows.take(dump.labels, is_last=False))
    yield from reader.readings(rows.take(dump.labels))
    reader.close()


class _Dump:
    """Numbers series as they come up in the rows."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._numbers: dict[str, int] = {}
        self.labels: list[Mapping[str, str]] = []

    def add(self, rows: LongRows, table: Table) -> None:
        """Keep the samples of a block."""
        time_ns, lacks_zone = iso_instants(table.columns["timestamp"], self._context.asked.zone)
        if lacks_zone:
            expected = "a time zone in every stamp: give --tz for those that have none"
            raise self._context.refused("column 'timestamp'", expected=expected, got="none")
        is_used = time_ns != NO_INSTANT
        what = "rows have no usable time and were left out"
        self._context.notes.count("bad-row", what, n=int((~is_used).sum()), line=table.line(~is_used))
        cells = table.numbers("value")
        self._note(cells, table)
        rows.add(self._series(table)[is_used], time_ns[is_used], cells.values[is_used])

    def _note(self, cells: Cells, table: Table) -> None:
        for code, is_one, what in (
            ("bad-cell", cells.is_bad, "cells in column 'value' are no number"),
            ("infinite-value", cells.is_infinite, "values are infinite and were taken out"),
        ):
            self._context.notes.count(code, what, n=int(is_one.sum()), line=table.line(is_one))

    def _series(self, table: Table) -> NDArray[np.int64]:
        pc = arrow_compute()
        told_by = [name for name in ("metric_name", "labels_raw", *LABELS) if name in table.columns]
        joined = pc.binary_join_element_wise(*(table.columns[name] for name in told_by), UNIT)
        encoded: Any = pc.dictionary_encode(joined)
        known = [self._number(told_by, text) for text in encoded.dictionary.to_pylist()]
        found: NDArray[np.int64] = np.array(known, dtype=np.int64)[encoded.indices.to_numpy()]
        return found

    def _number(self, told_by: list[str], text: str) -> int:
        if text not in self._numbers:
            cells = dict(zip(told_by, text.split(UNIT), strict=False))
            named = {LABELS[name]: cells[name] for name in LABELS if cells.get(name)}
            spelt = {name.casefold() for name in named}
            raw = label_list(cells.get("labels_raw", ""))
            labels = {name: value for name, value in raw.items() if name.casefold() not in spelt}
            self._numbers[text] = len(self.labels)
            self.labels.append(
                identified(self._context, {**labels, **named, NAME: cells["metric_name"].strip()})
            )
        return self._numbers[text]


FORMAT = Format(
    name="prometheus-csv",
    title="long CSV dump of Prometheus",
    claims=claims,
    parse=parse,
    is_relayed=True,
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
