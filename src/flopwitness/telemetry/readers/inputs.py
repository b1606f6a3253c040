"""The bytes of a file from outside, in blocks of whole lines: a file larger than memory can be read.

Plain or gzip, known by its first bytes. Text is UTF-8; UTF-16 is known by its byte-order mark, which
PowerShell's redirection writes.
"""

import codecs
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.source import GZIP_MAGIC, GZIP_WINDOW_BITS

BLOCK_BYTES = 32 * 1024 * 1024
"""A file up to this size is one block, so its rows are put in order whatever their disorder."""

HEAD_BYTES = 64 * 1024
"""How much of a file is looked at to recognise its format."""

MOST_WHOLE_BYTES = 256 * 1024 * 1024
"""The largest file of a format that can only be read whole (JSON, XML), unpacked."""

LONGEST_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is no text table."""

CHUNK_BYTES = 4 * 1024 * 1024
"""Read from the disk at once, at most; less where blocks are smaller."""

LEAST_CHUNK_BYTES = 64
"""Enough for the marks at the start of a file."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file.

    Attributes
    ----------
    data : bytes
        Whole lines, UTF-8, each ended by a line feed (also the last one of the file).
    first_line : int
        Number of the first line, from 1.
    is_cut : bool
        Whether the file ended without a line end: nobody can say whether the last cell is whole.
    """

    data: bytes
    first_line: int
    is_cut: bool = False

    @property
    def text(self) -> str:
        """The lines as text; bytes that are no UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", errors="replace")


