"""Kill ``watch`` at random moments: whether a finished workload is lost or doubled.

On a replay of a dataset, or with ``--live`` on the GPUs of this machine, which should be at work and idle in
turn (CONTRIBUTING.md says how to make some up). Prints one JSON object; 0 where nothing is lost or doubled.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from flopwitness.app.opening import open_recording
from flopwitness.app.witnessing import detected_sessions

DATASETS = Path(__file__).resolve().parents[1] / "datasets"
PROGRAM = "from flopwitness.app.cli.main import run; run()"


def main() -> int:
    """Kill, run to the end, compare the journal with the recording."""
    options = parsed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        acknowledged = killed(folder, options)
        ended(folder, options)
        entries = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
        recording = next((folder / "recording").iterdir()) if options.live else DATASETS / options.dataset
        sessions = detected_sessions(open_recording(recording))
    kept = [entry["session_id"] for entry in entries]
    expected = [session.session_id for session in sessions]
    result = {
        "kills": options.kills,
        "workloads": len(expected),
        "acknowledged_before_a_kill": len(acknowledged),
        "lost": sorted((set(expected) | set(acknowledged)) - set(kept)),
        "doubled": len(kept) - len(set(kept)) + n_overlaps(entries),
        "not_in_the_recording": sorted(set(kept) - set(expected)),
    }
    print(json.dumps(result))  # noqa: T201  the result
    return int(bool(result["lost"] or result["doubled"] or result["not_in_the_recording"]))


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--live", action="store_true", help="the GPUs of this machine, not a dataset")
    parser.add_argument("--dataset", default="h200x2-a")
    parser.add_argument("--speed", type=float, default=8.0, help="of the replay")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def killed(folder: Path, options: argparse.Namespace) -> list[str]:
    """Start and kill daemons; return the workloads that they acknowledged."""
    chance = random.Random(options.seed)  # noqa: S311  moments, not secrets
    acknowledged = []
    for _ in range(options.kills):
        process = daemon(folder, options, speed=options.speed)
        time.sleep(chance.uniform(0.5, 4.0 if options.live else 2.5))
        if process.poll() is not None:
            raise SystemExit("watch ended before the last kill: lower --speed, or see what it said")
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
        whole = said[: said.rfind("\n") + 1].splitlines()
        acknowledged += [json.loads(line)["session_id"] for line in whole]
    return acknowledged


def ended(folder: Path, options: argparse.Namespace) -> None:
    """Let a last daemon come to a clean end: that of the replay, or SIGTERM after a while of sampling."""
    process = daemon(folder, options, speed=0.0)
    if options.live:
        time.sleep(15)
        process.send_signal(signal.SIGTERM)
    process.communicate()


def daemon(folder: Path, options: argparse.Namespace, *, speed: float) -> subprocess.Popen[str]:
    """Start a daemon with its journal and recording in a folder."""
    command = [sys.executable, "-c", PROGRAM, "watch", "--json"]
    command += ["--journal", str(folder / "journal.jsonl"), "--record", str(folder / "recording")]
    if not options.live:
        command += ["--replay", str(DATASETS / options.dataset), "--speed", str(speed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  our own program


def n_overlaps(entries: Iterable[dict[str, Any]]) -> int:
    """Return how often the same time of the same GPU counts under one name in two workloads."""
    stretches = sorted(
        (uuid, entry["name"], entry["start_ns"], entry["stop_ns"])
        for entry in entries
        for uuid in entry["devices"]
    )
    pairs = pairwise(stretches)
    return sum(a[:2] == b[:2] and b[2] < a[3] for a, b in pairs)


if __name__ == "__main__":
    sys.exit(main())
