"""Proofs for those without the ledger: that one entry is in it, that one checkpoint grew from another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.checkpoints import Checkpoint, Verifier, fingerprint
from flopwitness.verify.ledger.entries import HASH, Entry, entry_hash
from flopwitness.verify.ledger.merkle import (
    consistency_path,
    inclusion_path,
    root_by_inclusion,
    roots_by_consistency,
)

PROOF_FORMAT = "flopwitness-ledger-proof"
GROWTH_FORMAT = "flopwitness-ledger-growth"
VERSION = 1


@dataclass(frozen=True, slots=True)
class LedgerProof:
    """That one entry is under a checkpoint, without the other entries.

    Attributes
    ----------
    line : bytes
        The entry's canonical bytes.
    path : tuple of str
        Hashes from the entry to the root, 64 hex digits each.
    checkpoint : Checkpoint
        Whose root it is.
    is_verified : bool
        Whether path and signature were checked and held. ``checked`` sets it; nothing that is read does.
    """

    line: bytes
    path: tuple[str, ...]
    checkpoint: Checkpoint
    is_verified: bool = False

    @property
    def entry(self) -> Entry:
        """The entry; ``InvalidNounError`` where its bytes are none."""
        return Entry.from_line(self.line)

    @property
    def index(self) -> int:
        """Place of the entry, from 0."""
        return self.entry.sequence

    @property
    def entry_hash(self) -> str:
        """Hash of the entry's bytes."""
        return entry_hash(self.line)

    @property
    def size(self) -> int:
        """Entries under the checkpoint."""
        return self.checkpoint.size

    @property
    def root(self) -> str:
        """Merkle root of the checkpoint."""
        return self.checkpoint.root

    @property
    def fingerprint(self) -> str:
        """Name of the key that signed the checkpoint."""
        return fingerprint(self.checkpoint.public_key)

    def checked(self, verify: Verifier) -> Self:
        """Return it with ``is_verified`` as path and signature say."""
        path = [bytes.fromhex(step) for step in self.path]
        leaf = bytes.fromhex(self.entry_hash)
        root = root_by_inclusion(leaf, self.index, size=self.size, path=path)
        is_there = root is not None and root.hex() == self.root
        return replace(self, is_verified=is_there and self.checkpoint.is_signed(verify))

    def to_payload(self) -> dict[str, Any]:
        """Return the content of a proof file; the entry as the text that was hashed."""
        return {
            "format": PROOF_FORMAT,
            "version": VERSION,
            "entry": self.line.decode(),
            "path": list(self.path),
            "checkpoint": self.checkpoint.to_payload(),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Read what a proof file holds, unchecked; ``InvalidNounError`` where it is malformed."""
        try:
            line, path = str(payload["entry"]).encode(), _hashes(payload["path"])
            checkpoint = Checkpoint.from_payload(payload["checkpoint"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidNounError(f"no ledger proof: {type(error).__name__}: {error}") from None
        Entry.from_line(line)
        return cls(line, path, checkpoint)


def proof_of(line: bytes, leaves: Sequence[bytes], checkpoint: Checkpoint) -> LedgerProof:
    """Prove that a line is under a checkpoint.

    Parameters
    ----------
    line : bytes
        Without its newline.
    leaves : sequence of bytes
        Hashes of all entries under the checkpoint.
    checkpoint : Checkpoint
        Later than the entry.

    Raises
    ------
    InvalidNounError
        When the entry is not under the checkpoint.
    """
    index = Entry.from_line(line).sequence
    if not index < checkpoint.size <= len(leaves):
        raise InvalidNounError(f"entry {index} is not under a checkpoint over {checkpoint.size} entries")
    path = inclusion_path(leaves[: checkpoint.size], index)
    return LedgerProof(line, tuple(step.hex() for step in path), checkpoint)


@dataclass(frozen=True, slots=True)
class GrowthProof:
    """That the entries under a later checkpoint begin with those under an earlier one.

    Attributes
    ----------
    old, new : Checkpoint
        The two.
    path : tuple of str
        Hashes, 64 hex digits each.
    """

    old: Checkpoint
    new: Checkpoint
    path: tuple[str, ...]

    def holds(self, verify: Verifier) -> bool:
        """Say whether both are signed, and the later grew from the earlier."""
        path = [bytes.fromhex(step) for step in self.path]
        roots = roots_by_consistency(
            bytes.fromhex(self.old.root), self.old.size, size=self.new.size, path=path
        )
        if roots is None or self.old.ledger != self.new.ledger:
            return False
        is_grown = (roots[0].hex(), roots[1].hex()) == (self.old.root, self.new.root)
        return is_grown and self.old.is_signed(verify) and self.new.is_signed(verify)

    def to_payload(self) -> dict[str, Any]:
        """Return the content of a growth file."""
        return {
            "format": GROWTH_FORMAT,
            "version": VERSION,
            "old": self.old.to_payload(),
            "new": self.new.to_payload(),
            "path": list(self.path),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Read what a growth file holds, unchecked; ``InvalidNounError`` where it is malformed."""
        try:
            ends = Checkpoint.from_payload(payload["old"]), Checkpoint.from_payload(payload["new"])
            return cls(*ends, _hashes(payload["path"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidNounError(f"no growth proof: {type(error).__name__}: {error}") from None


def growth_of(old: Checkpoint, new: Checkpoint, leaves: Sequence[bytes]) -> GrowthProof:
    """Prove that one checkpoint grew from another; ``InvalidNounError`` where the later is the smaller."""
    if not 0 < old.size <= new.size <= len(leaves):
        raise InvalidNounError(f"a checkpoint over {new.size} entries cannot grow from one over {old.size}")
    path = consistency_path(leaves[: new.size], old.size)
    return GrowthProof(old, new, tuple(step.hex() for step in path))


def _hashes(values: Sequence[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) and HASH.fullmatch(value) for value in values):
        raise ValueError("a path that is not of hashes")
    return tuple(values)