@dataclass
class Input:
    """A file, opened anew for each pass.

    Parameters
    ----------
    path : str
        Where it lies, for messages.
    opener : callable
        Opens its raw bytes.
    block_bytes : int
        About how large a block may get, > 0.

    Attributes
    ----------
    sha256 : str
        SHA-256 of the raw bytes, 64 hex digits; empty until a pass came to the end.
    is_gzip_cut : bool
        True once a pass found a gzip stream without its end, as a killed recorder leaves it.
    """

    path: str
    opener: Callable[[], IO[bytes]]
    block_bytes: int = BLOCK_BYTES
    sha256: str = field(default="", init=False)
    is_gzip_cut: bool = field(default=False, init=False)

    @classmethod
    def of(cls, path: Path) -> "Input":
        """Return a file on disk; refuses folders and devices at once.

        Raises
        ------
        BadInputError
            When there is no such file, or it is none.
        """
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise BadInputError(
                str(path), "", expected="a file that can be read", got=_reason(error)
            ) from None
        if not stat.S_ISREG(mode):  # a pipe cannot be read twice, /dev/zero has no end
            got = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
            raise BadInputError(str(path), "", expected="a file", got=got)
        return cls(str(path), lambda: path.open("rb"))

    @classmethod
    def of_bytes(cls, data: bytes, path: str = "memory") -> "Input":
        """Return bytes in memory as a file."""
        return cls(path, lambda: io.BytesIO(data))

    @property
    def name(self) -> str:
        """File name without its endings."""
        return Path(self.path).name.split(".")[0] or "recording"

    def head(self) -> bytes:
        """Return the first ``HEAD_BYTES``, unpacked, UTF-8 where the file is UTF-16."""
        found = b""
        for chunk in self._unpacked():
            found += chunk
            if len(found) >= HEAD_BYTES:
                break
        return _as_utf8(found[:HEAD_BYTES])

    def raw(self) -> bytes:
        """Return the whole file, unpacked, byte for byte.

        Raises
        ------
        BadInputError
            When it is larger than ``MOST_WHOLE_BYTES``, or cannot be read.
        """
        parts: list[bytes] = []
        size = 0
        for chunk in self._unpacked():
            size += len(chunk)
            if size > MOST_WHOLE_BYTES:
                most = f"at most {MOST_WHOLE_BYTES:,} bytes of a format that is read whole"
                raise BadInputError(self.path, "", expected=most, got="more")
            parts.append(chunk)
        return b"".join(parts)

    def whole(self) -> Block:
        """Return the whole file as one block of UTF-8 lines; errors are those of ``raw``."""
        data = _as_utf8(self.raw())
        is_cut = not data.endswith(b"\n")
        return Block(data + b"\n" if is_cut else data, 1, is_cut=is_cut)

    def blocks(self) -> Iterator[Block]:
        """Yield the file block by block.

        Raises
        ------
        BadInputError
            When it cannot be read, a line has no end, or a gzip stream is damaged before its end.
        """
        first_line, waiting = 1, b""
        for batch in self._batches():
            waiting += batch
            end = waiting.rfind(b"\n") + 1
            if not end and len(waiting) > LONGEST_LINE_BYTES:
                raise BadInputError(
                    self.path, f"line {first_line}", expected="lines of text", got="a line without end"
                )
            if end and len(waiting) >= self.block_bytes:
                yield Block(waiting[:end], first_line)
                first_line += waiting.count(b"\n", 0, end)
                waiting = waiting[end:]
        if waiting:
            is_cut = not waiting.endswith(b"\n")
            yield Block(waiting + b"\n" if is_cut else waiting, first_line, is_cut=is_cut)

    def _batches(self) -> Iterator[bytes]:
        """Yield the file as UTF-8 in parts of about a block; only the last may be much smaller."""
        parts: list[bytes] = []
        decode = None
        for chunk in self._unpacked():
            if decode is None:  # the mark is in the first bytes
                first, decode = _decoding(chunk)
                parts.append(first)
            else:
                parts.append(decode(chunk))
            if sum(map(len, parts)) >= self.block_bytes:
                yield b"".join(parts)
                parts = []
        if parts:
            yield b"".join(parts)

    def _unpacked(self) -> Iterator[bytes]:
        state, self.is_gzip_cut = hashlib.sha256(), False
        try:
            with self.opener() as file:
                first = file.read(self._chunk_bytes)
                chunks = self._chunks(first, file, state.update)
                yield from self._inflated(chunks) if first.startswith(GZIP_MAGIC) else chunks
        except OSError as error:
            raise BadInputError(
                self.path, "", expected="a file that can be read", got=_reason(error)
            ) from None
        self.sha256 = state.hexdigest()

    @property
    def _chunk_bytes(self) -> int:
        return min(CHUNK_BYTES, max(self.block_bytes, LEAST_CHUNK_BYTES))

    def _chunks(self, first: bytes, file: IO[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
        chunk = first
        while chunk:
            update(chunk)
            yield chunk
            chunk = file.read(self._chunk_bytes)

    def _inflated(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        stream, is_begun = zlib.decompressobj(wbits=GZIP_WINDOW_BITS), False
        for chunk in chunks:
            rest = chunk
            while rest:
                if stream.eof:
                    stream, is_begun = zlib.decompressobj(wbits=GZIP_WINDOW_BITS), False
                if not is_begun:  # another member, or zero padding (RFC 1952 readers skip it)
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                try:
                    yield stream.decompress(rest, self._chunk_bytes)
                except zlib.error as error:
                    raise BadInputError(
                        self.path, "", expected="an intact gzip stream", got=str(error)
                    ) from None
                is_begun = True
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        self.is_gzip_cut = is_begun and not stream.eof
        if self.is_gzip_cut:
            yield stream.flush()  # a limit on what comes out may leave a little inside


def _as_utf8(data: bytes) -> bytes:
    text, _ = _decoding(data)
    return text


def _decoding(data: bytes) -> tuple[bytes, Callable[[bytes], bytes]]:
    """Return the first bytes as UTF-8 without their mark, and what does the same to those that follow."""
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            decode = codecs.getincrementaldecoder(name)(errors="replace").decode
            return decode(data[2:]).encode(), partial(_recoded, decode)
    return data.removeprefix(codecs.BOM_UTF8), lambda more: more


def _recoded(decode: Callable[[bytes], str], more: bytes) -> bytes:
    return decode(more).encode()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)
