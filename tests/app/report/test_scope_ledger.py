"""A proof is shown in full, and so is what it does not prove."""

from dataclasses import replace

from app.report.scope_made import ledger_of, proof_of
from flopwitness.app.report.scope_ledger import (
    NO_CHECKPOINT,
    NO_KEY,
    PROVES_NOT,
    ledger_facts,
    missing,
    proof_facts,
)
from flopwitness.verify.ledger.checkpoints import Countersignature, fingerprint


def test_every_field_that_a_check_by_hand_needs_is_there():
    """Entry, path, root, size and key."""
    proof = proof_of()

    facts = dict(proof_facts(proof))

    assert facts["SHA-256 of the entry"] == proof.entry_hash
    assert facts["Path from the entry to the root"].split() == list(proof.path)
    assert facts["Root of the Merkle tree"] == proof.root
    assert facts["Fingerprint of the key"] == proof.fingerprint
    assert facts["Entry"] == "number 4 (the first is number 0), of the kind verdict"
    assert facts["Checkpoint"].startswith("over 8 entries")


def test_an_unchecked_proof_says_no():
    """In a word that nobody reads over, whoever vouches for the ledger."""
    assert dict(proof_facts(proof_of(is_verified=False), ["auditor.pub"]))["Checked"].startswith("NO")


def test_verified_is_what_something_from_elsewhere_vouches_for():
    """A ledger that holds by itself can have been written anew by whoever holds its key."""
    alone, held = (dict(proof_facts(proof_of(), by))["Checked"] for by in ([], ["auditor.pub", "c.json"]))

    assert "verified" not in alone
    assert alone.startswith("it holds by the ledger's own word")
    assert held == "verified: it holds, vouched for by auditor.pub and c.json"


def test_what_is_missing_is_named_and_nothing_else():
    """A key, a checkpoint, or a newer one; with all of it, nothing."""
    assert missing(ledger_of(is_key_held=False)) == (NO_KEY, NO_CHECKPOINT)
    assert missing(ledger_of()) == (NO_CHECKPOINT,)
    assert missing(ledger_of(sizes=[5, 3])) == (
        "a newer checkpoint (--checkpoint): those given are over the first 5 of 8 entries",
    )
    assert missing(ledger_of(sizes=[8])) == ()


def test_it_is_said_how_many_of_how_many_are_shown():
    """Nobody takes the proofs of some for those of all."""
    shown = {n: dict(ledger_facts(ledger_of(n_sessions=n)))["Proved below"] for n in (1, 1200)}
    nothing = dict(ledger_facts(replace(ledger_of(), proofs=(), n_sessions=0)))

    assert shown[1].startswith("1 of 1: every session")
    assert shown[1200].startswith("1 of 1,200 sessions")
    assert nothing["Proved below"] == "nothing: no session of this scope is in it"
    assert nothing["Of these verified"] == "0 of 0 proofs"


def test_what_a_ledger_was_set_against_is_named():
    """Files, fingerprints, and who countersigned."""
    second = Countersignature("a" * 64, 0, "b" * 128)
    made = ledger_of(sizes=[8])
    countersigned = tuple((name, replace(one, countersignatures=(second,))) for name, one in made.checkpoints)

    held = dict(ledger_facts(replace(made, checkpoints=countersigned)))["Set against"]

    assert f"public key auditor.pub, which is the ledger's ({'a1' * 32})" in held
    assert f"checkpoint c8.json over 8 entries, countersigned by {fingerprint('a' * 64)}" in held
    assert dict(ledger_facts(ledger_of(is_key_held=False)))["Set against"].startswith("nothing")


def test_countersignatures_are_named_as_not_checked_here():
    """A proof that holds says nothing of them."""
    proof = proof_of()
    second = Countersignature("a" * 64, 0, "b" * 128)
    countersigned = replace(proof, checkpoint=replace(proof.checkpoint, countersignatures=(second,)))

    assert dict(proof_facts(proof))["Countersigned by"] == "nobody"
    assert "not checked on this page" in dict(proof_facts(countersigned))["Countersigned by"]


def test_it_is_said_that_the_host_may_have_lied():
    """Integrity is not truth."""
    assert any("the host told the truth" in sentence for sentence in PROVES_NOT)
