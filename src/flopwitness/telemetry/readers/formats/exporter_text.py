"""Text of a Prometheus exporter of GPUs, as dcgm-exporter prints it: one scrape, or many in a row.

A plain scrape carries no time: it needs a start, and several need a period. Stamps behind the values are
milliseconds in the Prometheus format and seconds in OpenMetrics, which ends in ``# EOF``; which of them a
file has is told from its first stamp, since milliseconds of today have thirteen digits. What a metric means
is told by our table of fields; ``# TYPE`` is not read, because old exporters typed rates as counters
(github.com/NVIDIA/dcgm-exporter/issues/87). Text that has passed through Python's ``prometheus_client`` has
``_total`` behind its counters. Power is in W, energy in mJ, clocks in MHz, memory in MiB, utilisation
0..100, profiling ratios 0..1 (NVIDIA DCGM, ``dcgmlib/dcgm_fields.h``; dcgm-exporter,
``etc/default-counters.csv``).

A value that is no number costs its line alone. A scrape begins where a signal of a device comes again. Old
exporters put a blank behind the comma, order labels at will and spell ``Hostname`` or ``hostname``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.prometheus.names import signal_named
from flopwitness.telemetry.prometheus.series import NAME
from flopwitness.telemetry.readers.cells import arrow_compute, read_numbers
from flopwitness.telemetry.readers.clocks import NO_INSTANT, milliseconds_to_ns, seconds_to_ns
from flopwitness.telemetry.readers.exposition import METRIC, SampleLines, labels_of, sample_lines
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.long_rows import MOST_ROWS, LongRows
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.scrapes import scrape_starts
from flopwitness.telemetry.readers.series_readings import SeriesReader, identified, identity_of

FIRST_MILLISECONDS = 1e11
"""A stamp below is seconds: as milliseconds it would be before 1973."""

LOOKED_AT_LINES = 1000


def claims(head: Head) -> bool:
    """Say whether a head has a sample with labels of a metric that speaks of GPUs."""
    for line in head.lines[:LOOKED_AT_LINES]:
        found = METRIC.match(line)
        if found and (signal_named(found.group(1)) or found.group(1).casefold().startswith("dcgm_")):
            return "}" in line or len(head.lines) > 1
    return False


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of all scrapes."""
    table, reader, rows = _SeriesTable(context), SeriesReader(context), LongRows()
    clock = _clock_of(context)
    for block in context.input.blocks():
        found = _readable(context, table, sample_lines(_whole_lines(context, block)))
        if not len(found.lines):
            continue
        numbers = table.numbers(found.heads)
        clock.add(rows, table, numbers, found)
        if len(rows) >= MOST_ROWS:
            yield from reader.readings(rows.take(table.labels, is_last=False))
    clock.close(rows, table)
    yield from reader.readings(rows.take(table.labels))
    reader.close()


@dataclass
class _SeriesTable:
    """Series as they come up: each distinct text is read once."""

    context: Context
    labels: list[Mapping[str, str]] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _codes: dict[object, int] = field(default_factory=dict)
    _keys: list[tuple[int, int, bool]] = field(default_factory=list)

    def numbers(self, heads: Any) -> NDArray[np.int64]:
        """Return the number of each line's series; -1 where its text is none."""
        encoded = arrow_compute().dictionary_encode(heads)
        known = [self._number(head) for head in encoded.dictionary.to_pylist()]
        if not known:
            return np.array([], dtype=np.int64)
        found: NDArray[np.int64] = np.array(known, dtype=np.int64)[encoded.indices.to_numpy()]
        return found

    def keys(self) -> NDArray[np.int64]:
        """Return for each series its identity, its metric and whether it is a signal of a device."""
        return np.array(self._keys, dtype=np.int64).reshape(-1, 3)

    def _number(self, head: str) -> int:
        if head not in self._numbers:
            labels = labels_of(head)
            self._numbers[head] = -1 if labels is None else self._added(head, labels)
        return self._numbers[head]

    def _added(self, head: str, labels: Mapping[str, str]) -> int:
        labels = identified(self.context, labels)
        name, identity = labels[NAME], identity_of(labels)
        is_signal = signal_named(name) is not None
        if not is_signal:
            message = f"series of {name} are no channel of a GPU and were set aside"
            self.context.notes.say(Finding("unknown-column", message, Severity.NOTE, name))
        self._keys.append((self._code(identity or head), self._code(name), is_signal))
        self.labels.append(labels)
        return len(self.labels) - 1

    def _code(self, key: object) -> int:
        return self._codes.setdefault(key, len(self._codes))


