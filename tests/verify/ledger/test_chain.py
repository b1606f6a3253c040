"""The lines that a ledger grows by are frozen, and each names the one before."""

import hashlib

from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash
from small_ledgers import audited, three_groups

GOLDEN_SHA256 = "5c46a1523b6baddc1bca65c694ea7a9b613398daad404e7e6801143556b93548"
"""Of the eleven lines of ``three_groups``; it changes only with the version of the format."""


def test_the_bytes_of_a_ledger_are_frozen():
    """Genesis, sessions, a change of the key, checkpoints: each byte."""
    assert hashlib.sha256(b"".join(three_groups().lines)).hexdigest() == GOLDEN_SHA256


def test_each_line_names_the_one_before():
    """By its hash, signatures included."""
    lines = [line[:-1] for line in three_groups().lines]
    entries = [Entry.from_line(line) for line in lines]

    assert [one.sequence for one in entries] == list(range(len(lines)))
    assert [one.previous for one in entries[1:]] == [entry_hash(line) for line in lines[:-1]]


def test_a_copy_goes_its_own_way():
    """What is thrown away leaves no trace."""
    ledger = three_groups()
    before = ledger.chain.head, ledger.chain.size

    ledger.chain.copy().entry(EntryKind.STOP, {}, at_ns=1, salt="0" * 32)

    assert (ledger.chain.head, ledger.chain.size) == before


def test_the_old_key_signs_for_the_new():
    """The checkpoint after a change of the key is the old key's, later ones are the new one's."""
    ledger = three_groups()
    keys = [checkpoint.public_key for checkpoint in ledger.checkpoints]

    assert keys[3] == keys[0]
    assert keys[4] == ledger.signer.public_key != keys[3]
    assert audited(ledger.lines, thorough=True).fault is None
