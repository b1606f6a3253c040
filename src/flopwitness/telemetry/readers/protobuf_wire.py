"""Fields of a protocol buffer without its schema, every length checked.

Source: protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
FIXED_BYTES = {FIXED64: 8, FIXED32: 4}
LONGEST_VARINT = 10


def fields_of(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield number and content of each field: an integer, or bytes.

    Raises
    ------
    ValueError
        When the bytes are no message.

    Examples
    --------
    >>> list(fields_of(b"\x08\x96\x01\x12\x02hi"))
    [(1, 150), (2, b'hi')]
    """
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == LENGTH:
            length, place = _varint(message, place)
        elif kind in FIXED_BYTES:
            length = FIXED_BYTES[kind]
        else:
            raise ValueError(f"a field of kind {kind}")
        if length > len(message) - place:
            raise ValueError("a field that is longer than its message")
        yield number, message[place : place + length]
        place += length


def children(message: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the contents of the fields of one number that are bytes."""
    for number, value in fields_of(message):
        if number == wanted and isinstance(value, bytes):
            yield value


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for step in range(LONGEST_VARINT):
        if place + step >= len(message):
            break
        byte = message[place + step]
        value |= (byte & 0x7F) << (7 * step)
        if byte < 0x80:
            return value, place + step + 1
    raise ValueError("a number without an end")
