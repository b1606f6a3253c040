"""Entries: one canonical JSON object a line, each naming the hash of the line before it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.canonical import canonical, parsed
from flopwitness.verify.ledger.merkle import leaf_hash

FORMAT = "flopwitness-ledger"
VERSION = 1
NO_HASH = "0" * 64
"""What the first entry names in place of a hash."""

HASH = re.compile(r"[0-9a-f]{64}")
SALT = re.compile(r"[0-9a-f]{32}")
DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,18}")


class EntryKind(StrEnum):
    """What an entry records."""

    GENESIS = "genesis"
    CHECKPOINT = "checkpoint"
    KEY = "key"
    START = "start"
    STOP = "stop"
    GAP = "gap"
    WATCHED = "watched"
    CALIBRATION = "calibration"
    SESSION = "session"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a ledger.

    Attributes
    ----------
    sequence : int
        Place in the ledger, from 0.
    at_ns : int
        When the host says that it was written, UTC nanoseconds.
    kind : EntryKind
        What ``body`` holds.
    body : mapping
        JSON values; whole numbers beyond 2^53 as texts.
    previous : str
        ``entry_hash`` of the entry before it, 64 hex digits; zeros for the first.
    salt : str
        32 random hex digits. Hashes of neighbours are shown in proofs; without it a short entry could be
        guessed from its hash.

    Raises
    ------
    InvalidNounError
        When a field is not of its form.
    """

    sequence: int
    at_ns: int
    kind: EntryKind
    body: Mapping[str, Any]
    previous: str
    salt: str

    def __post_init__(self) -> None:
        """Refuse what no ledger can hold."""
        if self.sequence < 0:
            raise InvalidNounError(f"an entry cannot stand at {self.sequence}")
        if not HASH.fullmatch(self.previous) or not SALT.fullmatch(self.salt):
            raise InvalidNounError(f"entry {self.sequence}: hash or salt is not lower-case hex of its length")

    def line(self) -> bytes:
        """Return its bytes without the newline; ``InvalidNounError`` where there is no canonical JSON."""
        return canonical(
            {
                "at_ns": str(self.at_ns),
                "body": self.body,
                "kind": self.kind.value,
                "previous": self.previous,
                "salt": self.salt,
                "sequence": self.sequence,
            }
        )

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read an entry from its bytes; ``InvalidNounError`` where ``line`` would not write just these."""
        made = cls.loosely(line)
        if made.line() != line:
            raise InvalidNounError(f"entry {made.sequence} is not in canonical form")
        return made

    @classmethod
    def loosely(cls, line: bytes) -> Self:
        """Read an entry whose bytes an audit vouches for: as ``from_line``, but not written again."""
        content = parsed(line)
        try:
            return cls(
                _place(content["sequence"]),
                instant(content["at_ns"]),
                EntryKind(content["kind"]),
                dict(content["body"]),
                str(content["previous"]),
                str(content["salt"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidNounError(f"no ledger entry: {type(error).__name__}: {error}") from None


def _place(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no place in a ledger")
    return value


def entry_hash(line: bytes) -> str:
    """Return the hash by which the next entry names a line: that of its leaf in the Merkle tree."""
    return leaf_hash(line).hex()


def instant(text: Any) -> int:
    """Return the nanoseconds that a decimal text stands for; ``ValueError`` where it is none."""
    if not isinstance(text, str) or not DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is no instant")
    return int(text)
