"""Checkpoints: a signed statement of how long a ledger is and what it holds, which others can sign too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.ports import Signer
from flopwitness.verify.ledger.canonical import canonical
from flopwitness.verify.ledger.entries import Entry, EntryKind, instant

FORMAT = "flopwitness-ledger-checkpoint"
VERSION = 1

Verifier = Callable[[bytes, bytes, bytes], bool]
"""Says whether a signature is one of a message: public key (32 bytes), message, signature (64 bytes)."""

CHECKPOINT_DOMAIN = b"flopwitness ledger checkpoint 1\n"
COUNTERSIGN_DOMAIN = b"flopwitness ledger countersignature 1\n"
POSSESSION_DOMAIN = b"flopwitness ledger key possession 1\n"
"""First bytes of what is signed: a signature made for one purpose is worth nothing for another."""


@dataclass(frozen=True, slots=True)
class Countersignature:
    """That a second party was shown a checkpoint.

    Attributes
    ----------
    public_key : str
        Of the second party, 64 hex digits.
    at_ns : int
        When it says it was, UTC nanoseconds.
    signature : str
        128 hex digits.
    """

    public_key: str
    at_ns: int
    signature: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the keeper of a ledger signed at the end of a group of entries.

    Attributes
    ----------
    ledger : str
        Hash of the first entry: tells ledgers apart.
    size : int
        Entries under it; its own place in the ledger.
    root : str
        Merkle root over these.
    head : str
        Hash of the last of these.
    at_ns : int
        When, as the host says.
    salt : str
        As of any entry.
    public_key : str
        That it is signed with, 64 hex digits.
    signature : str
        128 hex digits, over all of the above.
    countersignatures : tuple of Countersignature
        Of second parties; no part of the ledger.
    """

    ledger: str
    size: int
    root: str
    head: str
    at_ns: int
    salt: str
    public_key: str
    signature: str = ""
    countersignatures: tuple[Countersignature, ...] = field(default=())

    def message(self) -> bytes:
        """Return the bytes that are signed: all that its line holds but the signature."""
        return CHECKPOINT_DOMAIN + canonical(self._statement())

    def signed(self, signer: Signer) -> Self:
        """Return it with a signature."""
        return replace(self, signature=signer.sign(self.message()).hex())

    def is_signed(self, verify: Verifier) -> bool:
        """Say whether its signature is one of its key."""
        return holds(verify, self.public_key, self.message(), self.signature)

    def entry(self) -> Entry:
        """Return the entry that it is in the ledger."""
        body = {
            "ledger": self.ledger,
            "public_key": self.public_key,
            "root": self.root,
            "signature": self.signature,
        }
        return Entry(self.size, self.at_ns, EntryKind.CHECKPOINT, body, self.head, self.salt)

    @classmethod
    def from_entry(cls, entry: Entry) -> Self:
        """Read the checkpoint that an entry is; ``InvalidNounError`` where it is none."""
        try:
            texts = [entry.body[name] for name in ("ledger", "root", "public_key", "signature")]
            ledger, root, key, signature = (_hex(text) for text in texts)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidNounError(f"entry {entry.sequence} is no checkpoint: {error}") from None
        if entry.kind is not EntryKind.CHECKPOINT or len(entry.body) != len(texts):
            raise InvalidNounError(f"entry {entry.sequence} is no checkpoint")
        return cls(ledger, entry.sequence, root, entry.previous, entry.at_ns, entry.salt, key, signature)

    def to_payload(self) -> dict[str, Any]:
        """Return the content of a checkpoint file."""
        return (
            {"format": FORMAT, "version": VERSION}
            | self._statement()
            | {
                "signature": self.signature,
                "countersignatures": [
                    {"public_key": one.public_key, "at_ns": str(one.at_ns), "signature": one.signature}
                    for one in self.countersignatures
                ],
            }
        )

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Read what a checkpoint file holds; ``InvalidNounError`` where a field is missing or malformed."""
        try:
            texts = [_hex(payload[name]) for name in ("root", "head")]
            others = tuple(
                Countersignature(_hex(one["public_key"]), instant(one["at_ns"]), _hex(one["signature"]))
                for one in payload["countersignatures"]
            )
            key, signature = _hex(payload["public_key"]), _hex(payload["signature"])
            size, at_ns = _whole(payload["size"]), instant(payload["at_ns"])
            ledger, salt = _hex(payload["ledger"]), _hex(payload["salt"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidNounError(f"no checkpoint: {type(error).__name__}: {error}") from None
        return cls(ledger, size, texts[0], texts[1], at_ns, salt, key, signature, others)

    def countersigned(self, signer: Signer, *, public_key: str, at_ns: int) -> Self:
        """Return it with the signature of a second party."""
        signature = signer.sign(self._countersign_message(public_key, at_ns)).hex()
        made = Countersignature(public_key, at_ns, signature)
        return replace(self, countersignatures=(*self.countersignatures, made))

    def is_countersigned(self, one: Countersignature, verify: Verifier) -> bool:
        """Say whether a countersignature is one of this checkpoint."""
        message = self._countersign_message(one.public_key, one.at_ns)
        return holds(verify, one.public_key, message, one.signature)

    def _statement(self) -> dict[str, Any]:
        return {
            "ledger": self.ledger,
            "size": self.size,
            "root": self.root,
            "head": self.head,
            "at_ns": str(self.at_ns),
            "salt": self.salt,
            "public_key": self.public_key,
        }

    def _countersign_message(self, public_key: str, at_ns: int) -> bytes:
        seen = self._statement() | {"signature": self.signature}
        return COUNTERSIGN_DOMAIN + canonical(
            {"checkpoint": seen, "public_key": public_key, "at_ns": str(at_ns)}
        )


def fingerprint(public_key: str) -> str:
    """Return the name of a key: SHA-256 of its 32 bytes, as 64 hex digits."""
    return sha256(bytes.fromhex(public_key)).hexdigest()


def possession_message(ledger: str, sequence: int, *, old_key: str, new_key: str) -> bytes:
    """Return what a new key signs to show that it is in hand when it takes over."""
    statement = {"ledger": ledger, "sequence": sequence, "old_key": old_key, "new_key": new_key}
    return POSSESSION_DOMAIN + canonical(statement)


def holds(verify: Verifier, public_key: str, message: bytes, signature: str) -> bool:
    """Say whether a signature in hex is one of a message; what is no lower-case hex is none."""
    try:
        return verify(bytes.fromhex(_hex(public_key)), message, bytes.fromhex(_hex(signature)))
    except ValueError:
        return False


def _whole(value: Any) -> int:
    """Return a whole number; ``ValueError`` otherwise, also for one that JSON spells with a point."""
    if type(value) is not int:
        raise ValueError(f"{str(value)[:80]!r} is no whole number")
    return value


def _hex(text: Any) -> str:
    """Return a text of lower-case hex; ``ValueError`` otherwise: one value has one spelling."""
    if not isinstance(text, str) or bytes.fromhex(text).hex() != text:
        raise ValueError(f"{str(text)[:80]!r} is no lower-case hex")
    return text
