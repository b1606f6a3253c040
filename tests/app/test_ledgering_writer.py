"""After any kill a ledger holds all that was acknowledged; an unfinished end is dropped, damage refused."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.app.ledgering import checked_ledger, head_of, read_entries
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.storage.keys import FileSigner, new_key, read_signer
from flopwitness.storage.ledgers import head_path
from flopwitness.verify.ledger.entries import EntryKind
from tiny_disk import tiny_disk

WRITER = """
import sys
from pathlib import Path
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.storage.keys import read_signer
from flopwitness.verify.ledger.entries import EntryKind
path, number = Path(sys.argv[1]), int(sys.argv[2])
with LedgerWriter.open(path, read_signer(path.with_name("key"))) as writer:
    while True:
        group = range(number, number + 1 + number % 50)
        writer.commit([(EntryKind.SESSION, {"number": one, "filling": "x" * 3000}) for one in group])
        number = group.stop
        print(number, flush=True)
"""


def begun(folder: Path) -> tuple[Path, FileSigner]:
    """Return the place of a ledger, and its key."""
    return folder / "ledger", new_key(folder / "key")


def wrote(path: Path, signer: FileSigner, *sizes: int) -> None:
    """Append groups of numbered sessions."""
    with LedgerWriter.open(path, signer) as writer:
        number = len(numbers(path))
        for size in sizes:
            writer.commit([(EntryKind.SESSION, {"number": number + at}) for at in range(size)])
            number += size


def numbers(path: Path) -> list[int]:
    """Return the numbered sessions of a ledger."""
    return [entry.body["number"] for entry in read_entries(path) if entry.kind is EntryKind.SESSION]


def test_a_ledger_goes_on_where_it_stopped(tmp_path: Path):
    """Sound after each opening; its head is its last checkpoint."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 1, 3)
    wrote(path, signer, 2)

    check = checked_ledger(path, thorough=True)

    assert check.faults == ()
    assert numbers(path) == list(range(6))
    assert check.head == check.audit.last == head_of(path)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_an_unfinished_group_is_dropped(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    """Wherever a kill cut the writing of a group: what was acknowledged is there, and no more."""
    path, signer = begun(tmp_path_factory.mktemp("ledger"))
    wrote(path, signer, 2)
    known, head = path.read_bytes(), head_path(path).read_bytes()
    wrote(path, signer, 3)
    size = data.draw(st.integers(len(known), path.stat().st_size - 1))
    path.write_bytes(path.read_bytes()[:size])
    head_path(path).write_bytes(head)

    with LedgerWriter.open(path, signer) as writer:
        assert writer.n_dropped_bytes == size - len(known)

    assert path.read_bytes() == known
    wrote(path, signer, 1)
    assert (numbers(path), checked_ledger(path).faults) == ([0, 1, 2], ())


def test_a_group_that_is_whole_is_kept(tmp_path: Path):
    """A kill between the group and its head: nobody was told, but nothing speaks against it."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 2)
    head = head_path(path).read_bytes()
    wrote(path, signer, 3)
    newest = head_path(path).read_bytes()
    head_path(path).write_bytes(head)

    with LedgerWriter.open(path, signer) as writer:
        assert writer.n_dropped_bytes == 0

    assert head_path(path).read_bytes() == newest
    assert numbers(path) == [0, 1, 2, 3, 4]


def test_garbage_at_the_end_of_an_unfinished_group_is_dropped(tmp_path: Path):
    """A power cut may leave anything where the group was being written."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 2)
    known = path.read_bytes()
    path.write_bytes(known + bytes(5000) + b"\n\xff")

    wrote(path, signer, 1)

    assert path.read_bytes().startswith(known)
    assert checked_ledger(path).faults == ()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_change_in_what_was_acknowledged_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    """Nothing is repaired silently, and nothing appended to it."""
    path, signer = begun(tmp_path_factory.mktemp("ledger"))
    wrote(path, signer, 2, 1)
    changed = bytearray(path.read_bytes())
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)

    with pytest.raises(BadInputError, match="acknowledged"):
        LedgerWriter.open(path, signer)
    assert path.read_bytes() == changed


