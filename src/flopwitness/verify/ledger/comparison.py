"""A ledger against what others hold of it: checkpoints from before, and the key that it should have."""

from collections.abc import Iterable

from flopwitness.verify.ledger.audit import Audit, Fault
from flopwitness.verify.ledger.checkpoints import Checkpoint, Verifier, fingerprint


def against_checkpoint(audit: Audit, checkpoint: Checkpoint, verify: Verifier) -> Fault | None:
    """Return what is wrong if a checkpoint was taken from the true ledger; None where the two agree.

    The audit must have been asked for the root at the checkpoint's size.
    """
    return _signature_fault(checkpoint, verify) or _entries_fault(audit, checkpoint)


def _signature_fault(checkpoint: Checkpoint, verify: Verifier) -> Fault | None:
    if not checkpoint.is_signed(verify):
        return Fault("signature", checkpoint.size, 0, "the checkpoint's own signature does not hold")
    if not all(checkpoint.is_countersigned(one, verify) for one in checkpoint.countersignatures):
        return Fault("signature", checkpoint.size, 0, "a countersignature of the checkpoint does not hold")
    return None


def _entries_fault(audit: Audit, checkpoint: Checkpoint) -> Fault | None:
    where = checkpoint.size
    if checkpoint.ledger != audit.ledger:
        return Fault(
            "other-ledger", 0, 0, "the checkpoint is of another ledger: this one was begun anew, or swapped"
        )
    if audit.n_entries <= where:
        message = f"the checkpoint is over {where} entries, the ledger holds {max(audit.n_entries - 1, 0)}"
        return Fault("truncated", audit.n_entries, audit.n_bytes, f"{message}: its end was cut off")
    if audit.roots.get(where) != checkpoint.root:
        return Fault(
            "replayed",
            where,
            0,
            f"the first {where} entries are not those that the checkpoint was signed for",
        )
    if checkpoint.public_key != key_at(audit, where):
        return Fault("other-key", where, 0, "the checkpoint is signed with a key that is not the ledger's")
    return None


def against_key(audit: Audit, public_key: str) -> Fault | None:
    """Return what is wrong if a key was the ledger's at some time; None where it was.

    Any key of the chain will do: each signed for all before it, and named its successor.
    """
    if public_key in (span.public_key for span in audit.keys):
        return None
    held = ", ".join(fingerprint(span.public_key)[:16] for span in audit.keys) or "none"
    return Fault("other-key", 0, 0, f"the ledger's keys are {held}, not {fingerprint(public_key)[:16]}")


def equivocation(checkpoints: Iterable[Checkpoint], verify: Verifier) -> tuple[Checkpoint, Checkpoint] | None:
    """Return two checkpoints that show that one ledger was told in two ways, if there are such.

    Both are signed, name the same ledger and size, and different entries.
    """
    seen: dict[tuple[str, int], Checkpoint] = {}
    for one in checkpoints:
        if one.is_signed(verify):
            other = seen.setdefault((one.ledger, one.size), one)
            if other.root != one.root:
                return other, one
    return None


def key_at(audit: Audit, size: int) -> str:
    """Return the key whose checkpoint may stand at a place; empty where there is none."""
    held = [span.public_key for span in audit.keys if span.since <= size]
    return held[-1] if held else ""
