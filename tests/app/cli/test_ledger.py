"""``flopwitness ledger``: what is shown, what is proved, and in which words."""

import json
import stat
from pathlib import Path

import pytest
import typer

from flopwitness.app.cli.ledger import ALTERED, app
from flopwitness.app.ledgering import last_checkpoint, read_checkpoint
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key, read_signer, verify_signature
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.checkpoints import fingerprint
from flopwitness.verify.ledger.entries import EntryKind

COMMAND = typer.main.get_command(app)
START = {"host": "node", "devices": [{}], "before": None}


def ran(*arguments: object) -> int:
    """Run a command and return its exit status."""
    return COMMAND.main([str(one) for one in arguments], standalone_mode=False) or 0


def kept(folder: Path) -> Path:
    """Return a ledger with a start, two sessions and a stop."""
    path = folder / "ledger"
    with LedgerWriter.open(path, new_key(folder / "key")) as writer:
        writer.commit([(EntryKind.START, START)])
        for name in ("secret-run", "other-run"):
            writer.commit([(EntryKind.SESSION, {"session_id": name, "name": "", "samples": []})])
        writer.commit([(EntryKind.STOP, {"reason": "ended", "n_sessions": 2, "samples": []})])
    return path


def grown(path: Path) -> None:
    """Append an entry."""
    with LedgerWriter.open(path, read_signer(path.with_name("key"))) as writer:
        writer.commit([(EntryKind.STOP, {"reason": "again", "n_sessions": 0, "samples": []})])


def test_entries_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A table for people."""
    ran("show", kept(tmp_path))

    said = capsys.readouterr().out
    assert "unchecked" in said
    assert "node, 1 devices, the first" in said
    assert "workload secret-run" in said
    assert "ended, 2 sessions" in said


def test_entries_are_listed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """By kind, and the last ones only; each with the hash that the next one names."""
    path = kept(tmp_path)
    ran("show", path, "--kind", "session", "--json")
    sessions = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ran("show", path, "--tail", "2", "--json")
    last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [one["body"]["session_id"] for one in sessions] == ["secret-run", "other-run"]
    assert [one["kind"] for one in last] == ["stop", "checkpoint"]
    assert last[1]["previous"] == last[0]["hash"]


def test_an_unknown_kind_is_refused(tmp_path: Path):
    """With those that there are."""
    with pytest.raises(BadInputError, match="genesis, checkpoint"):
        ran("show", kept(tmp_path), "--kind", "nonsense")


def test_a_malformed_body_is_listed_all_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Showing checks nothing; it does not fall over either."""
    path = kept(tmp_path)
    with LedgerWriter.open(path, read_signer(tmp_path / "key")) as writer:
        writer.commit([(EntryKind.GAP, {"device": 5})])

    ran("show", path)

    assert "not as its kind should be" in capsys.readouterr().out


def test_a_sound_ledger_is_called_so_and_its_limits_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What it proves, what it does not, and how to prove more."""
    status = ran("verify", kept(tmp_path))

    said = capsys.readouterr().out
    assert status == 0
    assert "SOUND  ledger: 10 entries" in said
    assert "Integrity and order: none of the 10 entries was changed" in said
    for words in (
        "That the host told the truth",
        "not observed; it is not idle",
        "--public-key",
        "--checkpoint",
    ):
        assert words in said.partition("It does not prove")[2]


def test_what_is_held_elsewhere_proves_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A pinned key and a countersigned checkpoint take their doubts away, and no others."""
    path = kept(tmp_path)
    witness = new_key(tmp_path / "witness")
    ran("checkpoint", path, "--output", tmp_path / "c")
    assert ran("countersign", tmp_path / "c", "--key", tmp_path / "witness") == 0
    grown(path)
    capsys.readouterr()

    status = ran("verify", path, "--checkpoint", tmp_path / "c", "--public-key", tmp_path / "key.pub")

    said = capsys.readouterr().out
    assert status == 0
    assert f"countersigned by {fingerprint(witness.public_key)[:16]}" in said
    assert "The ledger is that of the key you named" in said
    assert "entries from 9 on against the keeper" in said
    assert "--public-key" not in said


def test_an_altered_ledger_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Status 1, the first bad place, and how far it stands."""
    path = kept(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"other-run", b"00000-run"))

    status = ran("verify", path)

    said = capsys.readouterr().out
    assert status == ALTERED == 1
    assert "ALTERED" in said
    assert "entry 7" in said
    assert "Entries 0 to 4 are under a checkpoint whose signature holds." in said
    assert "This proves" not in said


def test_what_weakens_a_check_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A missing head, and an end that a killed writer may have left."""
    path = kept(tmp_path)
    head_path(path).unlink()
    assert ran("verify", path) == 0
    assert "there is no head file" in capsys.readouterr().out
    path.write_bytes(path.read_bytes() + b"half")

    assert ran("verify", path) == 1
    assert "Somebody may also have put it there" in capsys.readouterr().out