def test_a_cut_end_is_refused(tmp_path: Path):
    """The file by itself is sound; the head knows better."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 2)
    old = path.read_bytes()
    wrote(path, signer, 1)
    path.write_bytes(old)

    with pytest.raises(BadInputError, match="cut off"):
        LedgerWriter.open(path, signer)


def test_an_old_head_is_refused(tmp_path: Path):
    """Or somebody could have acknowledged groups dropped as unfinished ones."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 2)
    head = head_path(path).read_bytes()
    wrote(path, signer, 1, 1)
    head_path(path).write_bytes(head)

    with pytest.raises(BadInputError, match="the head is an old one"):
        LedgerWriter.open(path, signer)


def test_a_missing_head_or_ledger_is_refused(tmp_path: Path):
    """Neither is made anew: one of the two was taken away."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 2)
    data = head_path(path).read_bytes()
    head_path(path).unlink()
    with pytest.raises(BadInputError, match="head of the ledger"):
        LedgerWriter.open(path, signer)
    head_path(path).write_bytes(data)
    path.unlink()

    with pytest.raises(BadInputError, match="free name"):
        LedgerWriter.open(path, signer)


def test_another_key_is_refused(tmp_path: Path):
    """Before anything is written."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 1)
    before = path.read_bytes()

    with pytest.raises(BadInputError, match="key: expected the ledger's key"):
        LedgerWriter.open(path, new_key(tmp_path / "other"))
    assert path.read_bytes() == before


def test_a_ledger_is_handed_over(tmp_path: Path):
    """The old key opens it no more; the new one goes on, and the whole is sound."""
    path, signer = begun(tmp_path)
    successor = new_key(tmp_path / "second")
    with LedgerWriter.open(path, signer) as writer:
        writer.rotate(successor)
        writer.commit([(EntryKind.SESSION, {"number": 0})])
    wrote(path, successor, 1)

    with pytest.raises(BadInputError, match="the ledger's key"):
        LedgerWriter.open(path, signer)
    check = checked_ledger(path, thorough=True)
    assert check.faults == ()
    assert [span.public_key for span in check.audit.keys] == [signer.public_key, successor.public_key]


def test_a_kill_in_a_handover_leaves_one_key_or_the_other(tmp_path: Path):
    """Cut anywhere, the ledger belongs to exactly one of the two."""
    path, signer = begun(tmp_path)
    wrote(path, signer, 1)
    known, head = path.read_bytes(), head_path(path).read_bytes()
    successor = new_key(tmp_path / "second")
    with LedgerWriter.open(path, signer) as writer:
        writer.rotate(successor)
    whole = path.read_bytes()

    for size in (len(known), len(known) + 1, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:size])
        head_path(path).write_bytes(head)
        wrote(path, successor if size == len(whole) else signer, 1)
        assert checked_ledger(path).faults == ()


def test_a_body_that_cannot_be_written_changes_nothing(tmp_path: Path):
    """The ledger goes on."""
    path, signer = begun(tmp_path)
    with LedgerWriter.open(path, signer) as writer:
        before = path.read_bytes()
        with pytest.raises(InvalidNounError):
            writer.commit([(EntryKind.SESSION, {"x": float("nan")})])
        assert path.read_bytes() == before
        writer.commit([(EntryKind.SESSION, {"number": 0})])

    assert checked_ledger(path).faults == ()


def test_a_full_disk_ends_it_and_loses_nothing(tmp_path: Path):
    """Whether the group or the head did not fit: the ledger opens with all that was acknowledged."""
    with tiny_disk(tmp_path / "tiny", size="64k") as disk:
        path, signer = begun(disk)
        n_known = 0
        with LedgerWriter.open(path, signer) as writer:
            with suppress(BadInputError):
                for number in range(1000):
                    writer.commit([(EntryKind.SESSION, {"number": number, "filling": "x" * 500})])
                    n_known += 1
            with pytest.raises(BadInputError):
                writer.commit([(EntryKind.SESSION, {"number": 0})])
        kept = numbers(path)

        assert 5 < n_known < 1000
        assert kept in (list(range(n_known)), list(range(n_known + 1)))


def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path):
    """SIGKILL at some moments: every number that was told is there, once, in order."""
    path, _ = begun(tmp_path)
    n_kept = 0
    for pause in (0.0, 0.01, 0.05, 0.1):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(n_kept)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        told = [int(line) for line in (said + rest).splitlines(keepends=True) if line.endswith("\n")]
        LedgerWriter.open(path, read_signer(tmp_path / "key")).close()
        n_kept = len(numbers(path))

        assert numbers(path) == list(range(n_kept))
        assert n_kept >= told[-1]
        assert checked_ledger(path).faults == ()
