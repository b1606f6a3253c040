"""What a sample costs: Zeus, CodeCarbon and nvitop against ``watch``, on the GPUs of this machine.

Each runs alone, in a process of its own, at its default cadence and at 10 Hz; after it has begun to sample,
processor time of all its processes and threads is read from the kernel at two instants. One sample is one
round over all GPUs. The tools read different things (see ``reads``); ``watch`` also finds workloads and
estimates them. A tool that does not start or ends early gets an entry with its last words. Prints one JSON
object, and a table on standard error.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import FLOPWITNESS, cpu_seconds, family, rss_bytes, started

TIMEOUT = subprocess.TimeoutExpired
RIVALS = Path(__file__).with_name("rivals.py")
START_SECONDS = 20.0
"""How long a tool may take until it samples."""

SETTLE_SECONDS = 1.0
OWN_SETTLE_SECONDS = 3.0
"""``watch`` does not say that it has begun; it starts in under half a second, and then opens the driver."""


@dataclass(frozen=True, slots=True)
class Case:
    """One tool at one cadence; interval 0 is the tool's own, of which one lasts ``default_seconds``."""

    name: str
    tool: str
    interval: float
    default_seconds: float
    reads: str


POWER = "2 or 3 powers of each GPU (instant, average, memory), each polled by a process of its own"
ENERGY = "the energy counter of each GPU, and the processor's, at the beginning and the end of a window"
CARBON = (
    "energy counter of each GPU, processor and memory estimates in each measurement; besides, each second "
    "whatever the cadence, utilisation of each GPU, processor and memory"
)
SNAPSHOT = (
    "10 figures of each GPU (memory, two utilisations, fan, temperature, power) and what their snapshot "
    "reads besides, its processes, processor, memory and load of the host"
)
OURS = "see signals_of_a_gpu; slow signals less often; workloads are found and estimated from them"
CASES = (
    Case("zeus PowerMonitor, default", "zeus-power", 0.0, 0.1, POWER),
    Case("zeus PowerMonitor, 10 Hz", "zeus-power", 0.1, 0.1, POWER),
    Case("zeus ZeusMonitor windows, 10 Hz", "zeus-windows", 0.1, 0.1, ENERGY),
    Case("codecarbon, default", "codecarbon", 0.0, 15.0, CARBON),
    Case("codecarbon, 10 Hz", "codecarbon", 0.1, 0.1, CARBON),
    Case("nvitop, default", "nvitop", 0.0, 1.0, SNAPSHOT),
    Case("nvitop, 10 Hz", "nvitop", 0.1, 0.1, SNAPSHOT),
    Case("flopwitness watch, default and 10 Hz", "watch", 0.1, 0.1, OURS),
)


def main() -> int:
    """Measure each case; 0 whatever single tools do."""
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    until = time.monotonic() + options.limit_seconds
    found = []
    for case in CASES:
        if options.only in case.name:
            found.append({"tool": case.name, **measured(case, options, until=until)})
            sys.stderr.write(line(found[-1]) + "\n")
    own = {} if options.replay else signals()
    sys.stdout.write(json.dumps({"tools": found, "own": own}) + "\n")
    return 0


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each is measured")
    parser.add_argument("--only", default="", help="only cases whose name holds this text")
    parser.add_argument("--replay", help="a recording for watch, in place of this machine's GPUs")
    parser.add_argument("--limit-seconds", type=float, default=100.0, help="after that nothing is begun")
    return parser.parse_args()


def measured(case: Case, options: argparse.Namespace, *, until: float) -> dict[str, Any]:
    """Measure one case; whatever goes wrong is said in its entry."""
    seconds = max(options.seconds, case.default_seconds + 0.5)  # at least one round
    if time.monotonic() + seconds > until:
        return {"error": "no time was left"}
    with tempfile.TemporaryDirectory() as name, (Path(name) / "said").open("w+b") as out:
        counts = Path(name) / "counts"
        counts.mkdir()
        with started(*command(case, options, Path(name), counts), out=out) as process:
            try:
                return reading(case, process, counts, Path(out.name), seconds=seconds)
            except (EOFError, OSError, ValueError) as error:
                said = Path(out.name).read_text(errors="replace").strip()
                return {"error": f"{type(error).__name__}: {error}: {said[-400:]}"}


