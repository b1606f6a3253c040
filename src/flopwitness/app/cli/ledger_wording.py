"""What the check of a ledger proves, and what it does not, in plain words."""

from flopwitness.app.cli.output import utc
from flopwitness.app.ledgering import LedgerCheck, Trust
from flopwitness.verify.ledger.checkpoints import Checkpoint, fingerprint

SHOWN_DIGITS = 16

HOST_TRUSTED = (
    "That the host told the truth. Whoever runs the machine can feed the daemon false telemetry, and the "
    "times are those of its own clock."
)
NEVER_PROVED = (
    HOST_TRUSTED,
    "That nothing happened unwritten. Time that no entry covers was not observed; it is not idle.",
    "That this is the only ledger of these devices: another may have been kept beside it.",
)
"""Holds of every ledger, however it is kept."""

KEY_UNPINNED = (
    "That the key is the keeper's. The ledger names it itself: compare its fingerprint with one that came "
    "another way, or give --public-key."
)
KEEPER_UNCHECKED = (
    "Anything against the keeper. Whoever holds the key, or held one before it, can write the ledger anew "
    "from where that key signed; whoever can write both files can put back older copies of both. Only a "
    "checkpoint that somebody else keeps shows it: give --checkpoint."
)
KEEPER_CHECKED = (
    "Anything of entries from {size} on against the keeper: none of your checkpoints is over them. Whoever "
    "holds the key can still write them anew; whoever can write both files can put back older copies."
)
HEAD_AGREES = "The end was not cut off, as far as the head file says, which lies on the same disk."
HEADLESS = "That the end was not cut off after a whole group: there is no head file to say how long it was."
UNFINISHED = (
    "A writer that is at work, or was killed, leaves such an end: ask again, or have 'watch' open it, which "
    "drops what nobody signed for. Somebody may also have put it there."
)
KEY_CHANGED = "The key changed hands in order, each named by the one before: {names}."
UNALTERED = (
    "Integrity and order: none of the {n_entries} entries was changed, removed, added or moved since key "
    "{key} signed for them, at {at} by the host's clock."
)


def proved(check: LedgerCheck, trust: Trust) -> tuple[str, ...]:
    """Return what a check without faults proves."""
    audit = check.audit
    if check.faults or audit.last is None:
        return ()
    key, at = _name(audit.last.public_key), utc(audit.last.at_ns)
    sentences = [UNALTERED.format(n_entries=audit.n_entries, key=key, at=at)]
    if len(audit.keys) > 1:
        names = ", ".join(_name(span.public_key) for span in audit.keys)
        sentences.append(KEY_CHANGED.format(names=names))
    if trust.public_key:
        sentences.append(f"The ledger is that of the key you named, {_name(trust.public_key)}.")
    if check.head is not None:
        sentences.append(HEAD_AGREES)
    sentences += [_held(name, checkpoint) for name, checkpoint in trust.checkpoints]
    return tuple(sentences)


def not_proved(check: LedgerCheck, trust: Trust) -> tuple[str, ...]:
    """Return what the check of a ledger leaves open, given what the verifier holds of it."""
    sentences = list(NEVER_PROVED)
    if check.head is None:
        sentences.append(HEADLESS)
    if not trust.public_key:
        sentences.append(KEY_UNPINNED)
    sizes = [checkpoint.size for _, checkpoint in trust.checkpoints]
    sentences.append(KEEPER_CHECKED.format(size=max(sizes)) if sizes else KEEPER_UNCHECKED)
    return tuple(sentences)


def _held(name: str, checkpoint: Checkpoint) -> str:
    others = [f"{_name(one.public_key)} (says at {utc(one.at_ns)})" for one in checkpoint.countersignatures]
    by = f"countersigned by {' and '.join(others)}" if others else "countersigned by nobody"
    return f"The first {checkpoint.size} entries are those of checkpoint {name}, {by}."


def _name(public_key: str) -> str:
    return fingerprint(public_key)[:SHOWN_DIGITS]
