"""Start, measure and end the processes of a benchmark; needs Linux and the standard library."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

SOURCE = Path(__file__).resolve().parents[1] / "src"
FLOPWITNESS = (sys.executable, "-c", "from flopwitness.app.cli.main import run; run()")
PROCESS_CLOCK = 2
"""``CPUCLOCK_SCHED``: the low bits of the id of a process's own clock, above them the inverted number."""

PATIENCE_SECONDS = 3.0


def environment() -> dict[str, str]:
    """Return this process's environment, with our sources to be found from it."""
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(SOURCE))))
    return os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


@contextmanager
def started(
    *command: str, out: IO[bytes], stdin: int = subprocess.DEVNULL
) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a command in a process group of its own; nothing of the group is left in the end."""
    process = subprocess.Popen(  # noqa: S603  our own programs
        command, stdin=stdin, stdout=out, stderr=out, env=environment(), start_new_session=True
    )
    try:
        yield process
    finally:
        end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ask a group to end, and kill it where it does not."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        signal_group(process, number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE_SECONDS)
    signal_group(process, signal.SIGKILL)
    process.wait()


def signal_group(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Send a signal to a process and all that it started; none where all have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(_fields(path)[1])
    found = [pid]
    for member in found:  # grows while it is walked
        found += [child for child, parent in parents.items() if parent == member]
    return found


def cpu_seconds(pids: list[int]) -> float:
    """Return user and system time of processes, all their threads included, ended ones too."""
    return sum(map(_cpu_seconds, pids))


def rss_bytes(pids: list[int]) -> int:
    """Return the memory that is resident now; what processes share counts for each."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)
    return total


def _cpu_seconds(pid: int) -> float:
    """Read a process's clock, to the nanosecond; its ``stat``, in ticks, where the kernel has none."""
    try:
        return time.clock_gettime(~pid << 3 | PROCESS_CLOCK)
    except OSError:
        ticks = _fields(Path(f"/proc/{pid}/stat"))[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _fields(path: Path) -> list[str]:
    """Return the fields of a ``stat`` from the state on (``man proc``)."""
    return path.read_text().rpartition(")")[2].split()
