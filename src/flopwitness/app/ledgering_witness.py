"""A second party signs a checkpoint, after it saw that the ledger grew from the one it signed before."""

import time
from pathlib import Path

from flopwitness.app.ledgering import read_checkpoint, read_growth, write_payload
from flopwitness.storage.keys import read_signer, verify_signature
from flopwitness.verify.ledger.checkpoints import Checkpoint


def countersigned_file(
    path: Path, key: Path, *, previous: Path | None = None, growth: Path | None = None
) -> str:
    """Add a signature to a checkpoint file, if nothing speaks against it.

    Parameters
    ----------
    path : Path
        The checkpoint; the file is replaced by one with a signature more.
    key : Path
        Private key of the second party.
    previous, growth : Path or None
        Checkpoint that the party holds from before, and the proof that the new one grew from it.

    Returns
    -------
    str
        Why it was not signed; empty where it was.

    Raises
    ------
    BadInputError
        When a file cannot be read or is none of these.
    """
    signer = read_signer(key)
    checkpoint = read_checkpoint(path)
    before = read_checkpoint(previous) if previous else None
    if fault := _fault(checkpoint, before, growth):
        return fault
    signed = checkpoint.countersigned(signer, public_key=signer.public_key, at_ns=time.time_ns())
    write_payload(path, signed, force=True)
    return ""


def _fault(checkpoint: Checkpoint, before: Checkpoint | None, growth: Path | None) -> str:
    if not checkpoint.is_signed(verify_signature):
        return "the keeper's own signature does not hold"
    if before is None:
        return "" if growth is None else "--growth says nothing without --previous"
    return _fault_since(before, checkpoint, growth)


def _fault_since(before: Checkpoint, checkpoint: Checkpoint, growth: Path | None) -> str:
    if before.ledger != checkpoint.ledger:
        return "it is of another ledger than the previous one"
    if before.size == checkpoint.size and before.root == checkpoint.root:
        return ""
    if growth is None:
        return "--previous needs --growth, which 'ledger checkpoint --since' writes"
    proof = read_growth(growth)
    is_of_these = (proof.old.root, proof.old.size) == (before.root, before.size) and (
        proof.new.root,
        proof.new.size,
    ) == (checkpoint.root, checkpoint.size)
    if not is_of_these or not proof.holds(verify_signature):
        return "it did not grow from the previous one: entries that were there are not there any more"
    return ""
