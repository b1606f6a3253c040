"""What ledgers and proofs show, field by field, and in plain words what they prove and what they do not."""

from collections.abc import Sequence

from flopwitness.app.report.scope_content import LedgerContent
from flopwitness.app.report.wording import NOT_KNOWN, counted_text, instant_text
from flopwitness.verify.ledger.checkpoints import fingerprint
from flopwitness.verify.ledger.proofs import LedgerProof

PROVES = (
    "The entry was in the ledger, at this place, when the checkpoint was signed, and was not changed since.",
    "Nor was the order of the entries before it.",
    "The checkpoint was signed with the key of this fingerprint. The other entries stay undisclosed.",
)
PROVES_NOT = (
    "That the host told the truth: whoever controls it can have recorded false telemetry from the start.",
    "That nothing happened beside it: what was never watched has no entry.",
    "Whose key it is: compare the fingerprint with one that you got another way.",
    "When it was written: the time in an entry is the host's, unless a second party countersigned.",
)


NO_KEY = "a public key that came another way (--public-key): the ledger names its key itself"
NO_CHECKPOINT = (
    "a checkpoint that somebody else keeps (--checkpoint): whoever holds the key can write the ledger anew"
)
OLD_CHECKPOINT = (
    "a newer checkpoint (--checkpoint): those given are over the first {covered:,} of {size:,} entries"
)


def ledger_facts(ledger: LedgerContent) -> tuple[tuple[str, str], ...]:
    """Return how a ledger was checked, against what, and what is missing for more."""
    last = ledger.last
    return (
        ("Ledger", ledger.name),
        (
            "Checked",
            f"all {last.size:,} entries up to the newest checkpoint: unaltered, in order, signed for",
        ),
        ("Fingerprint of its key", fingerprint(last.public_key)),
        ("Set against", "; ".join(_held(ledger)) or "nothing that came another way"),
        ("Proved below", _shown(ledger)),
        ("Of these verified", _verified(ledger)),
        ("Missing", "; ".join(missing(ledger)) or "nothing that this page could be given"),
    )


def missing(ledger: LedgerContent) -> tuple[str, ...]:
    """Return what would have to come another way for the ledger to be more than its own word."""
    words = [] if ledger.keys else [NO_KEY]
    if not ledger.checkpoints:
        words.append(NO_CHECKPOINT)
    elif ledger.n_covered < ledger.last.size:
        words.append(OLD_CHECKPOINT.format(covered=ledger.n_covered, size=ledger.last.size))
    return tuple(words)


def _held(ledger: LedgerContent) -> list[str]:
    words = [f"public key {name}, which is the ledger's ({key})" for name, key in ledger.keys]
    for name, checkpoint in ledger.checkpoints:
        others = ", ".join(fingerprint(one.public_key) for one in checkpoint.countersignatures) or "nobody"
        words.append(f"checkpoint {name} over {checkpoint.size:,} entries, countersigned by {others}")
    return words


def _shown(ledger: LedgerContent) -> str:
    n, n_shown = ledger.n_sessions, len(ledger.proofs)
    if not n:
        return "nothing: no session of this scope is in it"
    if n_shown < n:
        return f"{n_shown} of {n:,} sessions of this scope that it holds, those with the most device time"
    return f"{n_shown} of {n:,}: every session of this scope that it holds"


def _verified(ledger: LedgerContent) -> str:
    n = sum(ledger.verifies(proof) for proof in ledger.proofs)
    return f"{n} of {counted_text(len(ledger.proofs), 'proof')}"


def proof_facts(proof: LedgerProof, vouchers: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the fields of a proof, the path in full so that it can be checked by hand.

    Parameters
    ----------
    proof : LedgerProof
        Checked.
    vouchers : sequence of str
        Files from elsewhere that vouch for its entry.
    """
    checkpoint = proof.checkpoint
    seconds = ", ".join(fingerprint(one.public_key) for one in checkpoint.countersignatures)
    return (
        ("Checked", _checked(proof, vouchers)),
        ("Entry", f"number {proof.index} (the first is number 0), of the kind {proof.entry.kind}"),
        ("Written, as the host says", f"{instant_text(proof.entry.at_ns)} UTC"),
        ("SHA-256 of the entry", proof.entry_hash),
        ("Checkpoint", f"over {proof.size:,} entries, {instant_text(checkpoint.at_ns)} UTC as the host says"),
        ("Root of the Merkle tree", proof.root),
        ("Path from the entry to the root", " ".join(proof.path) or "none: the entry is alone"),
        ("Fingerprint of the key", proof.fingerprint or NOT_KNOWN),
        ("Countersigned by", f"{seconds} (not checked on this page)" if seconds else "nobody"),
    )


def _checked(proof: LedgerProof, vouchers: Sequence[str]) -> str:
    if not proof.is_verified:
        return "NO: it does not hold, or nobody checked it"
    if not vouchers:
        return "it holds by the ledger's own word; nothing that came another way vouches for it"
    return f"verified: it holds, vouched for by {' and '.join(vouchers)}"
