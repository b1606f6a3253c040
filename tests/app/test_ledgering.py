"""Ledgers as files: checked against what others hold, proved to those without them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.app.ledgering import (
    Trust,
    checked_ledger,
    evidence_of,
    head_of,
    last_checkpoint,
    prove_entry,
    prove_growth,
    read_checkpoint,
    read_entries,
    read_growth,
    read_proof,
    require_sound,
    sound_entries,
    write_payload,
)
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key, read_signer, verify_signature
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.entries import EntryKind


def kept(folder: Path) -> Path:
    """Return a ledger of three groups, sealed."""
    path = folder / "ledger"
    with LedgerWriter.open(path, new_key(folder / "key")) as writer:
        for size in (2, 1, 3):
            writer.commit([(EntryKind.STOP, {"reason": "x", "number": at}) for at in range(size)])
    return path


def test_a_sound_ledger_is_read(tmp_path: Path):
    """All of its entries, checkpoints among them."""
    path = kept(tmp_path)

    entries = sound_entries(path)

    assert [entry.sequence for entry in entries] == list(range(11))
    assert list(read_entries(path)) == list(entries)
    assert evidence_of(entries) == ((), ())
    assert require_sound(path).last == head_of(path) == last_checkpoint(path)


def test_progress_is_told(tmp_path: Path):
    """In bytes, for a bar."""
    told: list[int] = []

    checked_ledger(kept(tmp_path), progress=told.append)

    assert told


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_change_is_found_with_a_checkpoint_from_elsewhere(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    """Bytes, cuts, insertions and older files, whatever the head file says."""
    path = kept(tmp_path_factory.mktemp("ledger"))
    trust = Trust(checkpoints=(("elsewhere", last_checkpoint(path)),))
    whole = path.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, min(start + 40, len(whole))))
    changed = whole[:start] + data.draw(st.binary(max_size=40)) + whole[stop:]
    path.write_bytes(data.draw(st.sampled_from([changed, whole[:start]])))

    faults = checked_ledger(path, trust, with_head=False).faults

    assert bool(faults) == (path.read_bytes() != whole)


def test_an_old_copy_of_both_files_is_found_by_a_checkpoint_alone(tmp_path: Path):
    """The two agree with each other; the check says what it does not prove."""
    path = kept(tmp_path)
    files = (path, head_path(path))
    old = [file.read_bytes() for file in files]
    with LedgerWriter.open(path, read_signer(tmp_path / "key")) as writer:
        writer.commit([(EntryKind.STOP, {})])
    checkpoint = last_checkpoint(path)
    for file, data in zip(files, old, strict=True):
        file.write_bytes(data)

    assert checked_ledger(path).faults == ()
    ((name, fault),) = checked_ledger(path, Trust(checkpoints=(("c", checkpoint),))).faults
    assert (name, fault.code) == ("c", "truncated")


@pytest.mark.parametrize("content", ["", "{}", "damaged"])
def test_a_head_that_is_none_was_altered(tmp_path: Path, content: str):
    """It is no misuse of ours: somebody wrote to it."""
    path = kept(tmp_path)
    head_path(path).write_text(content)

    ((name, fault),) = checked_ledger(path).faults

    assert (name, fault.code) == (str(head_path(path)), "damaged")


def test_a_ledger_that_does_not_hold_is_no_evidence(tmp_path: Path):
    """The first bad place is named: file, entry, byte."""
    path = kept(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":7', 1))

    with pytest.raises(BadInputError, match=r"entry 4, byte \d+: expected a ledger that nobody altered"):
        require_sound(path)
    with pytest.raises(BadInputError):
        prove_entry(path, 2)


@pytest.mark.parametrize("sequence", [-1, 10, 99])
def test_only_entries_under_the_checkpoint_are_proved(tmp_path: Path, sequence: int):
    """The last checkpoint itself is the end."""
    with pytest.raises(BadInputError, match="from 0 to 9"):
        prove_entry(kept(tmp_path), sequence)


def test_proofs_and_checkpoints_come_back_from_their_files(tmp_path: Path):
    """And hold without the ledger."""
    path = kept(tmp_path)
    old = last_checkpoint(path)
    with LedgerWriter.open(path, read_signer(tmp_path / "key")) as writer:
        writer.commit([(EntryKind.STOP, {})])
    proof, growth, last = prove_entry(path, 3), prove_growth(path, old), last_checkpoint(path)
    for name, noun in (("proof", proof), ("growth", growth), ("checkpoint", last)):
        write_payload(tmp_path / name, noun)
    path.unlink()

    assert read_checkpoint(tmp_path / "checkpoint") == last
    assert read_proof(tmp_path / "proof").checked(verify_signature) == proof
    assert proof.is_verified
    assert read_growth(tmp_path / "growth").holds(verify_signature)
    with pytest.raises(BadInputError, match="free name"):
        write_payload(tmp_path / "proof", proof)


@pytest.mark.parametrize("read", [read_checkpoint, read_proof, read_growth])
@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "flopwitness-ledger-proof", "version": 1}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, read: Callable[[Path], object], content: str):
    """In one line."""
    (tmp_path / "file").write_text(content)

    with pytest.raises(BadInputError):
        read(tmp_path / "file")


def test_lines_that_are_no_entries_are_refused(tmp_path: Path):
    """With the line's number."""
    path = kept(tmp_path)
    path.write_bytes(path.read_bytes() + b"nothing\n")

    with pytest.raises(BadInputError, match="line 12"):
        list(read_entries(path))
