"""How fast files are read, piece by piece as ``FileReader.read`` gives them, and how much memory that takes.

Writes an nvidia-smi CSV and a text of dcgm-exporter scrapes into a temporary folder and reads each in a
process of its own, on one core, whose peak memory it then asks the system for: once ``--rows`` rows for
speed, once a file of ``--large-bytes`` for memory. A row of the exporter's text is a line with a sample. On
a busy machine rows a CPU second say more than rows a second. Prints one JSON object.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.files import FileReader
from flopwitness.telemetry.readers.inputs import Input

GPUS = 8
START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ASKED = Asked(zone=UTC, start_ns=1_770_091_506_000_000_000, period_seconds=1.0)
TICKS_AT_ONCE = 2_000
BYTES_PER_KIBIBYTE = 1024

SMI_HEADER = (
    "timestamp, index, uuid, power.draw [W], clocks.current.sm [MHz], utilization.gpu [%], "
    "memory.used [MiB], clocks_event_reasons.active\n"
)
SCRAPED = (
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", 600.0, 0.125),
    ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", 5e9, 600_000.0),
    ("DCGM_FI_DEV_SM_CLOCK", "gauge", 1755.0, 0.0),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", 0.44, 0.000001),
    ("DCGM_FI_PROF_DRAM_ACTIVE", "gauge", 0.37, 0.000001),
)


def smi_rows(first_tick: int) -> str:
    """Return rows of nvidia-smi, ten ticks a second."""
    rows: list[str] = []
    for tick in range(first_tick, first_tick + TICKS_AT_ONCE):
        stamp = f"{START + timedelta(milliseconds=100 * tick):%Y/%m/%d %H:%M:%S.%f}"[:-4]  # the GPU ends it
        rows += (
            f"{stamp}{gpu}, {gpu}, GPU-{gpu:08x}-1111-2222-3333-444444444444, {400 + (tick + gpu) % 300}."
            f"{tick % 100:02d} W, {1700 + tick % 50} MHz, {tick % 101} %, {70000 + tick % 999} MiB, "
            "0x0000000000000004\n"
            for gpu in range(GPUS)
        )
    return "".join(rows)


def scrapes(first_tick: int) -> str:
    """Return scrapes of dcgm-exporter, one after another."""
    labels = [
        f'gpu="{gpu}",UUID="GPU-{gpu:08x}-1111-2222-3333-444444444444",pci_bus_id="00000000:{gpu:02X}:00.0",'
        f'device="nvidia{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-1"'
        for gpu in range(GPUS)
    ]
    lines: list[str] = []
    for tick in range(first_tick, first_tick + TICKS_AT_ONCE):
        for name, kind, first, step in SCRAPED:
            lines.append(f"# TYPE {name} {kind}\n")
            lines += (f"{name}{{{label}}} {first + step * tick:.6f}\n" for label in labels)
    return "".join(lines)


KINDS = {
    "nvidia-smi-csv": (SMI_HEADER, smi_rows, GPUS),
    "exporter-text": ("", scrapes, GPUS * len(SCRAPED)),
}
"""Header, what writes ticks, and rows a tick."""


def main() -> None:
    """Measure, or read one file where a measuring process asks for it."""
    options = parsed()
    if options.read is not None:
        sys.stdout.write(json.dumps(read(options.read)) + "\n")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            kind: {
                "speed": measured(folder / kind, kind, rows=options.rows),
                "memory": measured(folder / kind, kind, size=options.large_bytes),
            }
            for kind in options.kinds
        }
    sys.stdout.write(json.dumps({"one_core": True, "formats": found}, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--large-bytes", type=int, default=2_000_000_000)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(path: Path, kind: str, *, rows: float = math.inf, size: float = math.inf) -> dict[str, float]:
    """Write a file of so many rows or bytes, read it in a process of its own, and remove it."""
    n_rows = write(path, kind, rows=rows, size=size)
    n_bytes = path.stat().st_size
    command = [sys.executable, __file__, "--read", str(path)]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603  our own
    path.unlink()
    rates = {
        f"rows_per_{name.rstrip('s')}": round(n_rows / found[name]) for name in ("seconds", "cpu_seconds")
    }
    return {"rows": n_rows, "bytes": n_bytes, **rates, **found}


def write(path: Path, kind: str, *, rows: float, size: float) -> int:
    """Write ticks until there are as many rows or bytes as asked for; return the rows."""
    header, lines, rows_per_tick = KINDS[kind]
    with path.open("w") as file:
        file.write(header)
        tick = 0
        while tick * rows_per_tick < rows and file.tell() < size:
            file.write(lines(tick))
            tick += TICKS_AT_ONCE
    return tick * rows_per_tick


def read(path: Path) -> dict[str, float]:
    """Read a file on one core; return samples, seconds and the peak of resident memory."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    reader = FileReader(Input.of(path), ASKED)
    started, begun = time.perf_counter(), time.process_time()
    n_samples = sum(len(piece) for piece in reader.read())
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - begun
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * BYTES_PER_KIBIBYTE
    return {
        "samples": n_samples,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_memory_bytes": peak_bytes,
    }


if __name__ == "__main__":
    main()
