"""Records of a LevelDB log: blocks of 32 KiB, records in fragments, each with a checksum.

A fragment is four bytes of checksum, two of length and one of kind (1 whole, 2 first, 3 middle, 4 last),
then its data. What is left of a block that cannot hold a fragment's head is padding. Source: LevelDB,
``doc/log_format.md``; Weights & Biases keeps its runs so, with a plain CRC-32 over kind and data.
"""

import zlib
from collections.abc import Callable, Iterator
from struct import Struct

BLOCK_BYTES = 32_768
FRAGMENT = Struct("<IHB")
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4

Loss = Callable[[str], None]


def log_records(data: bytes, start: int, lost: Loss) -> Iterator[bytes]:
    """Yield the records of a log that are whole.

    Parameters
    ----------
    data : bytes
        The file.
    start : int
        Bytes of the file's own head, which count into the first block.
    lost : callable
        Takes the reason of each fragment that cannot be used.

    Examples
    --------
    >>> record = b"abc"
    >>> log = FRAGMENT.pack(zlib.crc32(record, zlib.crc32(bytes([WHOLE]))), len(record), WHOLE) + record
    >>> list(log_records(log, 0, print))
    [b'abc']
    """
    begun: list[bytes] | None = None
    for kind, content in _fragments(data, start, lost):
        if kind in (WHOLE, FIRST):
            if begun is not None:
                lost("record without an end")
            begun = None if kind == WHOLE else [content]
            if kind == WHOLE:
                yield content
        elif begun is None:
            lost("fragment without a beginning")
        else:
            begun.append(content)
            if kind == LAST:
                yield b"".join(begun)
                begun = None
    if begun is not None:
        lost("record without an end")


def _fragments(data: bytes, start: int, lost: Loss) -> Iterator[tuple[int, bytes]]:
    place = start
    while place < len(data):
        block_stop = min((place // BLOCK_BYTES + 1) * BLOCK_BYTES, len(data))
        if block_stop - place < FRAGMENT.size:
            if any(data[place:block_stop]):
                lost("fragment that is cut")
            place = block_stop
            continue
        checksum, length, kind = FRAGMENT.unpack_from(data, place)
        begin = place + FRAGMENT.size
        if not (kind or length or checksum):  # padding
            place = block_stop
            continue
        if kind not in (WHOLE, FIRST, MIDDLE, LAST) or length > block_stop - begin:
            lost("fragment that is cut or damaged")
            place = block_stop  # the next block begins with a fragment again
            continue
        content = data[begin : begin + length]
        place = begin + length
        if zlib.crc32(content, zlib.crc32(bytes([kind]))) != checksum:
            lost("fragment whose checksum is wrong")
            continue
        yield kind, content
