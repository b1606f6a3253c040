"""The project's recording CSV: NVML and GPM at about 10 Hz, a row for each GPU and sample.

Columns are found by name, in any order. What reading lost is counted and named in findings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.cells import Cells, read_instants, read_numbers
from flopwitness.telemetry.readers.delimited import Rows, read_rows, shown
from flopwitness.telemetry.readers.nvml_columns import COLUMNS, OPTIONAL_COLUMNS, Column, in_base_units
from flopwitness.telemetry.readers.source import Source, read_source
from flopwitness.telemetry.readers.traces import build_traces, median_step_seconds

READER = "nvml_csv 1"
"""Name and version that a recording keeps; the version rises when the same bytes would read otherwise."""

LAST_INDEX = 65_535
"""The highest GPU index that is believed; NVML counts from 0."""


@dataclass(frozen=True)
class NvmlCsvReader:
    """Reads one recording CSV (plain or gzip, also without its trailer); implements ``Reader``.

    Parameters
    ----------
    path : Path
        The file.
    name : str or None
        Name of the capture; by default that of the file, or of its folder where the file is called
        ``samples``. Device UUIDs are made from it, because the format keeps an index only.
    chip, driver, host : str
        What the format does not say.

    Raises
    ------
    BadInputError
        From ``recording``, ``findings`` or the first step of ``read``: when the file cannot be read or
        is no such recording.
    """

    path: Path
    name: str | None = None
    chip: str = "H200-SXM"
    driver: str = ""
    host: str = ""

    @cached_property
    def recording(self) -> Recording:
        """Everything in the file, read at the first use."""
        return self.read_from(read_source(self.path))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What reading lost or had to infer."""
        return self.recording.findings

    def read(self) -> Iterator[Trace]:
        """Yield one piece a device, in the order of their indexes."""
        yield from self.recording.traces

    def read_from(self, source: Source) -> Recording:
        """Read what a file held; errors are those of ``recording``."""
        rows = read_rows(source, needed=("t", "gpu"), wanted=("t", "gpu", *COLUMNS))
        keys = _read_keys(source.path, rows)
        channels, lost = _read_channels(source.path, rows, keep=keys.keep)
        name = self.name or _capture_name(self.path)
        devices = {
            int(index): Device(f"{name}:{index}", chip=self.chip, host=self.host)
            for index in np.unique(keys.index)
        }
        traces, disorder = build_traces(devices, keys.index, time_ns=keys.time_ns, channels=channels)
        provenance = Provenance(
            source="nvml+gpm",
            input_sha256=source.sha256,
            host=self.host,
            driver=self.driver,
            clock="host UTC",
            interval_seconds=median_step_seconds(traces),
            reader=READER,
        )
        inferred = Finding(
            "uuid-inferred",
            "the format keeps no UUID; devices are named by capture and index",
            Severity.NOTE,
        )
        cut = _cut(source, rows, n_kept=len(keys.index))
        return Recording(name, traces, provenance, (inferred, *cut, *keys.findings, *lost, *disorder))


def read_recording_csv(
    path: Path, *, name: str | None = None, chip: str = "H200-SXM", driver: str = "", host: str = ""
) -> Recording:
    """Read a recording CSV whole; parameters and errors are those of ``NvmlCsvReader``."""
    return NvmlCsvReader(Path(path), name, chip, driver, host).recording


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """Which rows have an instant and a device, and which ones they are."""

    keep: NDArray[np.bool_]
    time_ns: NDArray[np.int64]
    index: NDArray[np.int64]
    findings: tuple[Finding, ...]


def _capture_name(path: Path) -> str:
    stem = path.name.split(".")[0]
    return (path.resolve().parent.name if stem == "samples" else stem) or "recording"


def _cut(source: Source, rows: Rows, *, n_kept: int) -> tuple[Finding, ...]:
    if not (source.is_cut or rows.is_cut):
        return ()
    what = "the gzip stream has no end" if source.is_cut else "the last line has no end"
    message = f"{what}; {n_kept} rows were kept, half a row or cell at the cut was not"
    return (Finding("truncated", message, subject=Path(source.path).name),)


