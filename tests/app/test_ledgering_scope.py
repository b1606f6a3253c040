"""Ledgers as sources: what an auditor holds must fit, and what is proved is what was read."""

from dataclasses import replace
from pathlib import Path

import pytest

from flopwitness.app.ledgering import last_checkpoint, write_payload
from flopwitness.app.ledgering_scope import MAX_PROOFS, Pins, held_ledgers, ledger_content, read_pins
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key, public_path, read_signer
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.checkpoints import fingerprint
from flopwitness.verify.ledger.entries import EntryKind
from flopwitness.verify.ledger.evidence import session_body
from verify.made_accounts import session


def kept(folder: Path, n_sessions: int = 2, name: str = "node") -> Path:
    """Return a ledger of sessions, each longer than the one before; its key lies beside it."""
    path, signer = folder / name, new_key(folder / f"{name}.key")
    with LedgerWriter.open(path, signer) as writer:
        for k in range(n_sessions):
            body = session_body(session(1000 * k, 1000 * k + 10 + k)) | {"calibration_sha256": "c" * 64}
            writer.commit([(EntryKind.SESSION, body)])
    return path


def checkpoint_of(path: Path) -> Path:
    """Write the last checkpoint of a ledger beside it."""
    found = path.with_name(f"{path.name}.checkpoint")
    write_payload(found, last_checkpoint(path))
    return found


def key_of(path: Path) -> Path:
    """Return where the public key of a ledger lies."""
    return public_path(path.with_name(f"{path.name}.key"))


def grown(path: Path) -> None:
    """Append a verdict."""
    with LedgerWriter.open(path, read_signer(path.with_name(f"{path.name}.key"))) as writer:
        writer.commit([(EntryKind.VERDICT, {"answer": "below"})])


def test_every_session_of_the_scope_is_proved_under_the_newest_checkpoint(tmp_path: Path) -> None:
    """Not those of other sources; nothing from elsewhere vouches for them."""
    path = kept(tmp_path)
    (held,) = held_ledgers([path])

    content = ledger_content(held, [*held.sessions[1:], replace(session(0, 1), digest="f" * 64)])

    (proof,) = content.proofs
    assert content.n_sessions == 1
    assert proof.is_verified
    assert not content.verifies(proof)
    assert proof.entry_hash == held.sessions[1].digest
    assert content.last == last_checkpoint(path)


def test_what_came_another_way_vouches_for_its_own_ledger_alone(tmp_path: Path) -> None:
    """Of two nodes, each has its key or its checkpoint."""
    one, other = kept(tmp_path, name="one"), kept(tmp_path, name="other")
    pins = read_pins([checkpoint_of(other)], [key_of(one)])

    contents = [ledger_content(held, held.sessions) for held in held_ledgers([one, other], pins)]

    assert [content.keys for content in contents] == [
        ((str(key_of(one)), fingerprint(pins.keys[0][1])),),
        (),
    ]
    assert [len(content.checkpoints) for content in contents] == [0, 1]
    assert all(content.verifies(proof) for content in contents for proof in content.proofs)


def test_a_checkpoint_does_not_vouch_for_later_entries(tmp_path: Path) -> None:
    """Whoever holds the key can still write those anew."""
    path = kept(tmp_path, 1)
    held_back = checkpoint_of(path)
    with LedgerWriter.open(path, read_signer(tmp_path / "node.key")) as writer:
        writer.commit([(EntryKind.SESSION, session_body(session(5000, 5010)))])
    (held,) = held_ledgers([path], read_pins([held_back], []))

    content = ledger_content(held, held.sessions)

    assert [content.verifies(proof) for proof in content.proofs] == [True, False]


def test_a_ledger_begun_anew_does_not_fit_what_was_held_of_the_old_one(tmp_path: Path) -> None:
    """It is sound by itself, and of the same key."""
    path = kept(tmp_path)
    held_back = checkpoint_of(path)
    path.unlink()
    head_path(path).unlink()
    grown(path)

    assert held_ledgers([path])
    with pytest.raises(BadInputError, match=r"node\.checkpoint: expected a checkpoint of a ledger among"):
        held_ledgers([path], read_pins([held_back], []))


def test_a_key_of_no_ledger_is_refused(tmp_path: Path) -> None:
    """Also where there is no ledger at all."""
    path, signer = kept(tmp_path), new_key(tmp_path / "stranger")
    pins = Pins(keys=(("stranger.pub", signer.public_key),))

    for paths in ([path], []):
        with pytest.raises(BadInputError, match=r"stranger\.pub: expected a key of a ledger among"):
            held_ledgers(paths, pins)


def test_a_ledger_that_lost_its_end_does_not_agree_with_a_checkpoint(tmp_path: Path) -> None:
    """An old copy of both files holds by itself."""
    path = kept(tmp_path)
    files = (path, head_path(path))
    old = [file.read_bytes() for file in files]
    grown(path)
    held_back = checkpoint_of(path)
    for file, data in zip(files, old, strict=True):
        file.write_bytes(data)

    assert held_ledgers([path])
    with pytest.raises(BadInputError, match="its end was cut off"):
        held_ledgers([path], read_pins([held_back], []))


def test_of_many_sessions_the_longest_are_proved(tmp_path: Path) -> None:
    """The page stays small, and says of how many."""
    path = kept(tmp_path, MAX_PROOFS + 3)
    (held,) = held_ledgers([path])

    content = ledger_content(held, held.sessions)

    assert content.n_sessions == MAX_PROOFS + 3
    assert [proof.entry_hash for proof in content.proofs] == [one.digest for one in held.sessions[3:]]


def test_a_ledger_may_grow_between_reading_and_proving(tmp_path: Path) -> None:
    """What is proved is what was read; a file that became another is refused."""
    path, other = kept(tmp_path), kept(tmp_path, name="other")
    (held,) = held_ledgers([path])
    grown(path)

    assert all(proof.is_verified for proof in ledger_content(held, held.sessions).proofs)
    path.write_bytes(other.read_bytes())
    with pytest.raises(BadInputError, match="somebody writes it anew"):
        ledger_content(held, held.sessions)


def test_calibrations_are_those_that_the_entries_name(tmp_path: Path) -> None:
    """By the digest of each session."""
    (held,) = held_ledgers([kept(tmp_path)])

    assert held.calibrations == {one.digest: "c" * 64 for one in held.sessions}
