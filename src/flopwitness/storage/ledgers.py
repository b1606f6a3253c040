"""A ledger's bytes: lines appended in groups, on disk before they are acknowledged; and the head beside it.

What the lines mean is not known here. One writer at a time holds the file.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path
from types import TracebackType
from typing import Self

from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import (
    read_bytes,
    reason,
    refuse_taken,
    write_atomically,
)

HEAD_SUFFIX = ".head"
BUFFER_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 24
"""No entry is longer (16 MB): a file that has a longer line is no ledger, and is not read at once."""


class LedgerFile:
    """Appends groups of lines to a file that exists; holds it against other writers.

    Parameters
    ----------
    path : Path
        The ledger.

    Attributes
    ----------
    size_bytes : int
        Its length, as far as it was acknowledged.

    Raises
    ------
    BadInputError
        When there is no such file, it cannot be written, or another writer has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise BadInputError(str(path), "", expected="a ledger to append to", got=reason(error)) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            got = "another writer at work" if isinstance(error, BlockingIOError) else reason(error)
            raise BadInputError(str(path), "", expected="a ledger that nobody writes to", got=got) from error
        head = head_path(self.path)
        for leftover in head.parent.glob(f".{escape(head.name)}.*.tmp"):
            leftover.unlink(missing_ok=True)  # of a writer that was killed: we hold its lock now
        self.size_bytes = os.fstat(self._file).st_size
        self._is_broken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, lines: Sequence[bytes]) -> None:
        """Force lines to disk together; each gets its newline.

        Raises
        ------
        BadInputError
            When the disk is full or gone: nothing of the lines stays, and nothing is taken any more, since
            after a failed ``fsync`` nobody knows what is on disk (Rebello et al., USENIX ATC 2020). Also when
            the file was moved, or another process wrote to it.
        """
        self._require_ours()
        data = b"".join(line + b"\n" for line in lines)
        n_bytes = len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            self._is_broken = True
            with suppress(OSError):  # a disk that is gone; what is left is dropped when the ledger is opened
                os.ftruncate(self._file, self.size_bytes)
            raise BadInputError(
                str(self.path), "", expected="room for an entry", got=reason(error)
            ) from error
        self.size_bytes += n_bytes

    def cut(self, size_bytes: int) -> None:
        """Drop what stands after the first so many bytes; ``BadInputError`` where the disk will not."""
        try:
            os.ftruncate(self._file, size_bytes)
            os.fsync(self._file)
        except OSError as error:
            raise BadInputError(
                str(self.path), "", expected="a file that can be cut", got=reason(error)
            ) from error
        self.size_bytes = size_bytes

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _require_ours(self) -> None:
        """Refuse to write where a reader would not look, or after what we did not write."""
        if self._is_broken or self._file < 0:
            raise BadInputError(
                str(self.path), "", expected="a ledger that can be written", got="one that was given up"
            )
        try:
            named, held = self.path.lstat(), os.fstat(self._file)
        except OSError as error:
            raise BadInputError(
                str(self.path), "", expected="the ledger in its place", got=reason(error)
            ) from error
        if (named.st_ino, named.st_dev) != (held.st_ino, held.st_dev):
            raise BadInputError(str(self.path), "", expected="the ledger in its place", got="another file")
        if held.st_size != self.size_bytes:
            got = f"{held.st_size}: somebody else wrote to it"
            raise BadInputError(str(self.path), "", expected=f"{self.size_bytes} bytes", got=got)


def create_ledger(path: Path, lines: Sequence[bytes], *, head: bytes) -> None:
    """Make a new ledger with its first lines, whole or not at all, then its head file.

    Raises
    ------
    BadInputError
        When the name is taken, or a head without its ledger is there: a ledger was moved or deleted.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(str(path), "", expected="a folder to write to", got=reason(error)) from error
    refuse_taken(path)
    refuse_taken(head_path(path))
    data = b"".join(line + b"\n" for line in lines)
    write_atomically(path, lambda out: out.write(data))
    write_head(path, head)


def iter_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file with their newlines; the last may lack it.

    Raises
    ------
    BadInputError
        When it cannot be read.
    """
    try:
        with Path(path).open("rb", buffering=BUFFER_BYTES) as file:
            while line := file.readline(MAX_LINE_BYTES):
                yield line
    except OSError as error:
        raise BadInputError(str(path), "", expected="a ledger that can be read", got=reason(error)) from error


def head_path(path: Path) -> Path:
    """Return where the head of a ledger lies."""
    return Path(path).with_name(Path(path).name + HEAD_SUFFIX)


def read_head(path: Path) -> bytes | None:
    """Return what the head file beside a ledger holds; None where there is none."""
    found = head_path(path)
    return read_bytes(found) if os.path.lexists(found) else None


def write_head(path: Path, head: bytes) -> None:
    """Force a new head to disk in place of the old one; ``BadInputError`` where the disk will not."""
    write_atomically(head_path(path), lambda out: out.write(head), replace=True)
