"""A checkpoint is signed whole; a signature made for one purpose is worth nothing for another."""

from dataclasses import replace

import pytest

from contracts.signer import SignerContract
from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.checkpoints import (
    COUNTERSIGN_DOMAIN,
    Checkpoint,
    fingerprint,
    holds,
    possession_message,
)
from flopwitness.verify.ledger.entries import Entry, EntryKind
from small_ledgers import HashSigner, three_groups, verify


class TestHashSigner(SignerContract):
    """The fake of these tests keeps to the contract of the real thing."""

    verify = verify
    n_made = 0

    def make(self) -> tuple[HashSigner, bytes]:
        """Return a signer with a key of its own."""
        type(self).n_made += 1
        signer = HashSigner(str(self.n_made))
        return signer, bytes.fromhex(signer.public_key)


def signed() -> Checkpoint:
    """Return a checkpoint with a countersignature."""
    witness = HashSigner("witness")
    return three_groups().checkpoints[-1].countersigned(witness, public_key=witness.public_key, at_ns=77)


def test_it_is_the_line_of_its_ledger():
    """The entry of a checkpoint and the checkpoint of an entry are the same thing."""
    ledger = three_groups()
    line = ledger.lines[-1][:-1]

    found = Checkpoint.from_entry(Entry.from_line(line))

    assert found == ledger.checkpoints[-1]
    assert found.entry().line() == line


def test_its_file_gives_it_back():
    """With its countersignatures."""
    assert Checkpoint.from_payload(signed().to_payload()) == signed()


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 9},
        {"root": "ab" * 32},
        {"head": "ab" * 32},
        {"ledger": "ab" * 32},
        {"at_ns": 1},
        {"salt": "ab" * 16},
        {"public_key": "ab" * 32},
        {"signature": "ab" * 64},
    ],
)
def test_every_field_is_under_the_signature(changes: dict[str, object]):
    """Nothing of it can be changed; its countersignature falls with it."""
    changed = replace(signed(), **changes)

    assert signed().is_signed(verify)
    assert not changed.is_signed(verify)
    assert not changed.is_countersigned(changed.countersignatures[0], verify)


def test_a_countersignature_is_under_its_own_instant_and_key():
    """When a second party says that it saw the checkpoint is signed too."""
    (one,) = signed().countersignatures

    assert signed().is_countersigned(one, verify)
    assert not signed().is_countersigned(replace(one, at_ns=78), verify)
    assert not signed().is_countersigned(replace(one, public_key=HashSigner("x").public_key), verify)


def test_signatures_are_kept_apart_by_purpose():
    """A keeper's signature is no countersignature, nor the other way round."""
    found = signed()
    (one,) = found.countersignatures
    swapped = replace(one, signature=found.signature, public_key=found.public_key)

    assert not found.is_countersigned(swapped, verify)
    assert not found.message().startswith(COUNTERSIGN_DOMAIN)
    assert possession_message("", 1, old_key="a", new_key="b")[:20] != found.message()[:20]


def test_signatures_have_one_spelling():
    """Upper-case hex stands for the same bytes, but would be another line."""
    found = signed()

    assert holds(verify, found.public_key, found.message(), found.signature)
    assert not holds(verify, found.public_key, found.message(), found.signature.upper())
    assert not holds(verify, found.public_key, found.message(), "no hex")


@pytest.mark.parametrize("name", ["ledger", "size", "root", "at_ns", "salt", "countersignatures"])
def test_a_file_without_a_field_is_refused(name: str):
    """It could not be checked."""
    payload = signed().to_payload()
    del payload[name]

    with pytest.raises(InvalidNounError, match=name):
        Checkpoint.from_payload(payload)


def test_an_entry_of_another_kind_is_no_checkpoint():
    """Even with a checkpoint's body."""
    entry = replace(signed().entry(), kind=EntryKind.STOP)

    with pytest.raises(InvalidNounError, match="checkpoint"):
        Checkpoint.from_entry(entry)


def test_a_fingerprint_is_the_hash_of_the_key():
    """SHA-256 of its 32 bytes."""
    assert fingerprint("00" * 32) == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
