"""A second party signs a checkpoint only where nothing that it signed before was rewritten."""

import json
from pathlib import Path

import pytest

from flopwitness.app.ledgering import last_checkpoint, prove_growth, read_checkpoint, write_payload
from flopwitness.app.ledgering_witness import countersigned_file
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key, read_signer, verify_signature
from flopwitness.verify.ledger.entries import EntryKind


class Parties:
    """A keeper with a ledger and a second party, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.ledger, self.witness = folder / "ledger", folder / "witness"
        new_key(folder / "key")
        new_key(self.witness)

    def checkpoint(self, name: str, *, since: Path | None = None) -> Path:
        """Append an entry; return the file of the checkpoint over it, with its growth beside."""
        with LedgerWriter.open(self.ledger, read_signer(self.folder / "key")) as writer:
            writer.commit([(EntryKind.STOP, {"name": name})])
        path = self.folder / name
        write_payload(path, last_checkpoint(self.ledger))
        if since:
            write_payload(self.folder / f"{name}.growth", prove_growth(self.ledger, read_checkpoint(since)))
        return path


def test_what_grew_is_signed(tmp_path: Path):
    """The signature is added to the file, whose other signatures stay."""
    parties = Parties(tmp_path)
    first = parties.checkpoint("first")
    second = parties.checkpoint("second", since=first)
    growth = tmp_path / "second.growth"

    assert countersigned_file(first, parties.witness) == ""
    assert countersigned_file(second, parties.witness, previous=first, growth=growth) == ""
    assert countersigned_file(second, parties.witness, previous=second) == ""

    found = read_checkpoint(second)
    assert len(found.countersignatures) == 2
    assert all(found.is_countersigned(one, verify_signature) for one in found.countersignatures)


def test_growth_must_be_shown(tmp_path: Path):
    """It is not believed; nor does a proof say anything without what it is about."""
    parties = Parties(tmp_path)
    first = parties.checkpoint("first")
    second = parties.checkpoint("second", since=first)

    assert "needs --growth" in countersigned_file(second, parties.witness, previous=first)
    assert "--previous" in countersigned_file(second, parties.witness, growth=tmp_path / "second.growth")
    assert read_checkpoint(second).countersignatures == ()


def test_another_proof_of_growth_is_not_taken(tmp_path: Path):
    """It has to be that of the party's own checkpoint and of the one that it is to sign; and to hold."""
    parties = Parties(tmp_path)
    first = parties.checkpoint("first")
    second = parties.checkpoint("second", since=first)
    third = parties.checkpoint("third", since=second)
    growth = tmp_path / "third.growth"

    assert "did not grow" in countersigned_file(third, parties.witness, previous=first, growth=growth)
    forged = json.loads(growth.read_text()) | {"old": json.loads(first.read_text())}
    (tmp_path / "forged").write_text(json.dumps(forged))
    fault = countersigned_file(third, parties.witness, previous=first, growth=tmp_path / "forged")
    assert "did not grow" in fault


def test_another_ledger_or_a_forged_checkpoint_is_not_signed(tmp_path: Path):
    """A keeper who began anew, and one who did not sign."""
    parties, anew = Parties(tmp_path), Parties(tmp_path / "anew")
    first, other = parties.checkpoint("first"), anew.checkpoint("other")

    assert "another ledger" in countersigned_file(other, parties.witness, previous=first)
    other.write_text(other.read_text().replace('"size": 3', '"size": 2'))
    assert "does not hold" in countersigned_file(other, parties.witness)


def test_what_is_no_checkpoint_is_refused(tmp_path: Path):
    """In one line, before anything is signed."""
    parties = Parties(tmp_path)

    (tmp_path / "x").write_text("{}")

    with pytest.raises(BadInputError, match="format"):
        countersigned_file(tmp_path / "x", parties.witness)