def command(case: Case, options: argparse.Namespace, folder: Path, counts: Path) -> tuple[str, ...]:
    """Return what starts a case."""
    if case.tool != "watch":
        return (sys.executable, str(RIVALS), case.tool, str(case.interval), str(counts))
    source = ("--replay", options.replay, "--speed", "1") if options.replay else ()
    return (*FLOPWITNESS, "watch", "--json", "--journal", str(folder / "journal.jsonl"), *source)


def reading(
    case: Case, process: "subprocess.Popen[bytes]", counts: Path, said: Path, *, seconds: float
) -> dict[str, Any]:
    """Wait until a tool samples, then read what it spends."""
    facts: dict[str, Any] = {}
    if case.tool == "watch":
        time.sleep(OWN_SETTLE_SECONDS)
    else:
        facts = begun(process, said)
        time.sleep(SETTLE_SECONDS)
    members = family(process.pid)
    before, rounds_before, since = cpu_seconds(members), n_rounds(counts), time.monotonic()
    time.sleep(seconds)
    spent, elapsed = cpu_seconds(members) - before, time.monotonic() - since
    if process.poll() is not None:
        raise EOFError(f"ended with status {process.returncode}")
    rounds = elapsed / case.interval if case.tool == "watch" else n_rounds(counts) - rounds_before
    return facts | {
        "cpu_seconds_per_sample": round(spent / rounds, 7) if rounds else None,
        "cpu_ratio": round(spent / elapsed, 5),
        "samples": round(rounds, 1),
        "rss_bytes": rss_bytes(members),
        "processes": len(members),
        "seconds": round(elapsed, 3),
        "reads": case.reads,
    }


def begun(process: "subprocess.Popen[bytes]", said: Path) -> dict[str, Any]:
    """Wait for the line that says that sampling has begun."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        for text in objects(said):
            return text
        if process.poll() is not None:
            raise EOFError(f"ended with status {process.returncode} before it sampled")
        time.sleep(0.05)
    raise EOFError(f"did not sample within {START_SECONDS:.0f} s")


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among the whole lines of a file."""
    for text in path.read_text(errors="replace").splitlines(keepends=True):
        if text.startswith("{") and text.endswith("\n"):
            with suppress(ValueError):
                yield json.loads(text)


def n_rounds(counts: Path) -> float:
    """Return the rounds so far: the mean of the processes that count."""
    cells = [int.from_bytes(path.read_bytes(), sys.byteorder) for path in counts.iterdir()]
    return sum(cells) / len(cells) if cells else 0.0


def signals() -> dict[str, Any]:
    """Return how many signals our sampler reads here; an error where it cannot."""
    with tempfile.TemporaryDirectory() as name, (Path(name) / "said").open("w+b") as out:
        with started(sys.executable, str(RIVALS), "own", "0.1", name, out=out) as process, suppress(TIMEOUT):
            process.wait(START_SECONDS)
        said = Path(out.name)
        return next(objects(said), {"error": said.read_text(errors="replace").strip()[-300:]})


def line(entry: dict[str, Any]) -> str:
    """Return one row for people."""
    if "error" in entry:
        return f"{entry['tool']:40} {entry['error'].splitlines()[-1][:120]}"
    cost = entry["cpu_seconds_per_sample"]
    per_sample = "      - " if cost is None else f"{1e3 * cost:8.3f}"
    return (
        f"{entry['tool']:40} {per_sample} ms a sample, {100 * entry['cpu_ratio']:6.2f} % of a core, "
        f"{entry['samples']:9.1f} samples, {entry['rss_bytes'] / 2**20:6.0f} MiB"
    )


if __name__ == "__main__":
    sys.exit(main())
