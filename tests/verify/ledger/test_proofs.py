"""A proof shows one entry and nothing of the others; growth shows that nothing was rewritten."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.checkpoints import fingerprint
from flopwitness.verify.ledger.merkle import leaf_hash
from flopwitness.verify.ledger.proofs import GrowthProof, LedgerProof, growth_of, proof_of
from small_ledgers import SmallLedger, three_groups, verify

LEDGER = three_groups()
LEAVES = [leaf_hash(line[:-1]) for line in LEDGER.lines]
LAST = LEDGER.checkpoints[-1]


def proof(index: int) -> LedgerProof:
    """Return a proof, unchecked."""
    return proof_of(LEDGER.lines[index][:-1], LEAVES, LAST)


@pytest.mark.parametrize("index", range(10))
def test_every_entry_under_a_checkpoint_can_be_proved(index: int):
    """Also checkpoints and the change of the key; the file gives the proof back, unchecked."""
    found = LedgerProof.from_payload(proof(index).to_payload())

    assert not found.is_verified
    assert found.checked(verify).is_verified
    assert (found.index, found.size, found.root) == (index, LAST.size, LAST.root)
    assert found.entry_hash == LEAVES[index].hex()
    assert found.fingerprint == fingerprint(LAST.public_key)


def test_a_proof_shows_nothing_of_the_other_entries():
    """Neither bodies nor salts: only hashes."""
    text = str(proof(2).to_payload())

    assert '"number":1' in text
    assert '"number":2' not in text
    assert f"{3:032x}" not in text


@given(at=st.integers(0, 9), other=st.integers(0, 9))
def test_a_proof_of_one_entry_is_none_of_another(at: int, other: int):
    """The path is that of one place."""
    moved = replace(proof(at), line=LEDGER.lines[other][:-1])

    assert moved.checked(verify).is_verified == (at == other)


def test_a_changed_entry_path_or_checkpoint_is_found():
    """A proof that says that it was verified is checked all the same."""
    found = proof(2)
    changed = (
        replace(found, line=found.line.replace(b'"number":1', b'"number":9')),
        replace(found, path=found.path[1:]),
        replace(found, path=("ab" * 32, *found.path[1:])),
        replace(found, checkpoint=replace(LAST, size=9)),
        replace(found, checkpoint=replace(LAST, root="ab" * 32)),
    )

    assert [replace(one, is_verified=True).checked(verify).is_verified for one in changed] == [False] * 5


def test_there_is_no_proof_of_what_comes_after_the_checkpoint():
    """The last checkpoint is not under itself."""
    with pytest.raises(InvalidNounError, match="not under"):
        proof(10)


@pytest.mark.parametrize("field", ["entry", "path", "checkpoint"])
def test_a_file_without_a_field_is_refused(field: str):
    """It could not be checked."""
    payload = proof(2).to_payload()
    del payload[field]

    with pytest.raises(InvalidNounError):
        LedgerProof.from_payload(payload)


def test_a_path_of_something_else_is_refused():
    """Hashes are 64 lower-case hex digits."""
    payload = proof(2).to_payload()

    with pytest.raises(InvalidNounError, match="path"):
        LedgerProof.from_payload(payload | {"path": ["AB" * 32]})


@given(old=st.integers(0, 4), new=st.integers(0, 4))
def test_a_later_checkpoint_grew_from_an_earlier_one(old: int, new: int):
    """Never the other way round."""
    first, last = LEDGER.checkpoints[min(old, new)], LEDGER.checkpoints[max(old, new)]
    found = growth_of(first, last, LEAVES)

    assert GrowthProof.from_payload(found.to_payload()).holds(verify)
    if old != new:
        assert not GrowthProof(last, first, found.path).holds(verify)
        with pytest.raises(InvalidNounError, match="grow"):
            growth_of(last, first, LEAVES)


def test_a_ledger_that_was_written_anew_did_not_grow():
    """Right key, right size, other entries."""
    anew = SmallLedger()
    anew.group({"number": 1}, {"number": 99})
    anew.group({"number": 3})
    leaves = [leaf_hash(line[:-1]) for line in anew.lines]
    honest = growth_of(anew.checkpoints[1], anew.checkpoints[2], leaves)

    assert honest.holds(verify)
    assert not replace(honest, old=LEDGER.checkpoints[1]).holds(verify)
