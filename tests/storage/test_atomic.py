"""Whole files or none."""

import errno
from pathlib import Path
from typing import BinaryIO

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import _publish, write_atomically


def test_a_failure_while_writing_leaves_nothing(tmp_path: Path):
    """Half a file gets no name, and its remains are cleared away."""

    def fail(out: BinaryIO) -> None:
        out.write(b"half")
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(BadInputError, match="no space left"):
        write_atomically(tmp_path / "x", fail)

    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_replacing_keeps_the_old_file(tmp_path: Path):
    """The old content goes only when the new one is whole."""
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(out: BinaryIO) -> None:
        out.write(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_atomically(path, fail, replace=True)

    assert path.read_bytes() == b"old"
    assert [path] == list(tmp_path.iterdir())


def test_of_two_writers_one_wins(tmp_path: Path):
    """A name that is taken while the work is done is refused at the end."""
    path = tmp_path / "x"

    def slow(out: BinaryIO) -> None:
        path.write_bytes(b"first")
        out.write(b"second")

    with pytest.raises(BadInputError, match="file exists"):
        write_atomically(path, slow)

    assert path.read_bytes() == b"first"


def test_a_dangling_link_is_not_written_through(tmp_path: Path):
    """A link that points nowhere is a taken name too."""
    path = tmp_path / "x"
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(BadInputError, match="free name"):
        write_atomically(path, lambda out: out.write(b"new"))

    assert not (tmp_path / "elsewhere").exists()


def no_links(_source: Path, _target: Path) -> None:
    """Stand in for a file system without hard links."""
    raise OSError(errno.EPERM, "no hard links here")


def test_a_file_system_without_links_still_refuses_a_taken_name(tmp_path: Path):
    """Where links are not offered the name is looked up once more, then renamed to."""
    temporary, path = tmp_path / "t", tmp_path / "x"
    temporary.write_bytes(b"new")

    _publish(temporary, path, replace=False, link=no_links)
    assert path.read_bytes() == b"new"

    temporary.write_bytes(b"newer")
    with pytest.raises(BadInputError, match="free name"):
        _publish(temporary, path, replace=False, link=no_links)
    assert path.read_bytes() == b"new"
