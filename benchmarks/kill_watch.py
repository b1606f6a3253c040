"""Kill ``watch`` at random moments: whether a finished workload is lost or doubled."""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from flopwitness.app.opening import open_recording
from flopwitness.app.witnessing import detected_sessions

DATASETS = Path(__file__).resolve().parents[1] / "datasets"

PROGRAM = (
    "import sys; from pathlib import Path; from flopwitness.app.cli.watch import run; "
    "sys.exit(run(replay=Path(sys.argv[1]), journal=Path(sys.argv[2]), record=Path(sys.argv[3]), "
    "speed=float(sys.argv[4]), json=True))"
)


def main() -> int:
    """Kill, run to the end, compare the journal with the sessions of the recording; 0 where they agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--dataset", default="h200x2-a")
    parser.add_argument("--speed", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    recording = DATASETS / options.dataset
    expected = [session.session_id for session in detected_sessions(open_recording(recording))]
    with tempfile.TemporaryDirectory() as folder:
        acknowledged = killed(Path(folder), recording, options)
        daemon(Path(folder), recording, speed=0.0).communicate()
        lines = (Path(folder) / "journal.jsonl").read_text().splitlines()
    kept = [json.loads(line)["session_id"] for line in lines]
    lost = sorted((set(expected) | set(acknowledged)) - set(kept))
    doubled = len(kept) - len(set(kept))
    other = sorted(set(kept) - set(expected))
    result = {
        "kills": options.kills,
        "workloads": len(expected),
        "acknowledged_before_a_kill": len(acknowledged),
        "lost": lost,
        "doubled": doubled,
        "not_in_the_recording": other,
    }
    print(json.dumps(result))  # noqa: T201  the result
    return int(bool(lost or doubled or other))


def killed(folder: Path, recording: Path, options: argparse.Namespace) -> list[str]:
    """Start and kill daemons; return the workloads that they acknowledged."""
    chance = random.Random(options.seed)  # noqa: S311  moments, not secrets
    acknowledged = []
    for _ in range(options.kills):
        process = daemon(folder, recording, speed=options.speed)
        time.sleep(chance.uniform(0.5, 2.5))
        if process.poll() is not None:
            raise SystemExit("the replay ended before the last kill: lower --speed")
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
        whole = said[: said.rfind("\n") + 1].splitlines()
        acknowledged += [json.loads(line)["session_id"] for line in whole]
    return acknowledged


def daemon(folder: Path, recording: Path, *, speed: float) -> subprocess.Popen[str]:
    """Start a daemon on a replay."""
    arguments = [str(recording), str(folder / "journal.jsonl"), str(folder / "recording"), str(speed)]
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  our own program


if __name__ == "__main__":
    sys.exit(main())
