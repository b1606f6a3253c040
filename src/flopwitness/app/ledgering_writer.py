"""A ledger written: groups of entries, each with a signed checkpoint, forced to disk, then acknowledged."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from flopwitness.app.ledgering import head_of
from flopwitness.core.errors import BadInputError
from flopwitness.storage.documents import to_json
from flopwitness.storage.keys import FileSigner, verify_signature
from flopwitness.storage.ledgers import LedgerFile, create_ledger, head_path, iter_lines, write_head
from flopwitness.verify.ledger.audit import Auditor
from flopwitness.verify.ledger.chain import Chain
from flopwitness.verify.ledger.checkpoints import Checkpoint, fingerprint
from flopwitness.verify.ledger.comparison import against_checkpoint
from flopwitness.verify.ledger.entries import EntryKind

CHECKPOINT_MARK = b'"kind":"checkpoint","previous":"'

Draft = tuple[EntryKind, Mapping[str, Any]]
"""Kind and body of an entry to be."""


class Chance(NamedTuple):
    """What an entry takes from the world: when it is, and a salt."""

    utc_ns: Callable[[], int] = time.time_ns
    salt: Callable[[], str] = lambda: secrets.token_hex(16)

    def drawn(self) -> dict[str, Any]:
        """Return both for one entry."""
        return {"at_ns": self.utc_ns(), "salt": self.salt()}


WORLD = Chance()


class LedgerWriter:
    """Appends to a ledger, which it holds against other writers.

    A group is signed once, at its end, by a checkpoint entry, and forced to disk once; then the head file is
    replaced, and only then is the group acknowledged. After a kill the ledger therefore holds all that was
    acknowledged, and at most one group more.

    Parameters
    ----------
    file : LedgerFile
        The open file.
    chain : Chain
        Its end.
    signer : FileSigner
        With the ledger's key.
    chance : Chance
        Clock and salts.
    n_dropped_bytes : int
        Length of the unfinished group that was dropped when it was opened.
    """

    def __init__(
        self,
        file: LedgerFile,
        chain: Chain,
        *,
        signer: FileSigner,
        chance: Chance = WORLD,
        n_dropped_bytes: int = 0,
    ) -> None:
        self._file = file
        self._chain = chain
        self._signer = signer
        self._chance = chance
        self.n_dropped_bytes = n_dropped_bytes

    @classmethod
    def open(cls, path: Path, signer: FileSigner, *, chance: Chance = WORLD) -> Self:
        """Open a ledger to append to it; make it where there is none.

        The whole file is checked first. An unfinished group at its end is dropped.

        Raises
        ------
        BadInputError
            When it is damaged, shorter than its head says, held by another writer, or of another key.
        """
        path = Path(path)
        if not path.exists():
            _create(path, signer, chance)
        file = LedgerFile(path)
        try:
            auditor, n_bytes = _checked_end(path)
            _require_key(path, auditor.chain.public_key, signer.public_key)
            n_dropped = file.size_bytes - n_bytes
            if n_dropped:
                file.cut(n_bytes)
        except BaseException:
            file.close()
            raise
        return cls(file, auditor.chain, signer=signer, chance=chance, n_dropped_bytes=n_dropped)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def size(self) -> int:
        """Entries so far, checkpoints among them."""
        return self._chain.size

    def commit(self, drafts: Sequence[Draft]) -> Checkpoint:
        """Append a group of entries; when it returns they are on disk and signed.

        Raises
        ------
        BadInputError
            When the disk is full or gone, or the file is not ours any more: nothing was acknowledged.
        InvalidNounError
            When a body has no canonical JSON; nothing was written.
        """
        chain = self._chain.copy()
        lines = [chain.entry(kind, body, **self._chance.drawn()) for kind, body in drafts]
        return self._written(chain, lines)

    def rotate(self, signer: FileSigner) -> Checkpoint:
        """Hand over to another key: the old one signs an entry that names it; errors of ``commit``."""
        chain = self._chain.copy()
        line = chain.rotation(signer.public_key, signer, **self._chance.drawn())
        checkpoint = self._written(chain, [line])
        self._chain.public_key = signer.public_key
        self._signer = signer
        return checkpoint

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self._file.close()

    def _written(self, chain: Chain, lines: list[bytes]) -> Checkpoint:
        line, checkpoint = chain.checkpoint(self._signer, **self._chance.drawn())
        self._file.append([*lines, line])
        self._chain = chain
        try:
            write_head(self._file.path, _head_bytes(self._file.path, checkpoint))
        except BadInputError:
            self._file.close()  # one group may stand behind the head, not two: nothing more is taken
            raise
        return checkpoint


def _require_key(path: Path, held: str, given: str) -> None:
    if held != given:
        expected = f"the ledger's key, {fingerprint(held)[:16]}"
        raise BadInputError(str(path), "key", expected=expected, got=fingerprint(given)[:16])


def _create(path: Path, signer: FileSigner, chance: Chance) -> None:
    chain = Chain()
    first = chain.genesis(signer.public_key, **chance.drawn())
    line, checkpoint = chain.checkpoint(signer, **chance.drawn())
    create_ledger(path, [first, line], head=_head_bytes(path, checkpoint))


def _head_bytes(path: Path, checkpoint: Checkpoint) -> bytes:
    return to_json(checkpoint.to_payload(), source=str(head_path(path)), indent=1)


def _checked_end(path: Path) -> tuple[Auditor, int]:
    """Return the state of a ledger at its sound end, and how many bytes it is long up to there.

    The head says how far entries were acknowledged. What stands behind may be one more group, whole (it is
    kept, and the head brought up to it) or unfinished; anything else is damage.
    """
    head = head_of(path)
    if head is None:
        got = "no file; 'flopwitness ledger checkpoint' writes it again, once the ledger was checked"
        raise BadInputError(str(head_path(path)), "", expected="the head of the ledger", got=got)
    lines = iter_lines(path)
    auditor = Auditor(verify_signature, sizes={head.size})
    for line in islice(lines, head.size + 1):
        auditor.feed(line)
    audit = auditor.copy().finish()
    if fault := audit.fault or against_checkpoint(audit, head, verify_signature):
        where = f"entry {fault.sequence}, byte {fault.offset_bytes}"
        expected = "a ledger that holds all that was acknowledged"
        raise BadInputError(str(path), where, expected=expected, got=fault.message)
    return _behind_head(path, auditor, list(lines))


def _behind_head(path: Path, auditor: Auditor, rest: Sequence[bytes]) -> tuple[Auditor, int]:
    sound, n_bytes = auditor.copy(), auditor.n_bytes
    for line in rest:
        auditor.feed(line)
    ends = [number for number, line in enumerate(rest, start=1) if CHECKPOINT_MARK in line]
    if ends and ends != [len(rest)]:
        expected = f"at most one group behind what {head_path(path).name} says"
        raise BadInputError(
            str(path), f"byte {n_bytes}", expected=expected, got="more: the head is an old one"
        )
    audit = auditor.finish()
    if audit.fault is not None or audit.last is None:
        return sound, n_bytes
    if rest:
        write_head(path, _head_bytes(path, audit.last))
    return auditor, audit.n_bytes
