"""Ledgers read, checked, proved: the arithmetic of ``verify.ledger`` on the bytes of ``storage.ledgers``."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from flopwitness.core.account import DeviceWatch, SessionEvidence
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.storage.documents import from_json, read_document, write_document
from flopwitness.storage.keys import verify_signature
from flopwitness.storage.ledgers import head_path, iter_lines, read_head
from flopwitness.verify.ledger.audit import Audit, Auditor, Fault
from flopwitness.verify.ledger.checkpoints import FORMAT, VERSION, Checkpoint
from flopwitness.verify.ledger.comparison import against_checkpoint, against_key, equivocation
from flopwitness.verify.ledger.entries import Entry
from flopwitness.verify.ledger.evidence import sessions_of, watches_of
from flopwitness.verify.ledger.merkle import leaf_hash
from flopwitness.verify.ledger.proofs import (
    GROWTH_FORMAT,
    PROOF_FORMAT,
    GrowthProof,
    LedgerProof,
    growth_of,
    proof_of,
)
from flopwitness.verify.ledger.proofs import VERSION as PROOF_VERSION

Noun = TypeVar("Noun")

LINES_PER_REPORT = 2000
"""How often progress is told."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What a verifier holds of a ledger besides the file.

    Attributes
    ----------
    public_key : str
        A key that the ledger should have had at some time, 64 hex digits; empty where nobody said.
    checkpoints : tuple of tuple of str and Checkpoint
        Name of the file, and what it holds.
    """

    public_key: str = ""
    checkpoints: tuple[tuple[str, Checkpoint], ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """A ledger against itself, its head and what a verifier holds.

    Attributes
    ----------
    audit : Audit
        The file by itself.
    head : Checkpoint or None
        Of the file beside it; None where there is none, or it was not asked.
    faults : tuple of tuple of str and Fault
        What does not hold, and against what: the file, its head, a checkpoint or the key.
    """

    audit: Audit
    head: Checkpoint | None
    faults: tuple[tuple[str, Fault], ...]


def checked_ledger(
    path: Path,
    trust: Trust = Trust(),
    *,
    thorough: bool = False,
    with_head: bool = True,
    progress: Callable[[int], object] = lambda _: None,
) -> LedgerCheck:
    """Check a ledger.

    Parameters
    ----------
    path : Path
        The ledger.
    trust : Trust
        What else is held of it.
    thorough : bool
        Whether to parse every entry and check every signature.
    with_head : bool
        Whether to look at the head file beside it.
    progress : callable
        Called now and then with the bytes checked so far.

    Raises
    ------
    BadInputError
        When the ledger cannot be read.
    """
    head, damaged = _head_or_fault(path) if with_head else (None, ())
    held = [(str(head_path(path)), head)] if head else []
    held += trust.checkpoints
    auditor = Auditor(verify_signature, sizes={one.size for _, one in held}, thorough=thorough)
    for number, line in enumerate(iter_lines(path)):
        auditor.feed(line)
        if number % LINES_PER_REPORT == 0:
            progress(auditor.n_bytes)
    audit = auditor.finish()
    return LedgerCheck(audit, head, (*_faults(str(path), audit, held, trust.public_key), *damaged))


def _head_or_fault(path: Path) -> tuple[Checkpoint | None, tuple[tuple[str, Fault], ...]]:
    """Return the head of a ledger, or that its file holds something else: somebody altered it."""
    try:
        return head_of(path), ()
    except BadInputError as error:
        name = str(head_path(path))
        return None, ((name, Fault("damaged", 0, 0, f"expected {error.expected}, got {error.got}")),)


def _faults(
    path: str, audit: Audit, held: Sequence[tuple[str, Checkpoint]], public_key: str
) -> tuple[tuple[str, Fault], ...]:
    found = [(path, audit.fault)]
    found += [(name, against_checkpoint(audit, one, verify_signature)) for name, one in held]
    if public_key:
        found.append(("public key", against_key(audit, public_key)))
    if pair := equivocation((one for _, one in held), verify_signature):
        message = f"two signed checkpoints over {pair[0].size} entries differ: the keeper told it in two ways"
        found.append(("checkpoints", Fault("equivocation", pair[0].size, 0, message)))
    return tuple((name, fault) for name, fault in found if fault is not None)


def require_sound(path: Path, trust: Trust = Trust()) -> Audit:
    """Check a ledger and refuse one that does not hold.

    Raises
    ------
    BadInputError
        That names the first bad place.
    """
    check = checked_ledger(path, trust)
    if check.faults:
        name, fault = check.faults[0]
        where = f"entry {fault.sequence}, byte {fault.offset_bytes}"
        raise BadInputError(name, where, expected="a ledger that nobody altered", got=fault.message)
    return check.audit


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a ledger in order, unchecked: check it first.

    Raises
    ------
    BadInputError
        When the file cannot be read, or a line is no entry.
    """
    for number, line in enumerate(iter_lines(path), start=1):
        try:
            yield Entry.loosely(line)
        except InvalidNounError as error:
            raise BadInputError(
                str(path), f"line {number}", expected="a ledger entry", got=str(error)
            ) from error


