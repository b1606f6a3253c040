"""The bytes of a file from outside: read once, hashed as they lie, unpacked as far as they go."""

import hashlib
import os
import stat
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flopwitness.core.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"
"""First two bytes of a gzip member (RFC 1952, section 2.3.1)."""

GZIP_WINDOW_BITS = 31
"""zlib's largest window, plus 16 for a gzip header and trailer (zlib manual, ``inflateInit2``)."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a file held.

    Attributes
    ----------
    path : str
        Where it lay, for messages.
    data : bytes
        Its content, unpacked; not empty.
    sha256 : str
        SHA-256 of the bytes as they lay, 64 hex digits.
    is_cut : bool
        True where a gzip stream ends before its trailer, as a killed recorder leaves it.
    """

    path: str
    data: bytes
    sha256: str
    is_cut: bool


def read_source(path: "Path") -> Source:
    """Read a plain or gzip file whole; gzip is known by its first bytes, not by its name.

    Raises
    ------
    BadInputError
        When there is no such file, it is a directory or another thing that never ends, it may not be
        read, it is empty, or its gzip stream is damaged before its end.
    """
    raw = _read(path)
    data, is_cut = _unpacked(path, raw) if raw.startswith(GZIP_MAGIC) else (raw, False)
    if not data.strip():
        raise BadInputError(str(path), "", expected="text", got="an empty file")
    return Source(str(path), data, hashlib.sha256(raw).hexdigest(), is_cut)


def _read(path: "Path") -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # /dev/zero has no end
            raise BadInputError(str(path), "", expected="a file", got="a device")
        return path.read_bytes()
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise BadInputError(str(path), "", expected="a file that can be read", got=reason) from error


def _unpacked(path: "Path", raw: bytes) -> tuple[bytes, bool]:
    members: list[bytes] = []
    rest = raw
    while rest:
        stream = zlib.decompressobj(wbits=GZIP_WINDOW_BITS)
        try:
            members.append(stream.decompress(rest))
        except zlib.error as error:
            raise BadInputError(str(path), "", expected="an intact gzip stream", got=str(error)) from error
        if not stream.eof:
            return b"".join(members), True
        rest = stream.unused_data.lstrip(b"\0")  # RFC 1952 readers skip zero padding
    return b"".join(members), False
