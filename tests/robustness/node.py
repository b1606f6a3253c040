"""A node with made-up GPUs: starts our programs on it as a person would, and knows what its GPUs did."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from flopwitness.app.opening import open_recording
from flopwitness.core.recording import Recording
from flopwitness.telemetry.samplers.locks import lock_folder

FAKES = Path(__file__).parents[1] / "fakes"
PROGRAM = "from flopwitness.app.cli.main import run; run()"
PATIENCE_SECONDS = 60.0
"""A test that waits longer than this has failed; nothing is asserted about how long things take."""

Process = subprocess.Popen[str]


def waited_for(condition: Callable[[], Any]) -> Any:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


class Node:
    """Two GPUs that are idle and busy in turn by the monotonic clock, and a folder for what is kept."""

    def __init__(self, folder: Path, nvml_folder: Path, *, idle: float = 1.6, busy: float = 1.4) -> None:
        name = uuid4().hex[:12]
        self.folder = folder
        self.idle, self.busy = idle, busy
        self.uuids = [f"GPU-fake-{name}-{index}" for index in range(2)]
        self.control = folder / "control"
        self.control.mkdir()
        self.journal, self.records = folder / "state" / "journal.jsonl", folder / "state" / "records"
        self.environment = os.environ | {
            "LD_LIBRARY_PATH": str(nvml_folder),
            "FAKE_NVML_NAME": name,
            "FAKE_NVML_FOLDER": str(self.control),
            "FAKE_NVML_IDLE_SECONDS": str(idle),
            "FAKE_NVML_BUSY_SECONDS": str(busy),
        }
        self._started: list[Process] = []

    def start(self, *arguments: str | Path) -> Process:
        """Start our command line; its standard error goes to a file of its own, see ``said``."""
        with (self.folder / f"stderr-{len(self._started)}").open("w") as err:
            command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=err, text=True, env=self.environment
            )
        self._started.append(process)
        return process

    def watch(self, *, record: bool = True) -> Process:
        """Start ``watch`` with a journal and a recording, and wait until it samples."""
        n_before = self.n_appended()
        kept = ["--journal", self.journal] + (["--record", self.records] if record else [])
        process = self.start("watch", "--json", *kept)
        if record:
            waited_for(lambda: self.n_appended() != n_before or process.poll() is not None)
        return process

    def n_appended(self) -> tuple[str, ...]:
        """Return what tells whether samples were appended: the names of the segments."""
        return tuple(sorted(path.name for path in self.records.glob("*/segment-*")))

    def said(self, number: int = -1) -> str:
        """Return what a program said to people so far; the latest one where no number is given."""
        at = number % len(self._started)
        return (self.folder / f"stderr-{at}").read_text()

    def entries(self) -> list[dict[str, Any]]:
        """Return the lines of the journal; a half one at the end is none."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def recording(self) -> Recording:
        """Return the one recording."""
        (folder,) = self.records.iterdir()
        return open_recording(folder)

    def wait_until_busy(self, seconds: float) -> None:
        """Wait until the GPUs have been at their work for so long."""
        period = self.idle + self.busy
        now = time.monotonic() % period
        time.sleep((self.idle + seconds - now) % period)

    def worked(self, start_ns: int, stop_ns: int) -> Iterator[tuple[int, int]]:
        """Yield the stretches of work that lie wholly in a stretch of true UTC."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        period_ns, idle_ns = round((self.idle + self.busy) * 1e9), round(self.idle * 1e9)
        for number in range((start_ns - offset_ns) // period_ns, (stop_ns - offset_ns) // period_ns + 1):
            begin_ns, end_ns = number * period_ns + idle_ns + offset_ns, (number + 1) * period_ns + offset_ns
            if start_ns <= begin_ns and end_ns <= stop_ns:
                yield begin_ns, end_ns

    def tear_down(self) -> None:
        """Kill what still runs, and take the locks away."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for uuid in self.uuids:
            (lock_folder() / f"{uuid}.lock").unlink(missing_ok=True)


def stopped(process: Process) -> list[dict[str, Any]]:
    """Stop a program with SIGTERM; return its JSON lines once it left with 0."""
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


def killed(process: Process) -> list[dict[str, Any]]:
    """Stop a program with SIGKILL; return its whole JSON lines."""
    process.kill()
    out, _ = process.communicate()
    return [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]


def doubled(entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs of workloads that count the same time of the same GPU; none is how it should be."""
    lanes: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
    for entry in entries:
        for uuid in entry["devices"]:
            stretch = (entry["start_ns"], entry["stop_ns"], entry["session_id"])
            lanes.setdefault((uuid, entry["name"]), []).append(stretch)
    pairs = []
    for lane in lanes.values():
        lane.sort()
        pairs += [(a[2], b[2]) for a, b in pairwise(lane) if b[0] < a[1]]
    return pairs
