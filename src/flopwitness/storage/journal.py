"""A journal: one JSON object a line, on disk before it is acknowledged; a half line is no line."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import reason, sync_folder
from flopwitness.storage.documents import to_json

BLOCK_BYTES = 65536


class Journal:
    """Appends objects to a file and remembers the value of one key, so that nothing is written twice.

    Opening it drops a half line at the end, which a killed writer leaves.

    Parameters
    ----------
    path : Path
        The file; made with its folder where missing.
    key : str
        Field that tells lines apart.

    Raises
    ------
    BadInputError
        When the file cannot be written, or holds a whole line that is no object with the key.
    """

    def __init__(self, path: Path, *, key: str = "session_id") -> None:
        self.path = Path(path)
        self._key = key
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._size = _whole_lines(self._file)
            os.ftruncate(self._file, self._size)
            sync_folder(self.path.parent)
        except OSError as error:
            raise BadInputError(
                str(path), "", expected="a journal to append to", got=reason(error)
            ) from error
        self._known = {line[key] for line in self.entries()}

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield what the file holds, a line at a time: one of years need not fit into memory."""
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    yield self._parsed(line, number)
        except OSError as error:
            raise BadInputError(
                str(self.path), "", expected="a file that can be read", got=reason(error)
            ) from error

    def append(self, entry: Mapping[str, Any]) -> bool:
        """Force an object to disk; return False, and write nothing, where its key is there already.

        Raises
        ------
        BadInputError
            When the disk is full or gone; nothing of the line stays.
        """
        if entry[self._key] in self._known:
            return False
        data = to_json(entry, source=str(self.path))
        try:
            _write_all(self._file, data)
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):  # a disk that is gone; what is left of the line goes at the next start
                os.ftruncate(self._file, self._size)
            raise BadInputError(str(self.path), "", expected="room for a line", got=reason(error)) from error
        self._size += len(data)
        self._known.add(entry[self._key])
        return True

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            entry[self._key]
        except (ValueError, TypeError, KeyError) as error:
            expected = f"an object with {self._key!r}"
            got = f"{type(error).__name__}: {error}"
            raise BadInputError(str(self.path), f"line {number}", expected=expected, got=got) from error
        found: dict[str, Any] = entry
        return found


def _whole_lines(file: int) -> int:
    """Return how many bytes end with the last whole line; read backwards, a block at a time."""
    stop = os.fstat(file).st_size
    while stop:
        start = max(stop - BLOCK_BYTES, 0)
        newline = os.pread(file, stop - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        stop = start
    return 0


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
