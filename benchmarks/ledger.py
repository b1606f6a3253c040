"""The ledger measured: changes found, kills survived, entries appended and verified a second.

Run ``python benchmarks/ledger.py`` from the repository's root; it writes
``benchmarks/results/ledger/ledger.json``. A million real session entries take some 6 GB of disk for a while.
Parts can be named, to measure them alone; each keeps the load of the machine before and after, of two cores.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ledger_kills import killed_watch, killed_writers
from ledger_tampering import tampered

from flopwitness.app.cli.watch import run as watch
from flopwitness.app.ledgering import checked_ledger, read_entries
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.storage.keys import FileSigner, new_key
from flopwitness.verify.ledger.entries import EntryKind

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "ledger" / "ledger.json"
DATASET = ROOT / "datasets" / "h200x2-hang"
SEED = 0
GROUP = 64
"""Entries of a group, where many are written at once."""

VERIFIER = """
import sys, time
from pathlib import Path
from flopwitness.app.ledgering import checked_ledger
started = time.perf_counter()
check = checked_ledger(Path(sys.argv[1]))
print(time.perf_counter() - started, time.process_time(), check.audit.n_entries, len(check.faults))
"""


def main() -> None:
    """Measure the parts that were asked for, and write them beside those that were measured before."""
    asked = parsed()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        bodies = real_bodies(folder / "real")
        parts: Mapping[str, Callable[[Path], dict[str, object]]] = {
            "tampering": lambda place: tampered(place, bodies, n_trials=asked.changes, seed=SEED),
            "kills": lambda place: killed_writers(place, n_kills=asked.kills, seed=SEED),
            "kills_of_watch": lambda place: killed_watch(place, n_kills=asked.watch_kills, seed=SEED),
            "appending": lambda place: appending(place, bodies),
            "verifying": lambda place: verifying(place, bodies, n_entries=asked.entries),
        }
        answer = json.loads(asked.out.read_text()) if asked.out.exists() else {}
        answer |= {"command": "python benchmarks/ledger.py", "seed": SEED, "environment": environment(folder)}
        for part in asked.parts or parts:
            before = os.getloadavg()[0]
            found = parts[part](folder / part)
            answer[part] = found | {"load_before_and_after": [before, os.getloadavg()[0]]}
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            asked.out.write_text(json.dumps(answer, indent=1, allow_nan=False) + "\n")


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--watch-kills", type=int, default=30)
    parser.add_argument("parts", nargs="*", help="such as 'appending'; all where none is named")
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is to be measured")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


def environment(folder: Path) -> dict[str, object]:
    """Return what the figures depend on."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "cryptography": version("cryptography"),
        "rfc8785": version("rfc8785"),
        "fsync_seconds": fsync_seconds(folder / "fsync"),
    }


def fsync_seconds(path: Path, n_times: int = 100) -> float:
    """Return the median time of forcing a page to disk."""
    seconds = []
    with path.open("wb") as file:
        for _ in range(n_times):
            file.write(bytes(4096))
            file.flush()
            started = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def real_bodies(folder: Path) -> list[Mapping[str, Any]]:
    """Return the bodies of the sessions that ``watch`` writes when it watches a shipped recording."""
    folder.mkdir()
    new_key(folder / "key")
    with Path(os.devnull).open("w") as nowhere:
        shown, sys.stdout = sys.stdout, nowhere
        try:
            watch(replay=DATASET, ledger=folder / "ledger", ledger_key=folder / "key", json=True)
        finally:
            sys.stdout = shown
    return [entry.body for entry in read_entries(folder / "ledger") if entry.kind is EntryKind.SESSION]


def appending(folder: Path, bodies: list[Mapping[str, Any]]) -> dict[str, object]:
    """Append real sessions, one a group and many a group."""
    folder.mkdir()
    signer = new_key(folder / "key")
    return {
        f"groups_of_{size}": appended(folder / f"l{size}", signer, bodies, (size, n_groups))
        for size, n_groups in ((1, 500), (GROUP, 100), (512, 20))
    }


def appended(
    path: Path, signer: FileSigner, bodies: list[Mapping[str, Any]], shape: tuple[int, int]
) -> dict[str, object]:
    """Append groups of a size; return the rate."""
    size, n_groups = shape
    group = [(EntryKind.SESSION, bodies[number % len(bodies)]) for number in range(size)]
    with LedgerWriter.open(path, signer) as writer:
        started = time.perf_counter()
        for _ in range(n_groups):
            writer.commit(group)
        seconds = time.perf_counter() - started
    return {"entries": size * n_groups, "seconds": seconds, "entries_per_second": size * n_groups / seconds}


def verifying(folder: Path, bodies: list[Mapping[str, Any]], *, n_entries: int) -> dict[str, object]:
    """Write many real sessions; time how long another process takes to verify them."""
    folder.mkdir()
    path = folder / "ledger"
    writing = appended(path, new_key(folder / "key"), bodies, (GROUP, -(-n_entries // GROUP)))
    timed: list[tuple[float, float, int, int]] = []
    for _ in range(3):
        command = [sys.executable, "-c", VERIFIER, str(path)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
        seconds, cpu_seconds, n_lines, n_faults = said.split()
        timed.append((float(seconds), float(cpu_seconds), int(n_lines), int(n_faults)))
    return {
        "session_entries": writing["entries"],
        "entries_with_checkpoints": timed[0][2],
        "bytes": path.stat().st_size,
        "group": GROUP,
        "writing": writing,
        "seconds_of_each_run": [seconds for seconds, *_ in timed],
        "processor_seconds_of_each_run": [seconds for _, seconds, *_ in timed],
        "faults": timed[0][3],
        "thorough_entries_per_second": thorough_rate(folder / "small", bodies),
    }


def thorough_rate(path: Path, bodies: list[Mapping[str, Any]], n_groups: int = 100) -> float:
    """Return how many entries a second are parsed, spelt again and checked with every signature."""
    appended(path, new_key(path.with_name("small-key")), bodies, (GROUP, n_groups))
    check: Callable[[], object] = lambda: checked_ledger(path, thorough=True)  # noqa: E731
    started = time.perf_counter()
    check()
    return n_groups * (GROUP + 1) / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
