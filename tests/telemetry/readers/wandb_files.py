"""Writes run files of W&B for tests: records of a protocol buffer in a LevelDB log."""

import json
import zlib
from collections.abc import Mapping, Sequence

from flopwitness.telemetry.readers.log_blocks import BLOCK_BYTES, FIRST, FRAGMENT, LAST, MIDDLE, WHOLE

HEAD = b":W&B\xe1\xbe\x00"


def varint(value: int) -> bytes:
    """Return an integer in as many bytes as it needs."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, content: bytes | int) -> bytes:
    """Return a field of a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def stats_record(seconds: int, nanoseconds: int, metrics: Mapping[str, object]) -> bytes:
    """Return a record of system metrics."""
    items = b"".join(
        field(3, field(1, key.encode()) + field(16, json.dumps(value).encode()))
        for key, value in metrics.items()
    )
    instant = field(1, seconds) + field(2, nanoseconds)
    return field(1, 1) + field(7, field(1, 0) + field(2, instant) + items)


def history_record() -> bytes:
    """Return a record of what a run logged."""
    return field(2, field(1, field(1, b"loss") + field(16, b"1.5")))


def run_file(records: Sequence[bytes]) -> bytes:
    """Return a file of records, in fragments where a block ends."""
    data = bytearray(HEAD)
    for record in records:
        rest, is_first = record, True
        while is_first or rest:
            room = BLOCK_BYTES - len(data) % BLOCK_BYTES
            if room < FRAGMENT.size:
                data += bytes(room)
                continue
            part, rest = rest[: room - FRAGMENT.size], rest[room - FRAGMENT.size :]
            kind = (WHOLE if not rest else FIRST) if is_first else (MIDDLE if rest else LAST)
            checksum = zlib.crc32(part, zlib.crc32(bytes([kind])))
            data += FRAGMENT.pack(checksum, len(part), kind) + part
            is_first = False
    return bytes(data)
