"""The growing end of a ledger: what has to be remembered to write the next line."""

from collections.abc import Mapping
from typing import Any, Self

from flopwitness.core.ports import Signer
from flopwitness.verify.ledger.checkpoints import Checkpoint, possession_message
from flopwitness.verify.ledger.entries import FORMAT, NO_HASH, VERSION, Entry, EntryKind
from flopwitness.verify.ledger.merkle import Frontier, leaf_hash


class Chain:
    """Makes the lines of a ledger; each names the one before.

    Where its lines cannot be written the chain is thrown away and a copy from before goes on.

    Attributes
    ----------
    frontier : Frontier
        Of the tree over all lines.
    head : str
        Hash of the last line; zeros before the first.
    ledger : str
        Hash of the first line; empty before it.
    public_key : str
        Whose signature ends the next group.
    """

    __slots__ = ("frontier", "head", "ledger", "public_key")

    def __init__(self) -> None:
        self.frontier = Frontier()
        self.head = NO_HASH
        self.ledger = ""
        self.public_key = ""

    @property
    def size(self) -> int:
        """Lines so far."""
        return self.frontier.size

    def copy(self) -> Self:
        """Return an independent chain with the same end."""
        made = type(self)()
        made.frontier, made.head = self.frontier.copy(), self.head
        made.ledger, made.public_key = self.ledger, self.public_key
        return made

    def take(self, line: bytes) -> None:
        """Take a line, without its newline, as the next."""
        leaf = leaf_hash(line)
        self.frontier.append(leaf)
        self.head = leaf.hex()
        self.ledger = self.ledger or self.head

    def genesis(self, public_key: str, *, at_ns: int, salt: str) -> bytes:
        """Return the first line, which names the first key."""
        self.public_key = public_key
        body = {"format": FORMAT, "version": VERSION, "public_key": public_key}
        return self.entry(EntryKind.GENESIS, body, at_ns=at_ns, salt=salt)

    def entry(self, kind: EntryKind, body: Mapping[str, Any], *, at_ns: int, salt: str) -> bytes:
        """Return the next line; ``InvalidNounError`` where the body has no canonical JSON."""
        line = Entry(self.size, at_ns, kind, body, self.head, salt).line()
        self.take(line)
        return line

    def rotation(self, new_key: str, new_signer: Signer, *, at_ns: int, salt: str) -> bytes:
        """Return the line that names the next key, and shows that it is in hand.

        The checkpoint after it is still signed by the old key, every later one by the new.
        """
        message = possession_message(self.ledger, self.size, old_key=self.public_key, new_key=new_key)
        body = {"public_key": new_key, "possession": new_signer.sign(message).hex()}
        return self.entry(EntryKind.KEY, body, at_ns=at_ns, salt=salt)

    def checkpoint(self, signer: Signer, *, at_ns: int, salt: str) -> tuple[bytes, Checkpoint]:
        """Return the line that ends a group, and the checkpoint that it is."""
        root = self.frontier.root().hex()
        made = Checkpoint(self.ledger, self.size, root, self.head, at_ns, salt, self.public_key)
        made = made.signed(signer)
        line = made.entry().line()
        self.take(line)
        return line, made