def _read_keys(path: str, rows: Rows) -> _Keys:
    """Read instants and indexes; a row without either is lost and counted."""
    times, indexes = read_numbers(rows.columns["t"]), read_numbers(rows.columns["gpu"])
    for column, cells in (("t", times), ("gpu", indexes)):
        if cells.is_infinite.any():
            raise _not_a_number(path, rows, column, is_wrong=cells.is_infinite, expected="a finite number")
        if cells.is_bad.any() and np.isnan(cells.values).all():
            raise _not_a_number(path, rows, column, is_wrong=cells.is_bad, expected="a number")
    time_ns, is_instant = read_instants(rows.columns["t"], times)
    is_index = (indexes.values >= 0) & (indexes.values <= LAST_INDEX) & (indexes.values % 1 == 0)
    keep = is_instant & is_index
    if not keep.any():
        column, is_wrong, expected = (
            ("gpu", ~is_index, "an index from 0")
            if is_instant.any()
            else ("t", ~is_instant, "seconds since 1970")
        )
        raise _not_a_number(path, rows, column, is_wrong=is_wrong, expected=expected)
    findings = _lost_rows(path, rows, is_lost=~keep & ~rows.is_blank)
    return _Keys(keep, time_ns[keep], indexes.values[keep].astype(np.int64), findings)


def _not_a_number(
    path: str, rows: Rows, column: str, *, is_wrong: NDArray[np.bool_], expected: str
) -> BadInputError:
    row = int(np.argmax(is_wrong))
    cell = shown(rows.columns[column][row].as_py())
    return BadInputError(path, f"line {rows.line(row)}, column {column!r}", expected=expected, got=cell)


def _lost_rows(path: str, rows: Rows, *, is_lost: NDArray[np.bool_]) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    if rows.refused_lines:
        message = (
            f"{len(rows.refused_lines)} rows do not have {len(rows.header)} cells and were left out,"
            f" the first in line {rows.refused_lines[0]}"
        )
        findings.append(Finding("bad-row", message, subject=Path(path).name))
    if is_lost.any():
        message = (
            f"{int(is_lost.sum())} rows have no usable time or GPU index and were left out,"
            f" the first in line {rows.line(int(np.argmax(is_lost)))}"
        )
        findings.append(Finding("bad-row", message, subject=Path(path).name))
    return tuple(findings)


def _read_channels(
    path: str, rows: Rows, *, keep: NDArray[np.bool_]
) -> tuple[dict[str, NDArray[np.float64]], list[Finding]]:
    present = [column for column in COLUMNS.values() if column.name in rows.columns]
    if not present:
        known = f"one of {', '.join(list(COLUMNS)[:4])}, ..."
        raise BadInputError(path, "line 1", expected=known, got=shown(",".join(rows.header)))
    findings = _header_findings(rows)
    channels: dict[str, NDArray[np.float64]] = {}
    for column in present:
        cells = read_numbers(rows.columns[column.name])
        if cells.is_bad.any() and np.isnan(cells.values).all():
            raise _not_a_number(path, rows, column.name, is_wrong=cells.is_bad, expected="a number")
        kept = cells.take(keep)
        if kept.is_missing.all():
            message = f"column {column.name!r} is empty throughout; the channel counts as not offered"
            findings.append(Finding("channel-absent", message, Severity.NOTE, subject=column.channel))
            continue
        first_bad = rows.line(int(np.argmax(cells.is_bad & keep)))
        findings += _cell_findings(column, kept, first_bad_line=first_bad)
        channels[column.channel], impossible = in_base_units(column, kept.values)
        findings += impossible
    return channels, findings


def _header_findings(rows: Rows) -> list[Finding]:
    missing = [name for name in COLUMNS if name not in rows.header and name not in OPTIONAL_COLUMNS]
    unknown = [name for name in rows.header if name not in COLUMNS and name not in {"t", "gpu"}]
    return [
        Finding("missing-column", f"column {name!r} is not in the file", subject=COLUMNS[name].channel)
        for name in missing
    ] + [
        Finding("unknown-column", f"column {shown(name)} is not known and was set aside", Severity.NOTE)
        for name in unknown
    ]


def _cell_findings(column: Column, cells: Cells, *, first_bad_line: int) -> list[Finding]:
    n_cells = len(cells.values)
    n_missing, n_bad = int(cells.is_missing.sum()), int(cells.is_bad.sum())
    n_infinite = int(cells.is_infinite.sum())
    where = f"of {n_cells} cells in column {column.name!r}"
    messages = {
        "missing-values": f"{n_missing} {where} hold no answer" if n_missing else "",
        "bad-cell": f"{n_bad} {where} are no number, the first in line {first_bad_line}" if n_bad else "",
        "infinite-value": f"{n_infinite} {where} are infinite and were taken out" if n_infinite else "",
    }
    return [Finding(code, message, subject=column.channel) for code, message in messages.items() if message]