def sound_entries(path: Path, trust: Trust = Trust()) -> tuple[Entry, ...]:
    """Return the entries of a ledger that was checked first; errors of ``require_sound``."""
    return tuple(islice(read_entries(path), require_sound(path, trust).n_entries))


def evidence_of(
    entries: Iterable[Entry], *, source: str = ""
) -> tuple[tuple[SessionEvidence, ...], tuple[DeviceWatch, ...]]:
    """Return the sessions of a ledger, and when its devices were watched.

    Raises
    ------
    InvalidNounError
        When an entry is not what its kind says.
    """
    held = tuple(entries)
    return sessions_of(held, source=source), watches_of(held)


def prove_entry(path: Path, sequence: int) -> LedgerProof:
    """Prove that an entry is under the ledger's last checkpoint.

    Raises
    ------
    BadInputError
        When the ledger does not hold, or no such entry is under a checkpoint.
    """
    last = last_checkpoint(path)
    lines = [line[:-1] for line in islice(iter_lines(path), sequence, sequence + 1)] if sequence >= 0 else []
    if not lines or sequence >= last.size:
        expected = f"an entry from 0 to {last.size - 1}, which the last checkpoint is over"
        raise BadInputError(str(path), "", expected=expected, got=str(sequence))
    return proof_of(lines[0], _leaves(path, last.size), last).checked(verify_signature)


def prove_growth(path: Path, old: Checkpoint) -> GrowthProof:
    """Prove that the ledger's last checkpoint grew from an earlier one.

    Raises
    ------
    BadInputError
        When the ledger does not hold, or is not one that grew from it.
    """
    require_sound(path, Trust(checkpoints=(("the earlier checkpoint", old),)))
    last = last_checkpoint(path)
    return growth_of(old, last, _leaves(path, last.size))


def head_of(path: Path) -> Checkpoint | None:
    """Return what the head file beside a ledger holds; ``BadInputError`` where it holds something else."""
    data = read_head(path)
    source = str(head_path(path))
    return None if data is None else _read(Checkpoint.from_payload, _content(data, source), source)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint file; ``BadInputError`` where it is none."""
    content = read_document(path, kind=FORMAT, version=VERSION)
    return _read(Checkpoint.from_payload, content, str(path))


def read_proof(path: Path) -> LedgerProof:
    """Read a proof file, unchecked; ``BadInputError`` where it is none."""
    content = read_document(path, kind=PROOF_FORMAT, version=PROOF_VERSION)
    return _read(LedgerProof.from_payload, content, str(path))


def read_growth(path: Path) -> GrowthProof:
    """Read a growth file, unchecked; ``BadInputError`` where it is none."""
    content = read_document(path, kind=GROWTH_FORMAT, version=PROOF_VERSION)
    return _read(GrowthProof.from_payload, content, str(path))


def write_payload(path: Path, noun: Checkpoint | LedgerProof | GrowthProof, *, force: bool = False) -> None:
    """Write a checkpoint or proof to a file; ``BadInputError`` where its name is taken."""
    write_document(path, noun.to_payload(), replace=force)


def last_checkpoint(path: Path) -> Checkpoint:
    """Return the last checkpoint of a ledger that was checked first; errors of ``require_sound``."""
    return last_of(path, require_sound(path))


def last_of(path: Path, audit: Audit) -> Checkpoint:
    """Return the last checkpoint that an audit found; ``BadInputError`` where there is none."""
    if audit.last is None:
        raise BadInputError(str(path), "", expected="a ledger with a checkpoint", got="none")
    return audit.last


def _leaves(path: Path, n_entries: int) -> list[bytes]:
    return [leaf_hash(line[:-1]) for line in islice(iter_lines(path), n_entries)]


def _content(data: bytes, source: str) -> dict[str, Any]:
    return from_json(data, source=source, kind=FORMAT, version=VERSION)


def _read(make: Callable[[dict[str, Any]], Noun], content: dict[str, Any], source: str) -> Noun:
    try:
        return make(content)
    except InvalidNounError as error:
        raise BadInputError(source, "", expected="what its format says", got=str(error)) from error
