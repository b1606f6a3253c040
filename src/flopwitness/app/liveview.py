"""The live view: a row a GPU with what it did in the last minute. Rendering alone."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from flopwitness.app.daemon import Daemon, Finished
from flopwitness.app.jobtotals import JobSoFar
from flopwitness.app.sofar import SHOWN, OpenWork, SoFar, flop_so_far, shown_estimate
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.core.workload import Target
from flopwitness.physics.chips import chip_named

LEVELS = "▁▂▃▄▅▆▇█"
N_POINTS = 24
"""Width of a sparkline, one character a batch."""

N_JOBS = 3
"""Latest jobs that are shown with their totals."""

Point = tuple[float, float, float, float]


def sparkline(values: Iterable[float], *, highest: float) -> str:
    """Return values as bars, 0 to ``highest``; a blank where nobody knows.

    Examples
    --------
    >>> sparkline([0.0, 0.5, float("nan"), 1.0], highest=1.0)
    '▁▅ █'
    """
    top = len(LEVELS) - 1
    return "".join(
        LEVELS[round(min(max(value / highest, 0.0), 1.0) * top)] if value == value else " "  # noqa: PLR0124
        for value in values
    )


@dataclass(slots=True)
class _Row:
    chip: str
    history: list[Point]
    work: OpenWork | None = None
    until_ns: int = 0
    flop: float = 0.0
    flop_per_second: float = float("nan")


class LiveView:
    """Keeps the last points of each GPU and adds up the FLOP of what is open, batch by batch.

    The FLOP so far are those of the calibrated pipe sum: it costs a multiplication, and the full estimate
    comes when the workload is over.

    Parameters
    ----------
    target : Target
        Which FLOP are shown.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._so_far = SoFar()
        self._rows: dict[str, _Row] = {}
        self._finished_flop = 0.0
        self._jobs: dict[int, str] = {}

    def count(self, finished: Finished) -> None:
        """Add a finished workload to the total."""
        estimates = finished.witnessed.estimates.get(self._target, {})
        shown = shown_estimate(estimates)
        self._finished_flop += shown.point_flop if shown else 0.0
        if finished.job is not None:
            self._tell_job(finished.job)

    def take(self, daemon: Daemon) -> None:
        """Take the daemon's latest batch."""
        for piece in daemon.latest:
            row = self._rows.setdefault(piece.device.uuid, _Row(piece.device.chip, []))
            row.history = [*row.history[1 - N_POINTS :], _point(piece)]
            self._advance(row, daemon, piece)

    @property
    def total_flop(self) -> float:
        """FLOP of what is finished and what is open."""
        return self._finished_flop + sum(row.flop for row in self._rows.values())

    def table(self) -> Table:
        """Return what is known now."""
        table = Table(
            title=f"flopwitness watch: {self.total_flop:.4g} {self._target} FLOP in all", title_justify="left"
        )
        table.caption, table.caption_justify = "; ".join(self._jobs.values()) or None, "left"
        for column in ("GPU", "power (W)", "tensor", "DRAM", "NVLink", "workload", "FLOP so far", "FLOP/s"):
            table.add_column(column, no_wrap=True)
        for uuid, row in self._rows.items():
            table.add_row(uuid[-12:], *_signals(row), *_work(row))
        return table

    def _tell_job(self, job: JobSoFar) -> None:
        """Keep a line on each of the latest jobs, the one that was told of last at the end."""
        number = job.placed.number
        self._jobs.pop(number, None)
        by_name = job.total.flop.get(self._target, {})
        name = next((name for name in SHOWN if name in by_name), None)
        flop = f"{by_name[name][0]:.4g} FLOP" if name else "no estimate"
        self._jobs[number] = f"job {number}: {flop}, sessions: {job.total.n_sessions}"
        for oldest in list(self._jobs)[:-N_JOBS]:
            del self._jobs[oldest]

    def _advance(self, row: _Row, daemon: Daemon, piece: Trace) -> None:
        work = self._so_far.advance(daemon.finder, piece.device.uuid)
        if work is None:
            row.work, row.flop, row.flop_per_second = None, 0.0, float("nan")
            return
        goes_on = row.work is not None and row.work.sums.start_ns == work.sums.start_ns
        before, since_ns = (row.flop, row.until_ns) if goes_on else (0.0, work.sums.start_ns)
        row.work, row.flop = work, self._flop(daemon, work)
        if work.sums.stop_ns > since_ns:
            seconds = (work.sums.stop_ns - since_ns) / NANOSECONDS_PER_SECOND
            row.flop_per_second = (row.flop - before) / seconds
        row.until_ns = work.sums.stop_ns

    def _flop(self, daemon: Daemon, work: OpenWork) -> float:
        estimates = flop_so_far((work,), daemon.calibration_for((work.device.chip,)))
        return estimates[self._target].point_flop if self._target in estimates else np.nan


def _point(piece: Trace) -> Point:
    """Return power in watts, tensor and DRAM share, and NVLink bytes a second, each a mean over a batch."""
    power = "power_instant_watts" if "power_instant_watts" in piece else "power_watts"
    gauges = [_mean(piece, name) for name in (power, "tensor_active_ratio", "dram_active_ratio")]
    return gauges[0], gauges[1], gauges[2], sum(_link_rate(piece, way) for way in ("tx", "rx"))


def _mean(piece: Trace, name: str) -> float:
    values = piece.column(name)
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _link_rate(piece: Trace, way: str) -> float:
    counter = piece.column(f"nvlink_{way}_bytes_total")
    if len(piece) > 1 and np.isfinite(counter[[0, -1]]).all():
        return float(counter[-1] - counter[0]) / float(piece.seconds()[-1])
    return _mean(piece, f"nvlink_{way}_bytes_per_second")


def _signals(row: _Row) -> list[str]:
    chip = chip_named(row.chip)
    tops = (chip.power_limit_watts, 1.0, 1.0, chip.nvlink_bytes_per_second or 1.0)
    lines = [
        sparkline(values, highest=top)
        for values, top in zip(zip(*row.history, strict=True), tops, strict=True)
    ]
    return [f"{row.history[-1][0]:4.0f} {lines[0]}", *lines[1:]]


def _work(row: _Row) -> list[str]:
    if row.work is None:
        return ["idle", "-", "-"]
    return [f"{row.work.sums.seconds:.0f} s", f"{row.flop:.4g}", f"{row.flop_per_second:.3g}"]
