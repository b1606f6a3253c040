"""Whether memory stays flat: a week of eight GPUs at 10 Hz through the daemon, the page's book beside it.

Samples are made on the fly from a bundled capture, batch by batch, so that nothing but the daemon and the
book can hold memory: ten minutes of idle, then 65 minutes of work, again and again, and each GPU silent for a
minute a day. Prints one JSON object: samples a second, and resident memory after so many replayed hours.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Daemon, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.ticking import Round
from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityWatch
from flopwitness.storage.recordings import read_recording

CAPTURE = Path(__file__).resolve().parents[1] / "datasets" / "h200x2-a" / "samples.parquet"
N_GPUS, BATCH_SECONDS = 8, 60
IDLE_SECONDS, BUSY_SECONDS = 600, 3900
HOUR, DAY = 3600, 86_400
START_NS = 1_800_000_000_000_000_000


class Gpu:
    """Makes the samples of one GPU from a capture, for as long as anybody asks.

    Parameters
    ----------
    capture : Trace
        Its idle head and its first run are repeated.
    number : int
        Which GPU.
    """

    def __init__(self, capture: Trace, number: int, *, hertz: int) -> None:
        self._hertz = hertz
        busy = np.flatnonzero(capture["tensor_active_ratio"] > 0)
        middle = busy[len(busy) // 4 :][:20]
        pattern = np.concatenate(
            [np.arange(IDLE_SECONDS * hertz) % 30, np.resize(middle, BUSY_SECONDS * hertz)]
        )
        self._device = Device(f"GPU-{number}", chip=capture.device.chip, host="node")
        self._silent_from = 3 * HOUR + number * HOUR
        self._columns: dict[str, NDArray[np.float64]] = {}
        self._grown: dict[str, float] = {}
        for name, column in capture.channels.items():
            if CANONICAL[name].kind is Kind.COUNTER:
                moved = np.clip(np.diff(column, append=column[-1]), 0, None)[pattern]
                self._columns[name], self._grown[name] = np.cumsum(moved), float(moved.sum())
            else:
                self._columns[name] = column[pattern]
        self._n_pattern = len(pattern)

    def batch(self, second: int) -> Trace | None:
        """Return the samples of a batch; None where it is silent."""
        if self._silent_from <= second % DAY < self._silent_from + 60:
            return None
        ticks = np.arange(second * self._hertz, (second + BATCH_SECONDS) * self._hertz)
        turns, spots = ticks // self._n_pattern, ticks % self._n_pattern
        columns = {name: column[spots] for name, column in self._columns.items()}
        for name, grown in self._grown.items():
            columns[name] += turns * grown
        return Trace(self._device, START_NS + ticks * (1_000_000_000 // self._hertz), columns)


def batches(seconds: int, hertz: int) -> Iterator[Round]:
    """Yield all GPUs' samples, batch by batch."""
    capture = read_recording(CAPTURE).traces
    gpus = [Gpu(capture[number % len(capture)], number, hertz=hertz) for number in range(N_GPUS)]
    del capture
    for second in range(0, seconds, BATCH_SECONDS):
        made = (gpu.batch(second) for gpu in gpus)
        yield tuple(one for one in made if one is not None)


def resident_bytes() -> int:
    """Return the memory that this process holds now (Linux)."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


class Gauge:
    """Looks at memory at some hours of replayed time; shows the book every batch."""

    def __init__(self, book: LiveBook, hours: list[float]) -> None:
        self._book, self._hours = book, sorted(hours)
        self.started = time.perf_counter()
        self.rows: list[dict[str, float]] = []

    def show(self, daemon: Daemon) -> None:
        """Take a batch, and note memory where it is time."""
        self._book.take(daemon)
        now = self._book.snapshot
        hours = (now.at_ns - START_NS) / 1e9 / HOUR
        while self._hours and hours >= self._hours[0] - BATCH_SECONDS / HOUR:
            seconds = time.perf_counter() - self.started
            row = {
                "hours": self._hours.pop(0),
                "resident_mb": round(resident_bytes() / 1e6, 1),
                "n_samples": now.n_samples,
                "n_finished": now.n_finished,
                "samples_per_second": round(now.n_samples / seconds),
            }
            self.rows.append(row)
            sys.stderr.write(json.dumps(row) + "\n")


def main() -> int:
    """Run; 0 where memory grew by less than a tenth after the first day."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--hertz", type=int, default=10, help="fewer samples, as many batches: quicker")
    parser.add_argument("--without-book", action="store_true", help="the daemon alone, to compare")
    options = parser.parse_args()
    seconds = round(options.days * DAY)
    book = LiveBook()
    gauge = Gauge(book, [1.0, 6.0, *np.arange(24.0, seconds / HOUR + 1, 24.0).tolist()])
    calibration = shipped_calibration(["H200-SXM"])
    outputs = Outputs(lambda _: False, lambda _: None, book.count, None, gauge.show)
    if options.without_book:
        outputs = replace(outputs, tell=lambda _: None, show=lambda _: None)
    finder = WorkloadFinder(ActivityWatch)
    daemon = Daemon(finder, lambda _: calibration, outputs=outputs, baselines=IdleBaselines())
    daemon.run(batches(seconds, options.hertz))
    took = time.perf_counter() - gauge.started
    n_samples = seconds * options.hertz * N_GPUS
    found = {
        "seconds": round(took, 1),
        "samples_per_second": round(n_samples / took),
        "resident_mb": round(resident_bytes() / 1e6, 1),
        "rows": gauge.rows,
    }
    sys.stdout.write(json.dumps(found) + "\n")
    day = next((row["resident_mb"] for row in gauge.rows if row["hours"] >= 24), found["resident_mb"])
    return 0 if found["resident_mb"] < 1.1 * day else 1


if __name__ == "__main__":
    sys.exit(main())
