"""What a daemon has to know of the ledger that it goes on with, whoever else wrote to it."""

from pathlib import Path

from flopwitness.app.ledgering import sound_entries
from flopwitness.app.ledgering_past import LedgerPast
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.storage.keys import new_key
from flopwitness.verify.ledger.entries import EntryKind


def test_what_others_write_between_does_not_hide_a_clean_stop(tmp_path: Path):
    """A verdict or a new key after a stop is no daemon's end."""
    with LedgerWriter.open(tmp_path / "ledger", new_key(tmp_path / "key")) as writer:
        writer.commit([(EntryKind.STOP, {"reason": "ended", "n_sessions": 0, "samples": []})])
        writer.commit([(EntryKind.VERDICT, {"answer": "below"})])
        writer.rotate(new_key(tmp_path / "next"))

    latest = LedgerPast.of(sound_entries(tmp_path / "ledger")).latest

    assert latest is not None
    assert latest.kind is EntryKind.STOP


def test_the_first_entry_of_a_ledger_is_the_latest_of_a_new_one(tmp_path: Path):
    """No daemon was there before."""
    with LedgerWriter.open(tmp_path / "ledger", new_key(tmp_path / "key")):
        pass

    latest = LedgerPast.of(sound_entries(tmp_path / "ledger")).latest

    assert latest is not None
    assert latest.kind is EntryKind.GENESIS
