"""Processes that write a ledger, killed at random moments: what was acknowledged is there, once."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from flopwitness.app.ledgering import checked_ledger, read_entries
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.app.opening import open_recording
from flopwitness.app.witnessing import detected_sessions
from flopwitness.storage.keys import new_key, read_signer
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.entries import EntryKind

DATASET = Path(__file__).resolve().parents[1] / "datasets" / "h200x2-a"

KILLS_A_LEDGER = 5
"""After so many a new ledger is begun: each opening checks the whole of it."""

WRITER = """
import random, sys
from pathlib import Path
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.storage.keys import read_signer
from flopwitness.verify.ledger.entries import EntryKind
path, number, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[2])
with LedgerWriter.open(path, read_signer(path.with_name("key"))) as writer:
    while True:
        group = range(number, number + chance.randrange(1, 300))
        writer.commit([(EntryKind.SESSION, {"number": one, "filling": "x" * 3000}) for one in group])
        number = group.stop
        print(number, flush=True)
"""

WATCHER = "from flopwitness.app.cli.main import run; run()"


def killed_writers(folder: Path, *, n_kills: int, seed: int) -> dict[str, object]:
    """Kill a process that appends numbered entries; each time open the ledger and look for them."""
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    counts = Counter[str](kills=n_kills)
    for first in range(0, n_kills, KILLS_A_LEDGER):
        place = folder / str(first)
        place.mkdir(parents=True)
        new_key(place / "key")
        kept = 0
        for _ in range(min(KILLS_A_LEDGER, n_kills - first)):
            kept = killed_writer(place / "ledger", kept, chance, counts)
        counts["entries"] += kept
    return dict(counts)


def killed_writer(path: Path, kept: int, chance: random.Random, counts: Counter[str]) -> int:
    """Kill a writer once, count what became of its entries, return how many the ledger holds."""
    said = killed([WRITER, str(path), str(kept)], chance.uniform(0.0, 0.25))
    acknowledged = max([kept, *map(int, said)])
    before, head_before = path.stat().st_size, head_path(path).read_bytes()
    with LedgerWriter.open(path, read_signer(path.with_name("key"))):
        pass
    numbers = [one.body["number"] for one in read_entries(path) if one.kind is EntryKind.SESSION]
    whole = set(range(len(set(numbers))))
    counts.update(
        acknowledged_entries_lost=len(set(range(acknowledged)) - set(numbers)),
        entries_doubled=len(numbers) - len(set(numbers)),
        out_of_order=int(numbers != sorted(numbers) or set(numbers) != whole),
        ledgers_not_sound=int(bool(checked_ledger(path).faults)),
        killed_in_the_middle_of_a_group=int(path.stat().st_size < before),
        killed_between_group_and_head=int(head_path(path).read_bytes() != head_before),
        killed_before_a_whole_group_was_acknowledged=int(len(numbers) > acknowledged),
    )
    return len(numbers)


def killed_watch(folder: Path, *, n_kills: int, seed: int) -> dict[str, object]:
    """Kill ``watch --ledger`` on a replay again and again, then let it come to its end."""
    folder.mkdir()
    new_key(folder / "key")
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    places = {"journal": folder / "j.jsonl", "record": folder / "recording", "ledger": folder / "ledger"}
    command = [WATCHER, "watch", "--json", "--replay", str(DATASET), "--speed", "8"]
    command += [text for name, path in places.items() for text in (f"--{name}", str(path))]
    command += ["--ledger-key", str(folder / "key")]
    said: list[str] = []
    for _ in range(n_kills):
        said += killed_once_started(command, places["ledger"], chance.uniform(0.0, 2.5))
    with (folder / "last").open("w") as out:
        subprocess.run(  # noqa: S603  our own program
            [sys.executable, "-c", *command, "--speed", "0"], stdout=out, check=True
        )
    entries = list(read_entries(places["ledger"]))
    kept = [one.body["session_id"] for one in entries if one.kind is EntryKind.SESSION]
    expected = [session.session_id for session in detected_sessions(open_recording(DATASET))]
    acknowledged = [json.loads(line)["session_id"] for line in said]
    starts = [one.body["before"] for one in entries if one.kind is EntryKind.START]
    return {
        "kills": n_kills,
        "sessions": len(expected),
        "acknowledged_before_a_kill": len(acknowledged),
        "lost": len((set(expected) | set(acknowledged)) - set(kept)),
        "doubled": len(kept) - len(set(kept)),
        "starts": len(starts),
        "starts_that_say_no_stop_came_before": sum(bool(one) and not one["was_stopped"] for one in starts),
        "is_sound": not checked_ledger(places["ledger"], thorough=True).faults,
    }


def killed_once_started(arguments: Iterable[str], ledger: Path, seconds: float) -> list[str]:
    """Start a daemon, wait until its start is in the ledger, kill it a while later; return what it said.

    A kill before that would only show that a program that never ran loses nothing.
    """
    size = ledger.stat().st_size if ledger.exists() else 0
    process = subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-c", *arguments], stdout=subprocess.PIPE, text=True
    )
    while process.poll() is None and (not ledger.exists() or ledger.stat().st_size <= size):
        time.sleep(0.01)
    time.sleep(seconds)
    if process.poll() is not None:
        raise SystemExit("watch ended before it was killed: lower --speed")
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    return said[: said.rfind("\n") + 1].splitlines()


def killed(arguments: Iterable[str], seconds: float) -> list[str]:
    """Start a process, kill it a while after its first line, return the whole lines that it said."""
    process = subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-c", *arguments], stdout=subprocess.PIPE, text=True
    )
    first = process.stdout.readline() if process.stdout else ""
    time.sleep(seconds)
    if process.poll() is not None:
        raise SystemExit("the process ended before it was killed")
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    said = first + said
    return said[: said.rfind("\n") + 1].splitlines()
