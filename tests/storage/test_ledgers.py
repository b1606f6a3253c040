"""Groups of lines are on disk when they are acknowledged; one writer holds the file."""

import subprocess
import sys
from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.storage.ledgers import (
    LedgerFile,
    create_ledger,
    head_path,
    iter_lines,
    read_head,
    write_head,
)
from tiny_disk import tiny_disk

HOLDER = """
import sys
from pathlib import Path
from flopwitness.storage.ledgers import LedgerFile
try:
    LedgerFile(Path(sys.argv[1]))
except Exception as error:
    print(error)
"""


def made(folder: Path) -> Path:
    """Return a ledger of two lines."""
    path = folder / "ledger"
    create_ledger(path, [b"one", b"two"], head=b"head")
    return path


def test_groups_follow_each_other(tmp_path: Path):
    """A line each; the head lies beside."""
    path = made(tmp_path)
    with LedgerFile(path) as file:
        file.append([b"three", b"four"])
        file.append([b"five"])

    assert list(iter_lines(path)) == [b"one\n", b"two\n", b"three\n", b"four\n", b"five\n"]
    assert read_head(path) == b"head"


def test_a_head_is_replaced_whole(tmp_path: Path):
    """There is always one, the old or the new."""
    path = made(tmp_path)
    write_head(path, b"new")

    assert read_head(path) == b"new"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ledger", "ledger.head"]
    assert read_head(tmp_path / "other") is None


def test_what_a_killed_writer_left_of_a_head_is_removed(tmp_path: Path):
    """By the next writer, which holds the lock; nothing else is touched."""
    path = made(tmp_path)
    for name in (".ledger.head.0123.tmp", ".other.head.0123.tmp"):
        (tmp_path / name).write_text("half")

    LedgerFile(path).close()

    assert sorted(one.name for one in tmp_path.iterdir()) == [".other.head.0123.tmp", "ledger", "ledger.head"]


def test_another_process_cannot_write(tmp_path: Path):
    """Two writers would tell two stories."""
    path = made(tmp_path)
    with LedgerFile(path):
        command = [sys.executable, "-c", HOLDER, str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "another writer at work" in said


def test_a_closed_file_is_free(tmp_path: Path):
    """Closing twice does no harm; what is closed takes nothing."""
    path = made(tmp_path)
    file = LedgerFile(path)
    file.close()
    file.close()

    with LedgerFile(path):
        pass
    with pytest.raises(BadInputError, match="given up"):
        file.append([b"x"])


def test_a_ledger_that_was_moved_takes_no_more(tmp_path: Path):
    """What is written into a file without a name would be lost."""
    path = made(tmp_path)
    with LedgerFile(path) as file:
        path.rename(tmp_path / "elsewhere")
        with pytest.raises(BadInputError, match="in its place"):
            file.append([b"x"])
        path.write_bytes(b"another")
        with pytest.raises(BadInputError, match="another file"):
            file.append([b"x"])


def test_what_somebody_else_wrote_is_noticed(tmp_path: Path):
    """A lock binds only those who ask for it."""
    path = made(tmp_path)
    with LedgerFile(path) as file:
        with path.open("ab") as other:
            other.write(b"forged\n")
        with pytest.raises(BadInputError, match="somebody else"):
            file.append([b"x"])


def test_nothing_is_made_where_something_is(tmp_path: Path):
    """Neither over a ledger nor over a head whose ledger is gone."""
    path = made(tmp_path)

    with pytest.raises(BadInputError, match="free name"):
        create_ledger(path, [b"x"], head=b"y")
    path.unlink()
    with pytest.raises(BadInputError, match=r"ledger\.head: expected a free name"):
        create_ledger(path, [b"x"], head=b"y")
    assert head_path(path).read_bytes() == b"head"


def test_a_file_is_cut(tmp_path: Path):
    """An unfinished group is dropped; what follows is appended there."""
    path = made(tmp_path)
    with LedgerFile(path) as file:
        file.cut(4)
        file.append([b"x"])

    assert path.read_bytes() == b"one\nx\n"


def test_there_must_be_a_file(tmp_path: Path):
    """Opening makes none; a link is none."""
    with pytest.raises(BadInputError, match="no such file"):
        LedgerFile(tmp_path / "ledger")
    (tmp_path / "link").symlink_to(made(tmp_path))
    with pytest.raises(BadInputError):
        LedgerFile(tmp_path / "link")
    with pytest.raises(BadInputError, match="can be read"):
        list(iter_lines(tmp_path))


def fill(file: LedgerFile) -> None:
    """Append until there is no room."""
    for _ in range(1000):
        file.append([b"x" * 1000] * 3)


def test_a_full_disk_leaves_no_part_of_a_group(tmp_path: Path):
    """The group that does not fit is refused, and gone; nothing more is taken."""
    with tiny_disk(tmp_path / "tiny", size="64k") as disk:
        path = made(disk)
        with LedgerFile(path) as file:
            with pytest.raises(BadInputError, match="no space left"):
                fill(file)
            with pytest.raises(BadInputError, match="given up"):
                file.append([b"x"])

        lines = list(iter_lines(path))
        assert len(lines) > 5
        assert len(lines) % 3 == 2
        assert path.stat().st_size == len(b"".join(lines))
