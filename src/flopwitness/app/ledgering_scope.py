"""Ledgers as sources of a scope: set against what an auditor holds, read, and proved entry by entry."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from flopwitness.app.ledgering import (
    Trust,
    evidence_of,
    last_of,
    read_checkpoint,
    read_entries,
    require_sound,
)
from flopwitness.app.report.scope_content import LedgerContent
from flopwitness.core.account import DeviceWatch, SessionEvidence
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import read_public_key, verify_signature
from flopwitness.storage.ledgers import iter_lines
from flopwitness.verify.ledger.checkpoints import Checkpoint, fingerprint
from flopwitness.verify.ledger.comparison import against_key
from flopwitness.verify.ledger.entries import EntryKind, entry_hash
from flopwitness.verify.ledger.merkle import leaf_hash
from flopwitness.verify.ledger.proofs import LedgerProof, proof_of
from flopwitness.verify.watching import bounded_by_idle_levels

MAX_PROOFS = 10
"""A page shows the proofs of so many sessions of a ledger; the whole of it was checked all the same."""


@dataclass(frozen=True, slots=True)
class Pins:
    """What an auditor holds of ledgers, of whichever they may be.

    Attributes
    ----------
    keys : tuple of tuple of str
        Name of the file and public key, 64 hex digits.
    checkpoints : tuple of tuple of str and Checkpoint
        Name of the file, and what it holds.
    """

    keys: tuple[tuple[str, str], ...] = ()
    checkpoints: tuple[tuple[str, Checkpoint], ...] = ()


@dataclass(frozen=True, slots=True)
class HeldLedger:
    """A ledger that holds, as it was when it was read.

    Attributes
    ----------
    path : Path
        Its file.
    last : Checkpoint
        Its newest, over all that was read.
    pins : Pins
        Those that are of it, and that it agrees with.
    sessions : tuple of SessionEvidence
        In the order in which they were written.
    watches : tuple of DeviceWatch
        One a device.
    calibrations : mapping of str to str
        Digest of each session's calibration by the session's; empty where it had none.
    """

    path: Path
    last: Checkpoint
    pins: Pins
    sessions: tuple[SessionEvidence, ...]
    watches: tuple[DeviceWatch, ...]
    calibrations: Mapping[str, str]


def read_pins(checkpoints: Iterable[Path], keys: Iterable[Path]) -> Pins:
    """Read checkpoints and public keys; ``BadInputError`` where a file holds something else."""
    return Pins(
        tuple((str(path), read_public_key(path)) for path in keys),
        tuple((str(path), read_checkpoint(path)) for path in checkpoints),
    )


def held_ledgers(paths: Sequence[Path], pins: Pins = Pins()) -> tuple[HeldLedger, ...]:
    """Check ledgers against themselves and what an auditor holds of them, then read them.

    Raises
    ------
    BadInputError
        When one was altered or does not agree with a checkpoint of it, or when a key or checkpoint is of
        none of them: a ledger that was begun anew would pass otherwise.
    """
    held = tuple(_held(path, pins) for path in paths)
    _require_all_of("checkpoint", pins.checkpoints, {pin for one in held for pin in one.pins.checkpoints})
    _require_all_of("key", pins.keys, {pin for one in held for pin in one.pins.keys})
    return held


def ledger_content(held: HeldLedger, sessions: Iterable[SessionEvidence]) -> LedgerContent:
    """Prove that sessions of a scope are under a ledger's newest checkpoint.

    Parameters
    ----------
    held : HeldLedger
        The ledger.
    sessions : iterable of SessionEvidence
        Of the scope; those of other sources are passed over, and where there are more than ``MAX_PROOFS``,
        those with the most device time are proved.

    Raises
    ------
    BadInputError
        When the ledger cannot be read any more, or is not what was read.
    """
    own = [one for one in sessions if one.digest in held.calibrations]
    shown = {one.digest for one in sorted(own, key=_device_time, reverse=True)[:MAX_PROOFS]}
    return LedgerContent(
        str(held.path),
        held.last,
        len(own),
        _proofs(held, shown),
        tuple((name, fingerprint(key)) for name, key in held.pins.keys),
        held.pins.checkpoints,
    )


def _held(path: Path, pins: Pins) -> HeldLedger:
    name = entry_hash(next(iter_lines(path), b"").removesuffix(b"\n"))
    checkpoints = tuple(pin for pin in pins.checkpoints if pin[1].ledger == name)
    audit = require_sound(path, Trust(checkpoints=checkpoints))
    keys = tuple(pin for pin in pins.keys if against_key(audit, pin[1]) is None)
    entries = tuple(islice(read_entries(path), audit.n_entries))
    sessions, watches = evidence_of(entries, source=str(path))
    bodies = [entry.body for entry in entries if entry.kind is EntryKind.SESSION]
    return HeldLedger(
        path,
        last_of(path, audit),
        Pins(keys, checkpoints),
        sessions,
        tuple(bounded_by_idle_levels(one, sessions) for one in watches),
        {
            one.digest: str(body.get("calibration_sha256") or "")
            for one, body in zip(sessions, bodies, strict=True)
        },
    )


def _require_all_of(what: str, given: Iterable[tuple[str, Any]], found: Collection[tuple[str, Any]]) -> None:
    """Refuse what an auditor holds of a ledger that is not there."""
    for pin in given:
        if pin not in found:
            expected = f"a {what} of a ledger among the sources"
            raise BadInputError(pin[0], "", expected=expected, got="one that is of none of them")


def _device_time(session: SessionEvidence) -> int:
    return (session.stop_ns - session.start_ns) * len(session.devices)


def _proofs(held: HeldLedger, digests: Collection[str]) -> tuple[LedgerProof, ...]:
    """Prove the entries of some hashes; the file may have grown since it was read."""
    leaves: list[bytes] = []
    lines: list[bytes] = []
    for line in islice(iter_lines(held.path), held.last.size):
        leaves.append(leaf_hash(line[:-1]))
        if leaves[-1].hex() in digests:
            lines.append(line[:-1])
    if len(lines) < len(digests):
        raise BadInputError(
            str(held.path), "", expected="the entries that were read", got="others: somebody writes it anew"
        )
    return tuple(proof_of(line, leaves, held.last).checked(verify_signature) for line in lines)
