"""Checking a ledger line by line: order and links of all, signatures where a key hands over and at the end.

Each line names the hash of the one before it, signatures included, so the last signature of a key covers all
that was written under it. Checking more signatures finds nothing that a change of bytes could cause;
``thorough`` checks them all, and that each line is canonical, which only the holder of the key can break.
"""

import re
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple, Self

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.chain import Chain
from flopwitness.verify.ledger.checkpoints import Checkpoint, Verifier, holds, possession_message
from flopwitness.verify.ledger.entries import FORMAT, VERSION, Entry, EntryKind
from flopwitness.verify.ledger.merkle import Frontier

TAIL = re.compile(
    rb'"kind":"([a-z]{3,16})","previous":"([0-9a-f]{64})","salt":"[0-9a-f]{32}","sequence":([0-9]{1,16})\}\n'
)
TAIL_BYTES = 240
"""The last keys in canonical order are of bounded length: links are read without parsing the body."""

KINDS = frozenset(kind.value.encode() for kind in EntryKind)
CHECKPOINT, KEY, GENESIS = (
    kind.value.encode() for kind in (EntryKind.CHECKPOINT, EntryKind.KEY, EntryKind.GENESIS)
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place at which a ledger does not hold.

    Attributes
    ----------
    code : str
        ``"damaged"``, ``"link"``, ``"order"``, ``"signature"``, ``"key"``, ``"unfinished"`` or ``"empty"``;
        against other evidence also ``"truncated"``, ``"replayed"``, ``"other-ledger"``, ``"other-key"``.
    sequence : int
        Entry, from 0.
    offset_bytes : int
        Where its line starts in the file.
    message : str
        One sentence.
    """

    code: str
    sequence: int
    offset_bytes: int
    message: str


class KeySpan(NamedTuple):
    """A key and the first entry that it may sign for."""

    public_key: str
    since: int


@dataclass(frozen=True, slots=True)
class Audit:
    """What the check of a ledger found.

    Attributes
    ----------
    ledger : str
        Hash of the first entry; empty where there is none.
    n_entries, n_bytes : int
        Lines that hang together, checkpoints among them, and their length.
    last : Checkpoint or None
        The last one before any fault, if its signature holds: all entries under it stand.
    keys : tuple of KeySpan
        In order.
    kinds : mapping of str to int
        How many entries of each kind.
    roots : mapping of int to str
        Merkle root over the first so many entries, for the sizes that were asked for.
    fault : Fault or None
        None where every byte is in order and signed for.
    """

    ledger: str
    n_entries: int
    n_bytes: int
    last: Checkpoint | None
    keys: tuple[KeySpan, ...]
    kinds: Mapping[str, int]
    roots: Mapping[int, str]
    fault: Fault | None


class _Candidate(NamedTuple):
    """A checkpoint line whose signature was not looked at yet."""

    line: bytes
    offset_bytes: int
    before: Frontier
    public_key: str


class Auditor:
    """Takes the lines of a ledger in order, then answers.

    Parameters
    ----------
    verify : Verifier
        Checks a signature.
    sizes : collection of int
        At which sizes the root is wanted, to be compared with checkpoints.
    thorough : bool
        Whether to parse every line and check every signature.

    Attributes
    ----------
    chain : Chain
        The end of the ledger so far.
    n_bytes : int
        Length of what was taken.
    fault : Fault or None
        The first one; lines after it are passed over.
    """

    def __init__(self, verify: Verifier, *, sizes: Collection[int] = (), thorough: bool = False) -> None:
        self.chain = Chain()
        self.n_bytes = 0
        self.fault: Fault | None = None
        self._verify = verify
        self._sizes = frozenset(sizes)
        self._thorough = thorough
        self._kinds: dict[bytes, int] = {}
        self._keys: tuple[KeySpan, ...] = ()
        self._roots: dict[int, str] = {}
        self._last: _Candidate | None = None
        self._is_sealed = False
        self._new_key = ""

    def copy(self) -> Self:
        """Return an independent auditor that has seen the same lines."""
        return deepcopy(self)

    def feed(self, line: bytes) -> None:
        """Take the next line with its newline."""
        if self.fault is not None:
            return
        chain = self.chain
        size = chain.frontier.size
        tail = TAIL.search(line, max(len(line) - TAIL_BYTES, 0))
        if tail is None or tail.end() != len(line) or not line.startswith(b'{"at_ns":"'):
            unfinished = not line.endswith(b"\n")
            self._fail("unfinished" if unfinished else "damaged", _DAMAGED)
            return
        kind, previous, sequence = tail.groups()
        if sequence != b"%d" % size:
            self._fail("order", f"calls itself entry {int(sequence)}: entries are missing, added or swapped")
            return
        if previous != chain.head.encode():
            self._fail("link", "does not name the hash of the entry before it: one of the two was changed")
            return
        if kind not in KINDS or (kind == GENESIS) != (size == 0):
            self._fail("damaged", f"is of kind {kind.decode()!r}, which cannot stand here")
            return
        if self._is_plain(kind) or self._accepts(kind, line[:-1]):
            self._take(kind, line)

    def finish(self) -> Audit:
        """Return what was found; the last signature is looked at now."""
        last = self._checked(self._last) if self._last else None
        if self.fault is None and not self._is_sealed:
            if self._last is None and not self.chain.size:
                self._fail("empty", "is missing: the file holds no entry")
            else:
                self._fail("unfinished", "should follow: nobody signed for the last entries")
        return Audit(
            self.chain.ledger,
            self.chain.size,
            self.n_bytes,
            last,
            self._keys,
            {kind.decode(): count for kind, count in self._kinds.items()},
            dict(self._roots),
            self.fault,
        )

    def _is_plain(self, kind: bytes) -> bool:
        """Say whether nothing but its link has to be looked at."""
        special = kind in (CHECKPOINT, KEY, GENESIS)
        return not (special or self._thorough or self._new_key)

    def _take(self, kind: bytes, line: bytes) -> None:
        self.chain.take(line[:-1])
        self.n_bytes += len(line)
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        self._is_sealed = kind == CHECKPOINT
        if (size := self.chain.size) in self._sizes:
            self._roots[size] = self.chain.frontier.root().hex()

    def _accepts(self, kind: bytes, line: bytes) -> bool:
        """Look into a line that is more than a link; say whether it can stand here."""
        try:
            if kind == CHECKPOINT:
                return self._accept_checkpoint(line)
            entry = Entry.from_line(line)
            if self._new_key:
                self._fail("key", "follows a change of the key, which only a checkpoint may")
            elif kind == GENESIS:
                self._begin(entry)
            elif kind == KEY:
                self._announce(entry)
        except InvalidNounError as error:
            self._fail("damaged", str(error))
        return self.fault is None

    def _begin(self, entry: Entry) -> None:
        if entry.body.get("format") != FORMAT or entry.body.get("version") != VERSION:
            self._fail("damaged", f"is not the beginning of a {FORMAT} of version {VERSION}")
        else:
            self._switch(str(entry.body.get("public_key")), since=1)

    def _announce(self, entry: Entry) -> None:
        """Remember the next key, if whoever named it had it."""
        key = str(entry.body.get("public_key"))
        message = possession_message(
            self.chain.ledger, entry.sequence, old_key=self.chain.public_key, new_key=key
        )
        if not holds(self._verify, key, message, str(entry.body.get("possession"))):
            self._fail("key", "names a new key without showing that it is in hand")
        self._new_key = key

    def _accept_checkpoint(self, line: bytes) -> bool:
        self._last = _Candidate(line, self.n_bytes, self.chain.frontier.copy(), self.chain.public_key)
        if (self._new_key or self._thorough) and self._checked(self._last) is None:
            return False
        if self._new_key:
            self._switch(self._new_key, since=self.chain.size + 1)
            self._new_key = ""
        return True

    def _switch(self, key: str, *, since: int) -> None:
        self.chain.public_key = key
        self._keys = (*self._keys, KeySpan(key, since))

    def _checked(self, candidate: _Candidate) -> Checkpoint | None:
        """Return the checkpoint of a line if it says what the entries under it are, signed by their key."""
        try:
            entry = Entry.from_line(candidate.line)
            found = Checkpoint.from_entry(entry)
        except InvalidNounError as error:
            return self._refused(candidate, "damaged", str(error))
        if found.root != candidate.before.root().hex() or found.ledger != self.chain.ledger:
            return self._refused(candidate, "damaged", "signs for other entries than those before it")
        if found.public_key != candidate.public_key:
            return self._refused(candidate, "key", "is signed with a key that is not the ledger's here")
        if not found.is_signed(self._verify):
            return self._refused(candidate, "signature", "bears a signature that does not hold")
        return found

    def _refused(self, candidate: _Candidate, code: str, message: str) -> Checkpoint | None:
        sequence = candidate.before.size
        self.fault = Fault(code, sequence, candidate.offset_bytes, f"entry {sequence} {message}")
        return None

    def _fail(self, code: str, message: str) -> None:
        size = self.chain.size
        self.fault = self.fault or Fault(code, size, self.n_bytes, f"entry {size} {message}")


_DAMAGED = "is cut off, or is no line of a ledger"
