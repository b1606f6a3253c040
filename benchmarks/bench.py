"""Time the commands that people wait for, on this machine: ``make bench``.

A recording of ten million samples (eight GPUs, 35 hours at 10 Hz) is stretched from the bundled capture;
reading its summary and scoring every workload in it are timed as whole processes, and so is the experiment's
protocol with 200 splits.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.device import Device
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.recordings import read_recording, write_recording

ROOT = Path(__file__).resolve().parents[1]
COMMAND = Path(sys.executable).parent / "flopwitness"
N_SAMPLES, N_DEVICES = 10_000_000, 8


def stretched(trace: Trace, n_samples: int, *, uuid: str) -> Trace:
    """Stretch a capture of one run to this many samples: hours of work, each after ten minutes of idle.

    The idle head and the middle of the first run are repeated; counters count on, instants are 0.1 s apart.
    """
    busy = np.flatnonzero(trace["tensor_active_ratio"] > 0)
    middle = busy[len(busy) // 4 :][:20]
    hour = np.concatenate([np.arange(6_000) % 30, np.resize(middle, 36_000)])
    order = np.resize(hour, n_samples)
    columns = {}
    for name, column in trace.channels.items():
        columns[name] = column[order]
        if CANONICAL[name].kind is Kind.COUNTER:
            moved = np.clip(np.diff(column, append=column[-1]), 0, None)[order]
            columns[name] = np.cumsum(moved)
    instants = int(trace.time_ns[0]) + np.arange(n_samples) * 100_000_000
    return Trace(Device(uuid, chip=trace.device.chip), instants, columns)


def large_recording() -> Recording:
    """Make the recording of ten million samples."""
    source = read_recording(ROOT / "datasets" / "h200x2-a" / "samples.parquet")
    traces = tuple(
        stretched(source.traces[number % 2], N_SAMPLES // N_DEVICES, uuid=f"GPU-{number}")
        for number in range(N_DEVICES)
    )
    return Recording("ten-million", traces, source.provenance)


def timed(label: str, *arguments: str) -> None:
    """Run the command and print how long the whole process took."""
    started = time.perf_counter()
    subprocess.run([COMMAND, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    sys.stdout.write(f"{label}: {time.perf_counter() - started:.1f} s\n")
    sys.stdout.flush()


def main() -> None:
    """Make the data, run the commands."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten-million.parquet"
        write_recording(path, large_recording())
        for _ in range(3):
            timed("summary of 10,000,000 samples (read)", "read", str(path), "--json")
            timed("workloads found and scored in them (estimate)", "estimate", str(path), "--json")
    dataset = str(ROOT / "datasets" / "h200x2-a")
    timed("200 random splits of all estimators (evaluate)", "evaluate", dataset, "--splits", "200", "--json")


if __name__ == "__main__":
    main()