def test_findings_of_a_check_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One object."""
    path = kept(tmp_path)
    checkpoint = last_checkpoint(path)
    old = [head_path(path).read_bytes(), path.read_bytes()]
    grown(path)
    head_path(path).write_bytes(old[0])
    path.write_bytes(old[1][:-10])

    status = ran("verify", path, "--json")

    (found,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 1
    assert found["is_sound"] is False
    assert found["faults"][0]["code"] == "unfinished"
    assert found["proves"] == []
    assert found["checkpoint"]["size"] < checkpoint.size


def test_another_key_is_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A whole ledger can be made with a key of one's own."""
    path = kept(tmp_path)
    new_key(tmp_path / "other")

    assert ran("verify", path, "--public-key", tmp_path / "other.pub") == 1
    assert "ledger's keys are" in capsys.readouterr().out


def test_one_entry_is_proved_without_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The proof names neither the other run nor anything of it."""
    path = kept(tmp_path)
    proof = tmp_path / "proof"
    ran("prove", path, "6", "--output", proof)
    text = proof.read_text()
    path.unlink()
    capsys.readouterr()

    status = ran("check-proof", proof, "--public-key", tmp_path / "key.pub")

    assert status == 0
    assert "The proof holds: entry 6" in capsys.readouterr().out
    assert "other-run" in text
    assert "secret-run" not in text


def test_a_changed_proof_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Nor one of another key."""
    ran("prove", kept(tmp_path), "6", "--output", tmp_path / "proof")
    new_key(tmp_path / "other")
    assert ran("check-proof", tmp_path / "proof", "--public-key", tmp_path / "other.pub") == 1
    text = (tmp_path / "proof").read_text()
    (tmp_path / "proof").write_text(text.replace("other-run", "other-fun"))
    capsys.readouterr()

    assert ran("check-proof", tmp_path / "proof", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["is_verified"], found["is_key"]) == (False, None)


def test_a_period_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """To a file or to standard output; a ledger that does not hold is not exported."""
    path = kept(tmp_path)
    ran("export", path, "--kind", "session", "--kind", "stop")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ran("export", path, "--until", "2001-01-01", "--output", tmp_path / "none")
    ran("export", path, "--from", "2001-01-01T00:00:00+00:00", "--output", tmp_path / "all")

    assert [one["kind"] for one in lines] == ["session", "session", "stop"]
    assert (tmp_path / "none").read_text() == ""
    assert len((tmp_path / "all").read_text().splitlines()) == 10
    with pytest.raises(BadInputError, match="free name"):
        ran("export", path, "--output", tmp_path / "all")
    with pytest.raises(BadInputError, match="instant"):
        ran("export", path, "--from", "yesterday")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadInputError, match="nobody altered"):
        ran("export", path)


def test_a_second_party_follows_the_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """It signs a checkpoint only if that grew from the one it signed before."""
    path = kept(tmp_path)
    new_key(tmp_path / "witness")
    first, second = tmp_path / "first", tmp_path / "second"
    ran("checkpoint", path, "--output", first)
    grown(path)
    ran("checkpoint", path, "--output", second, "--since", first)
    signing = ("countersign", second, "--key", tmp_path / "witness", "--previous", first)

    assert ran(*signing) == 1
    assert "needs --growth" in capsys.readouterr().err
    assert ran(*signing, "--growth", tmp_path / "second.growth") == 0
    (one,) = read_checkpoint(second).countersignatures
    assert read_checkpoint(second).is_countersigned(one, verify_signature)


def test_keys_are_made_shown_and_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The successor is made where it is missing; the secret is never shown."""
    path = kept(tmp_path)
    ran("key", "new", tmp_path / "spare", "--json")
    made = json.loads(capsys.readouterr().out)
    ran("key", "show", tmp_path / "spare.pub", "--json")
    assert json.loads(capsys.readouterr().out) == made
    ran("key", "show", tmp_path / "spare")
    said = capsys.readouterr().out
    assert made["fingerprint"] in said
    assert (tmp_path / "spare").read_text().splitlines()[1] not in said

    ran("key", "rotate", path, "--key", tmp_path / "key", "--new-key", tmp_path / "second")

    assert stat.S_IMODE((tmp_path / "second").stat().st_mode) == 0o600
    capsys.readouterr()
    assert ran("verify", path, "--public-key", tmp_path / "key.pub", "--thorough") == 0
    assert "The key changed hands in order" in capsys.readouterr().out
    with pytest.raises(BadInputError, match="a ledger"):
        ran("key", "rotate", tmp_path / "no", "--key", tmp_path / "key", "--new-key", tmp_path / "second")


def test_samples_of_a_recording_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A ledger without samples vouches for none of them."""
    dataset = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"

    assert ran("verify", kept(tmp_path), "--recording", dataset, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == {"n_alike": 0, "n_elsewhere": 0, "altered": []}
