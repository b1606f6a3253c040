"""What a live ``flopwitness watch`` costs: processor time of all its threads, and the most memory it held.

Starts ``watch --json`` with a journal in a temporary folder, lets it settle, and reads ``/proc`` at two
instants; needs Linux and the standard library. Prints one JSON object.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

SOURCE = Path(__file__).resolve().parents[1] / "src"
PROGRAM = "from flopwitness.app.cli.main import run; run()"
SETTLE_SECONDS = 3.0
"""Start-up, imports and the first round are no running cost."""


def main() -> int:
    """Measure; return the daemon's exit status, or 2 where it ended too early to be measured."""
    options = parsed()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "told.jsonl").open("w+") as told:
        process = started(Path(folder) / "journal.jsonl", told, options)
        try:
            ended = waited(process, SETTLE_SECONDS)
            before, since = cpu_seconds(process), time.monotonic()
            ended = ended or waited(process, options.seconds)
            spent, seconds = cpu_seconds(process) - before, time.monotonic() - since
            rss_bytes = peak_rss_bytes(process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
        told.seek(0)
        n_samples = sum(json.loads(line)["n_samples"] for line in told)
    if process.returncode or ended:
        sys.stderr.write("" if process.returncode else "watch ended before the measurement was over\n")
        return process.returncode or 2
    result = {
        "cpu_ratio": round(spent / seconds, 5),
        "rss_bytes": rss_bytes,
        "seconds": round(seconds, 3),
        "samples": n_samples,
        "interval_seconds": options.interval,
    }
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


def parsed() -> argparse.Namespace:
    """Read the options."""
    counted = "'samples' counts those inside workloads, over all GPUs; 0 on an idle node."
    parser = argparse.ArgumentParser(description=__doc__, epilog=counted)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0, help="how long to measure")
    parser.add_argument("--interval", type=float, default=0.1, help="seconds between samples")
    parser.add_argument("--replay", help="a recording in place of this machine's GPUs")
    parser.add_argument("--speed", default="1", help="speed of a replay")
    return parser.parse_args()


def started(journal: Path, told: IO[str], options: argparse.Namespace) -> "subprocess.Popen[bytes]":
    """Start the daemon; what it has to say to people goes where ours does."""
    command = [sys.executable, "-c", PROGRAM, "watch", "--json", "--journal", str(journal)]
    command += ["--interval", str(options.interval)]
    if options.replay:
        command += ["--replay", options.replay, "--speed", options.speed]
    path = os.pathsep.join(filter(None, (str(SOURCE), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(  # noqa: S603  our own program
        command, stdout=told, env=os.environ | {"PYTHONPATH": path}
    )


def waited(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait; say whether the process ended meanwhile. It is not reaped, so ``/proc`` can still be read."""
    until = time.monotonic() + seconds
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while (left := until - time.monotonic()) > 0:
        if os.waitid(os.P_PID, process.pid, flags):
            return True
        time.sleep(min(left, 0.25))
    return False


def cpu_seconds(process: "subprocess.Popen[bytes]") -> float:
    """Return user and system time of all threads, ended ones included: fields 14 and 15 (``man proc``)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_rss_bytes(process: "subprocess.Popen[bytes]") -> int:
    """Return the most memory that was resident at once; 0 of a process that ended."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


if __name__ == "__main__":
    sys.exit(main())