class _Stamps:
    """Instants from the stamps behind the values."""

    def __init__(self, context: Context, *, is_seconds: bool) -> None:
        self._context = context
        self._to_ns = seconds_to_ns if is_seconds else milliseconds_to_ns

    def add(
        self, rows: LongRows, table: _SeriesTable, numbers: NDArray[np.int64], found: SampleLines
    ) -> None:
        """Keep the samples of a block."""
        time_ns = self._to_ns(read_numbers(arrow_compute().fill_null(found.stamps, "")).values)
        is_used = time_ns != NO_INSTANT
        _count_bad(self._context, found.lines[~is_used], "lines have no usable time stamp and were left out")
        is_used &= _is_signal(table, numbers)
        rows.add(numbers[is_used], time_ns[is_used], found.values.values[is_used])

    def close(self, rows: LongRows, table: _SeriesTable) -> None:
        """Do nothing: every sample has its own instant."""


class _Scrapes:
    """Instants from the number of the scrape; the scrape that a block ends in waits for the next block."""

    def __init__(self, context: Context) -> None:
        self._context = context
        start_ns = context.asked.start_ns
        if start_ns is None:
            expected = "time stamps, or the time of the scrape: give --start"
            raise context.refused("", expected=expected, got="samples without a time")
        self._start_ns = start_ns
        self._n_scrapes = 0
        self._numbers, self._values = np.array([], dtype=np.int64), np.array([], dtype=np.float64)

    def add(
        self, rows: LongRows, table: _SeriesTable, numbers: NDArray[np.int64], found: SampleLines
    ) -> None:
        """Keep the samples of the scrapes that are whole."""
        self._numbers = np.concatenate([self._numbers, numbers])
        self._values = np.concatenate([self._values, found.values.values])
        keys = table.keys()[self._numbers]
        starts = scrape_starts(keys[:, 0], keys[:, 1], self._numbers, self._values)
        self._keep(rows, table, starts)

    def close(self, rows: LongRows, table: _SeriesTable) -> None:
        """Keep the last scrape."""
        self._keep(rows, table, [0, len(self._numbers)])

    def _keep(self, rows: LongRows, table: _SeriesTable, starts: Sequence[int]) -> None:
        n_rows = starts[-1]
        scrapes = self._n_scrapes + np.searchsorted(starts, np.arange(n_rows), side="right") - 1
        numbers, values = self._numbers[:n_rows], self._values[:n_rows]
        self._numbers, self._values = self._numbers[n_rows:], self._values[n_rows:]
        self._n_scrapes += len(starts) - 1
        is_used = _is_signal(table, numbers)
        rows.add(numbers[is_used], self._time_ns(scrapes[is_used]), values[is_used])

    def _time_ns(self, scrapes: NDArray[np.int64]) -> NDArray[np.int64]:
        period_seconds = self._context.asked.period_seconds
        if period_seconds is None and self._n_scrapes > 1:
            expected = "time stamps, or the time from scrape to scrape: give --period"
            raise self._context.refused("", expected=expected, got="several scrapes without a time")
        elapsed: NDArray[np.int64] = np.rint(scrapes * ((period_seconds or 0.0) * 1e9)).astype(np.int64)
        return self._start_ns + elapsed


_Clock = _Stamps | _Scrapes


def _clock_of(context: Context) -> _Clock:
    """Look at the head alone, so that the answer depends neither on blocks nor on one odd line."""
    head = context.input.head()
    found = sample_lines(Block(head[: head.rfind(b"\n") + 1], 1))
    stamps = read_numbers(found.stamps.drop_null()).values
    known = stamps[~np.isnan(stamps)]
    if 2 * len(known) < len(found.lines) or not len(known):
        return _Scrapes(context)
    return _Stamps(context, is_seconds=bool(np.median(known) < FIRST_MILLISECONDS))


def _is_signal(table: _SeriesTable, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    is_signal: NDArray[np.bool_] = table.keys()[numbers, 2].astype(np.bool_)
    return is_signal


def _whole_lines(context: Context, block: Block) -> Block:
    """Give up a last line without an end: its value may lack digits."""
    if not block.is_cut:
        return block
    context.notes.count("truncated", "line without an end was given up: the file was cut")
    stop = block.data.rfind(b"\n", 0, len(block.data) - 1) + 1
    return Block(block.data[:stop], block.first_line)


def _readable(context: Context, table: _SeriesTable, found: SampleLines) -> SampleLines:
    """Return the lines whose labels can be read; say what was wrong with the others and with values."""
    is_series = table.numbers(found.heads) >= 0
    bad_lines = np.sort(np.concatenate([found.bad_lines, found.lines[~is_series]]))
    _count_bad(context, bad_lines, "lines are neither samples nor comments and were left out")
    kept = found if is_series.all() else found.where(is_series)
    _count_bad(context, kept.lines[kept.values.is_bad], "lines hold no number and were left out")
    is_infinite = kept.values.is_infinite
    what = "values are infinite and were taken out"
    context.notes.count("infinite-value", what, n=int(is_infinite.sum()))
    return kept


def _count_bad(context: Context, lines: NDArray[np.int64], what: str) -> None:
    context.notes.count("bad-row", what, n=len(lines), line=int(lines[0]) if len(lines) else None)


FORMAT = Format(
    name="exporter-text",
    title="Prometheus text of a GPU exporter",
    claims=claims,
    parse=parse,
    is_relayed=True,
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
