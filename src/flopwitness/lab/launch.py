"""Start ranks as child processes, hear them, end them. Knows no torch: the parent only measures."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopwitness.lab.events import Event, parsed

SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "NCCL_NVLS_ENABLE": "0",
    "NCCL_SOCKET_IFNAME": "lo",
    "GLOO_SOCKET_IFNAME": "lo",
}
"""Environment of the ranks where nobody set it: one thread a rank as torchrun has it, no multicast over
NVLink, which hangs in virtual machines that do not pass it through, and the loopback interface, since all
ranks sit in one machine, which may have no other."""


class Ranks:
    """The processes of one sweep.

    Parameters
    ----------
    plan : mapping
        JSON values that all ranks get, such as ``device``, ``configurations`` and ``rhythm``.
    n_ranks : int
        Processes, one a device.
    logs : Path
        Folder for what they print, one file a rank, appended to.
    """

    def __init__(self, plan: Mapping[str, Any], n_ranks: int, *, logs: Path) -> None:
        self.n_ranks = n_ranks
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._readers: list[threading.Thread] = []
        self._folder = tempfile.TemporaryDirectory(prefix="flopwitness-")
        shared = dict(plan) | {"n_ranks": n_ranks, "rendezvous": f"{self._folder.name}/rendezvous"}
        try:
            for rank in range(n_ranks):
                self._start(shared | {"rank": rank}, logs / f"rank{rank}.log")
        except OSError:
            self.end()
            raise

    def _start(self, plan: dict[str, Any], log: Path) -> None:
        ours, theirs = os.pipe()
        with log.open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "flopwitness.lab.rank"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                pass_fds=(theirs,),
                env=SETTINGS | os.environ | {"LOCAL_RANK": str(plan["rank"])},
            )
        self._processes.append(process)
        os.close(theirs)
        # Standard input stays open: a rank leaves when it ends, which it does when this process is killed.
        if process.stdin is not None:
            process.stdin.write(json.dumps(plan | {"events_descriptor": theirs}).encode() + b"\n")
            process.stdin.flush()
        reader = threading.Thread(target=self._hear, args=(ours,), daemon=True)
        reader.start()
        self._readers.append(reader)

    def _hear(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb") as lines:
            for line in lines:
                if (event := parsed(line)) is not None:
                    self._events.put(event)

    def next_event(self, timeout_seconds: float) -> Event | None:
        """Return the next event of any rank, or None where none came in time."""
        try:
            return self._events.get(timeout=timeout_seconds)
        except queue.Empty:
            return None

    @property
    def casualties(self) -> dict[int, int]:
        """Ranks that ended with another exit status than 0, and that status."""
        ended = ((rank, process.poll()) for rank, process in enumerate(self._processes))
        return {rank: status for rank, status in ended if status}

    @property
    def all_ended(self) -> bool:
        """Whether no rank runs any more."""
        return all(process.poll() is not None for process in self._processes)

    def end(self) -> None:
        """Kill what still runs and let go of it; what was said before stays to be heard."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        for reader in self._readers:
            reader.join(timeout=5)
        self._folder.cleanup()
