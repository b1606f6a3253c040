"""Small ledgers in memory, signed by a fake that needs no curve."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flopwitness.verify.ledger.audit import Audit, Auditor
from flopwitness.verify.ledger.chain import Chain
from flopwitness.verify.ledger.entries import EntryKind

if TYPE_CHECKING:
    from flopwitness.verify.ledger.checkpoints import Checkpoint

GOLDEN_NS = 1_800_000_000_000_000_000


class HashSigner:
    """Signs with a hash over a key that everybody knows: for tests of what is signed, not of how."""

    def __init__(self, name: str = "keeper") -> None:
        self.public_key = hashlib.sha256(name.encode()).hexdigest()

    def sign(self, message: bytes) -> bytes:
        """Return 64 bytes."""
        return hashlib.sha512(bytes.fromhex(self.public_key) + message).digest()


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Check what ``HashSigner`` signs."""
    return len(public_key) == 32 and hashlib.sha512(public_key + message).digest() == signature


class SmallLedger:
    """A ledger that grows in memory, with instants and salts that can be foretold.

    Attributes
    ----------
    lines : list of bytes
        With their newlines.
    checkpoints : list of Checkpoint
        In order.
    """

    def __init__(self, name: str = "keeper") -> None:
        self.signer = HashSigner(name)
        self.chain = Chain()
        self.lines: list[bytes] = []
        self.checkpoints: list[Checkpoint] = []
        self._add(self.chain.genesis(self.signer.public_key, **self._drawn()))
        self._end()

    def group(self, *bodies: Mapping[str, Any], kind: EntryKind = EntryKind.SESSION) -> None:
        """Append a group of entries and its checkpoint."""
        for body in bodies:
            self._add(self.chain.entry(kind, body, **self._drawn()))
        self._end()

    def rotate(self, name: str) -> None:
        """Hand over to another key."""
        successor = HashSigner(name)
        self._add(self.chain.rotation(successor.public_key, successor, **self._drawn()))
        self._end()
        self.signer = successor
        self.chain.public_key = successor.public_key

    def _add(self, line: bytes) -> None:
        self.lines.append(line + b"\n")

    def _end(self) -> None:
        line, checkpoint = self.chain.checkpoint(self.signer, **self._drawn())
        self._add(line)
        self.checkpoints.append(checkpoint)

    def _drawn(self) -> dict[str, Any]:
        size = self.chain.size
        return {"at_ns": GOLDEN_NS + size, "salt": f"{size:032x}"}


def three_groups() -> SmallLedger:
    """Return a ledger of three groups and eleven lines, the last after a change of the key."""
    ledger = SmallLedger()
    ledger.group({"number": 1}, {"number": 2})
    ledger.group({"number": 3})
    ledger.rotate("second keeper")
    ledger.group({"number": 4}, kind=EntryKind.STOP)
    return ledger


def audited(lines: Iterable[bytes], *, sizes: Iterable[int] = (), thorough: bool = False) -> Audit:
    """Return what an audit says of lines."""
    auditor = Auditor(verify, sizes=tuple(sizes), thorough=thorough)
    for line in lines:
        auditor.feed(line)
    return auditor.finish()
