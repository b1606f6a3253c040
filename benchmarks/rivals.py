"""One tool that samples GPUs, running until it is ended: ``rivals.py TOOL INTERVAL COUNTS``.

Each is used through its public interface, as its documentation has it, with nothing else in the process.
INTERVAL 0 is the tool's own default. Rounds are counted in files of the folder COUNTS, one a process, eight
bytes each: a round reads every GPU once. ``own`` loads no tool: it counts the signals that our sampler reads.
"""

import json
import mmap
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

DRAIN_SECONDS = 1.0
"""How often whoever uses Zeus' PowerMonitor takes the samples from its queues."""


class Counter:
    """Counts in a file that another process reads."""

    def __init__(self, folder: str) -> None:
        with (Path(folder) / str(os.getpid())).open("w+b") as file:
            file.truncate(8)
            self._cells = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")

    def add(self) -> None:
        """Count one more."""
        self._cells[0] += 1


def ready(package: str, **facts: object) -> None:
    """Say on standard output that sampling has begun."""
    sys.stdout.write(json.dumps({"version": version(package), **facts}) + "\n")
    sys.stdout.flush()


def zeus_power(interval: float, folder: str) -> None:  # noqa: ARG001  its processes count
    """Run ``PowerMonitor``: a process for each kind of power, all GPUs in each."""
    from zeus.monitor import PowerMonitor  # noqa: PLC0415

    monitor = PowerMonitor(update_period=interval or None)
    domains = [domain.value for domain in monitor.measurement_domains]
    ready(
        "zeus", n_gpus=len(monitor.gpu_indices), update_period_seconds=monitor.update_period, domains=domains
    )
    while True:
        time.sleep(DRAIN_SECONDS)
        monitor.get_all_power_timelines(start_time=time.time() - DRAIN_SECONDS)


def counted_zeus_process(folder: str) -> None:
    """Count rounds in the processes of ``PowerMonitor``: each asks the time once before it reads."""
    from zeus.monitor import power  # noqa: PLC0415

    counter, n_asked = Counter(folder), 0

    def counting_time() -> float:
        nonlocal n_asked
        n_asked += 1
        if n_asked % 2:  # the other time it asks how long the round took
            counter.add()
        return time.time()

    power.time = counting_time


def zeus_windows(interval: float, folder: str) -> None:
    """Run windows of ``ZeusMonitor``, back to back."""
    from zeus.monitor import ZeusMonitor  # noqa: PLC0415

    monitor, counter = ZeusMonitor(), Counter(folder)
    ready("zeus", n_gpus=len(monitor.gpu_indices), n_cpus=len(monitor.cpu_indices))
    due = time.monotonic()
    while True:
        monitor.begin_window("window", sync_execution=False)
        due += interval
        time.sleep(max(0.0, due - time.monotonic()))
        monitor.end_window("window", sync_execution=False)
        counter.add()


def codecarbon(interval: float, folder: str) -> None:
    """Run ``OfflineEmissionsTracker`` without any output."""
    from codecarbon import OfflineEmissionsTracker  # noqa: PLC0415

    counter = Counter(folder)

    class Counted(OfflineEmissionsTracker):
        def _measure_power_and_energy(self) -> None:
            super()._measure_power_and_energy()
            counter.add()

    given = {"measure_power_secs": interval} if interval else {}
    tracker = Counted(
        country_iso_code="USA", output_methods=[], log_level="error", allow_multiple_runs=True, **given
    )
    tracker.start()
    hardware = tracker._conf["hardware"]  # noqa: SLF001
    ready("codecarbon", hardware=hardware, tracks_gpus=any("GPU" in one for one in hardware))
    while True:
        time.sleep(3600)


def nvitop(interval: float, folder: str) -> None:
    """Run ``ResourceMetricCollector`` with its own thread."""
    from nvitop import ResourceMetricCollector  # noqa: PLC0415

    counter = Counter(folder)

    class Counted(ResourceMetricCollector):
        def take_snapshots(self) -> Any:
            taken = super().take_snapshots()
            counter.add()
            return taken

    collector = Counted(**({"interval": interval} if interval else {}))
    collector.start(tag="all")
    ready("nvitop", n_gpus=len(collector.devices), interval_seconds=collector.interval)
    while True:
        time.sleep(3600)


def own(interval: float, folder: str) -> None:  # noqa: ARG001
    """Say how many signals our sampler reads of a GPU, slow ones included; ends by itself."""
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415

    sampler, signals = best_sampler(interval_seconds=interval), 0
    try:
        for _ in range(3):
            signals = max([signals, *(len(trace.channels) for trace in sampler.sample())])
            time.sleep(interval)
    finally:
        sampler.close()
    sys.stdout.write(json.dumps({"signals_of_a_gpu": signals, "source": sampler.source}) + "\n")


TOOLS: dict[str, Callable[[float, str], None]] = {
    "zeus-power": zeus_power,
    "zeus-windows": zeus_windows,
    "codecarbon": codecarbon,
    "nvitop": nvitop,
    "own": own,
}

if __name__ == "__main__":
    TOOLS[sys.argv[1]](float(sys.argv[2]), sys.argv[3])
elif __name__ == "__mp_main__":  # a process of PowerMonitor, which imports this file anew
    counted_zeus_process(sys.argv[3])
