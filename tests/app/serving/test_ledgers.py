"""How a ledger stands comes from the head beside it, and is read anew where that changed."""

from pathlib import Path

from flopwitness.app.ledgering import head_of
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.app.serving.ledgers import ledger_state
from flopwitness.storage.keys import new_key
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.entries import EntryKind


def test_entries_and_head_follow_the_ledger(tmp_path: Path):
    """Each group that is signed moves both."""
    path, signer = tmp_path / "ledger", new_key(tmp_path / "key")
    state = ledger_state(path)

    with LedgerWriter.open(path, signer) as writer:
        before = state()
        writer.commit([(EntryKind.SESSION, {"number": 1})])
        after, size = state(), writer.size

    head = head_of(path)
    assert before is not None
    assert after is not None
    assert head is not None
    assert (before.n_entries, after.n_entries) == (2, size)
    assert (after.path, after.head_sha256) == (str(path), head.head)


def test_where_there_is_no_ledger_yet_nothing_is_said(tmp_path: Path):
    """None, no error."""
    assert ledger_state(tmp_path / "ledger")() is None


def test_a_head_that_cannot_be_read_leaves_what_was_known(tmp_path: Path):
    """The page is no place to fail for it; the writer does."""
    path, signer = tmp_path / "ledger", new_key(tmp_path / "key")
    LedgerWriter.open(path, signer).close()
    state = ledger_state(path)
    known = state()

    head_path(path).write_text("{")

    assert state() == known
