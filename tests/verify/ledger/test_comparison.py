"""What the file alone cannot show, a checkpoint or a key from elsewhere does."""

from dataclasses import replace

import pytest

from flopwitness.verify.ledger.checkpoints import Checkpoint
from flopwitness.verify.ledger.comparison import against_checkpoint, against_key, equivocation
from small_ledgers import HashSigner, SmallLedger, audited, three_groups, verify

LEDGER = three_groups()


def code(ledger: SmallLedger, checkpoint: Checkpoint, n_lines: int | None = None) -> str:
    """Return the code of what a checkpoint shows of a ledger; empty where it shows nothing."""
    audit = audited(ledger.lines[:n_lines], sizes=[checkpoint.size])
    fault = against_checkpoint(audit, checkpoint, verify)
    return fault.code if fault else ""


@pytest.mark.parametrize("number", range(5))
def test_every_checkpoint_of_a_ledger_agrees_with_it(number: int):
    """Also one of before a change of the key."""
    assert code(LEDGER, LEDGER.checkpoints[number]) == ""


@pytest.mark.parametrize("n_lines", [2, 5, 7, 9])
def test_a_cut_or_an_old_file_is_found(n_lines: int):
    """The file by itself is sound; the checkpoint knows of more."""
    assert audited(LEDGER.lines[:n_lines]).fault is None
    assert code(LEDGER, LEDGER.checkpoints[-1], n_lines) == "truncated"


def test_a_ledger_that_its_keeper_wrote_anew_is_found():
    """Signed with the right key, and not what was there before."""
    anew = SmallLedger()
    anew.group({"number": 1}, {"number": 99})

    assert audited(anew.lines).fault is None
    assert code(anew, LEDGER.checkpoints[1]) == "replayed"


def test_another_ledger_of_the_same_key_is_found():
    """Its first entry has another salt, hence another hash."""
    other = replace(LEDGER.checkpoints[1], ledger="ab" * 32).signed(LEDGER.signer)
    other = replace(other, public_key=LEDGER.signer.public_key).signed(LEDGER.signer)

    assert code(LEDGER, other) == "other-ledger"


def test_a_forged_checkpoint_shows_nothing_but_itself():
    """One whose signature, or whose countersignature, does not hold."""
    witness = HashSigner("witness")
    true = LEDGER.checkpoints[1].countersigned(witness, public_key=witness.public_key, at_ns=5)
    (one,) = true.countersignatures

    assert code(LEDGER, true) == ""
    assert code(LEDGER, replace(true, root="ab" * 32)) == "signature"
    assert code(LEDGER, replace(true, countersignatures=(replace(one, at_ns=6),))) == "signature"


def test_a_checkpoint_of_a_key_that_was_not_the_ledgers_then_is_found():
    """The right entries under a wrong key: the second key signs for what only the first could."""
    second = LEDGER.signer
    made = replace(LEDGER.checkpoints[1], public_key=second.public_key).signed(second)

    assert code(LEDGER, made) == "other-key"


def test_any_key_of_the_chain_will_do():
    """Each signed for all before it, and named its successor."""
    audit = audited(LEDGER.lines)

    assert [against_key(audit, span.public_key) for span in audit.keys] == [None, None]
    fault = against_key(audit, HashSigner("stranger").public_key)
    assert fault is not None
    assert fault.code == "other-key"


def test_a_ledger_told_in_two_ways_is_found_by_two_checkpoints():
    """Both signed, same ledger, same size, other entries: the keeper cannot deny it."""
    told, retold = SmallLedger(), SmallLedger()
    told.group({"number": 1})
    retold.group({"number": 2})
    pair = (told.checkpoints[-1], retold.checkpoints[-1])

    assert equivocation([*told.checkpoints, *retold.checkpoints], verify) == pair
    assert equivocation(LEDGER.checkpoints, verify) is None
    assert equivocation([told.checkpoints[-1], replace(retold.checkpoints[-1], at_ns=1)], verify) is None
