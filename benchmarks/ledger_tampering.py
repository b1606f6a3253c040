"""Random changes to a ledger, without its key: which of them are found, and by what."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flopwitness.app.ledgering import Trust, checked_ledger, head_of
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key, read_signer
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.checkpoints import Checkpoint
from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash

N_GROUPS = 16


@dataclass(frozen=True, slots=True)
class State:
    """A ledger at some time: both files, and the lines of the first."""

    ledger: bytes
    head: bytes

    @property
    def lines(self) -> list[bytes]:
        """The lines with their newlines."""
        return self.ledger.splitlines(keepends=True)


Change = Callable[[random.Random, list[State]], State]
"""Makes the files as an attacker leaves them, of all that they have ever been."""


def single_byte(chance: random.Random, states: list[State]) -> State:
    """Give one byte another value."""
    data = bytearray(states[-1].ledger)
    data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    return State(bytes(data), states[-1].head)


def deletion(chance: random.Random, states: list[State]) -> State:
    """Take out a line, or a few bytes."""
    if chance.random() < 0.5:
        lines = states[-1].lines
        del lines[chance.randrange(len(lines))]
        return State(b"".join(lines), states[-1].head)
    data, size = states[-1].ledger, chance.randrange(1, 40)
    at = chance.randrange(len(data) - size)
    return State(data[:at] + data[at + size :], states[-1].head)


def swap(chance: random.Random, states: list[State]) -> State:
    """Let two lines change places."""
    lines = states[-1].lines
    one, other = chance.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return State(b"".join(lines), states[-1].head)


def insertion(chance: random.Random, states: list[State]) -> State:
    """Put in random bytes, or an entry that names the hash before it as it should."""
    data, lines = states[-1].ledger, states[-1].lines
    if chance.random() < 0.5:
        at = chance.randrange(len(data) + 1)
        return State(data[:at] + chance.randbytes(chance.randrange(1, 40)) + data[at:], states[-1].head)
    at = chance.randrange(1, len(lines) + 1)
    forged = Entry(at, 1, EntryKind.STOP, {}, entry_hash(lines[at - 1][:-1]), "0" * 32)
    return State(b"".join([*lines[:at], forged.line() + b"\n", *lines[at:]]), states[-1].head)


def duplication(chance: random.Random, states: list[State]) -> State:
    """Write a line a second time, somewhere."""
    lines = states[-1].lines
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return State(b"".join(lines), states[-1].head)


def truncation(chance: random.Random, states: list[State]) -> State:
    """Cut off the end at a random byte, or after a whole group."""
    if chance.random() < 0.5:
        return State(states[-1].ledger[: chance.randrange(len(states[-1].ledger))], states[-1].head)
    return State(chance.choice(states[:-1]).ledger, states[-1].head)


def replay(chance: random.Random, states: list[State]) -> State:
    """Put back an old file, and half of the time the head of that day with it."""
    old = chance.choice(states[:-1])
    return State(old.ledger, old.head if chance.random() < 0.5 else states[-1].head)


def rechaining(chance: random.Random, states: list[State]) -> State:
    """Change one entry, then write every hash after it anew: all that can be done without the key."""
    entries = [Entry.from_line(line[:-1]) for line in states[-1].lines]
    at = chance.choice([one.sequence for one in entries if one.kind is EntryKind.SESSION])
    lines, previous = [], entries[0].previous
    for entry in entries:
        body = entry.body | {"n_samples": 0} if entry.sequence == at else entry.body
        made = Entry(entry.sequence, entry.at_ns, entry.kind, body, previous, entry.salt)
        lines.append(made.line())
        previous = entry_hash(lines[-1])
    return State(b"".join(line + b"\n" for line in lines), states[-1].head)


CHANGES: Mapping[str, Change] = {
    change.__name__: change
    for change in (
        single_byte,
        deletion,
        swap,
        insertion,
        duplication,
        truncation,
        replay,
        rechaining,
    )
}


def tampered(folder: Path, bodies: list[Mapping[str, Any]], *, n_trials: int, seed: int) -> dict[str, object]:
    """Make so many random changes; count by kind what finds them."""
    folder.mkdir()
    chance = random.Random(seed)  # noqa: S311  places, not secrets
    path = folder / "ledger"
    states = grown(path, bodies, chance)
    checkpoint = head_of(path)
    if checkpoint is None:
        raise SystemExit("the ledger has no head")
    counts = {name: Counter[str]() for name in CHANGES}
    for number in range(n_trials):
        name = list(CHANGES)[number % len(CHANGES)]
        changed = CHANGES[name](chance, states)
        if changed.ledger != states[-1].ledger:
            path.write_bytes(changed.ledger)
            head_path(path).write_bytes(changed.head)
            counts[name] += found_by(path, checkpoint)
    return {name: dict(count) for name, count in counts.items()} | {
        "changes": sum(count["changes"] for count in counts.values()),
        "not_found": sum(count["changes"] - count["found"] for count in counts.values()),
    }


def grown(path: Path, bodies: list[Mapping[str, Any]], chance: random.Random) -> list[State]:
    """Write a ledger in groups of random size; return what both files were after each."""
    states = []
    with LedgerWriter.open(path, new_key(path.with_name("key"))) as writer:
        for _ in range(N_GROUPS):
            writer.commit([(EntryKind.SESSION, chance.choice(bodies)) for _ in range(chance.randrange(1, 5))])
            states.append(State(path.read_bytes(), head_path(path).read_bytes()))
    return states


def found_by(path: Path, checkpoint: Checkpoint) -> Counter[str]:
    """Return what finds that the files are not as they were."""
    alone = bool(checked_ledger(path, with_head=False).faults)
    head = bool(checked_ledger(path).faults)
    trust = Trust(checkpoints=(("kept elsewhere", checkpoint),))
    elsewhere = bool(checked_ledger(path, trust, with_head=False).faults)
    return Counter(
        {
            "changes": 1,
            "found": int(alone or head or elsewhere),
            "by_file_alone": int(alone),
            "by_file_or_head": int(head),
            "by_file_or_checkpoint_kept_elsewhere": int(elsewhere),
            "refused_for_appending": int(is_refused(path)),
        }
    )


def is_refused(path: Path) -> bool:
    """Say whether a writer refuses to go on with these files."""
    try:
        LedgerWriter.open(path, read_signer(path.with_name("key"))).close()
    except BadInputError:
        return True
    return False
