"""Files that are nearly right: a sample, damaged as writers, editors, disks and attackers damage files.

Every mutation takes bytes and a seeded ``random.Random`` and returns bytes; it never fails.
"""

import codecs
import gzip
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzz.hostile import HOSTILE, MISSING, json_changed
from fuzz.parquet_changes import MAGIC, parquet_changed

ONE_WORD = tuple(token for token in MISSING if token and b" " not in token)

Mutation = Callable[[bytes, random.Random], bytes]

MOST_BYTES = 400_000
"""A mutated input is cut here: speed on large files is another measure."""

CELL = re.compile(rb"[^\s,;|\t=:\"{}\[\]()@/]+")
"""What stands between the marks of any text format: a number, a word, a name."""

NUMBER_CELL = re.compile(rb"(?<![\w.+-])[+-]?\d[\w.+-]*")


@dataclass(frozen=True, slots=True)
class Mutated:
    """A damaged file, and what was done to it."""

    data: bytes
    steps: tuple[str, ...]


def mutated(data: bytes, rng: random.Random, *, others: Sequence[bytes] = ()) -> Mutated:
    """Return a sample damaged in one to four ways.

    Parameters
    ----------
    data : bytes
        The sample.
    rng : random.Random
        Decides everything: the same state gives the same file.
    others : sequence of bytes
        Samples of other formats, whose lines may get mixed in.
    """
    steps: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data, step = _once(data, rng, others)
        steps.append(step)
    if rng.random() < 0.12:
        wrap = rng.choice(WRAPS)
        data = wrap(data, rng)
        steps.append(wrap.__name__.strip("_"))
    return Mutated(data, tuple(steps))


def _once(data: bytes, rng: random.Random, others: Sequence[bytes]) -> tuple[bytes, str]:
    if (
        data.startswith(MAGIC)
        and rng.random() < 0.8
        and (rewritten := parquet_changed(data, rng)) is not None
    ):
        return rewritten, "parquet_changed"
    if others and rng.random() < 0.03:
        return _mixed(data, rng.choice(others), rng), "mixed"
    is_json = data[:1] in {b"{", b"["} and rng.random() < 0.7  # a cell alone mostly breaks a document
    change = _json_changed if is_json else rng.choices(CHANGES, WEIGHTS)[0]
    return change(data, rng)[:MOST_BYTES], change.__name__.strip("_")


def blanked(data: bytes, rng: random.Random) -> bytes:
    """Return a file in which one cell that begins with a digit says that there is no answer."""
    cells = list(NUMBER_CELL.finditer(data))
    if not cells:
        return data
    cell = rng.choice(cells)
    before, after = data[: cell.start()].rstrip(b" ")[-1:], data[cell.end() :].lstrip(b" ")[:1]
    # Nothing in its place must leave an empty cell: else what stands beside or behind it would move up.
    leaves_cell = before in {b",", b";", b"|", b"\t"} and (after in {b"\n", b"\r"} or after in before)
    token = rng.choice(MISSING if leaves_cell else ONE_WORD)
    return data[: cell.start()] + token + data[cell.end() :]


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _byte_set(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.choice(b'\0\t\n\r ,;|"{}[]:<>&0129.-+eE\x7f\x80\xff')
    return bytes(changed)


def _inserted(data: bytes, rng: random.Random) -> bytes:
    place = rng.randint(0, len(data))
    more = rng.choice(HOSTILE) if rng.random() < 0.5 else bytes(rng.choices(range(256), k=rng.randint(1, 20)))
    return data[:place] + more + data[place:]


def _removed(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + data[start + rng.choice((1, 1, 2, 5, 40)) :]


def _cell_replaced(data: bytes, rng: random.Random) -> bytes:
    return _with_cells(data, rng, lambda _: rng.choice(HOSTILE))


def _json_changed(data: bytes, rng: random.Random) -> bytes:
    changed = json_changed(data, rng)
    return _cell_replaced(data, rng) if changed is None else changed


def _cell_swapped(data: bytes, rng: random.Random) -> bytes:
    words = CELL.findall(data[:20_000])
    return _with_cells(data, rng, lambda _: rng.choice(words))


def _number_changed(data: bytes, rng: random.Random) -> bytes:
    return _with_cells(data, rng, lambda cell: _other_number(cell, rng), NUMBER_CELL)


def _other_number(cell: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        (
            b"-" + cell, cell + b"0" * rng.randint(1, 25), cell + b"e%d" % rng.randint(-400, 400),
            cell[::-1], cell * 2, cell + b".%d" % rng.getrandbits(64),
            b"%d" % rng.getrandbits(rng.choice((8, 32, 64, 200))), b"+" + cell,
            b"0" * rng.randint(1, 30) + cell, b" " + cell + b" ", b'"' + cell + b'"',
            cell.replace(b".", b","), cell[: len(cell) // 2],
            cell + rng.choice((b" W", b" mW", b" %", b"Z", b"+01:00", b" MHz", b"(1)")),
        )
    )  # fmt: skip


def _with_cells(
    data: bytes, rng: random.Random, new: Callable[[bytes], bytes], pattern: re.Pattern[bytes] = CELL
) -> bytes:
    cells = list(pattern.finditer(data[:20_000]))
    for cell in sorted(
        rng.sample(cells, min(len(cells), rng.choice((1, 1, 1, 2, 5)))), key=lambda c: -c.start()
    ):
        data = data[: cell.start()] + new(cell[0]) + data[cell.end() :]
    return data


def _line_dropped(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[(start := rng.randint(0, len(lines))) : start + rng.choice((1, 1, 1, 3))]
    return b"".join(lines)


def _line_doubled(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    line = rng.choice(lines) if lines else b"\n"
    lines.insert(rng.randint(0, len(lines)), line * rng.choice((1, 1, 2, 50)))
    return b"".join(lines)


def _lines_shuffled(data: bytes, rng: random.Random) -> bytes:
    head, *rest = data.splitlines(keepends=True) or [b""]
    rng.shuffle(rest)
    return head + b"".join(rest)


def _lines_swapped(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) > 1:
        one, other = rng.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _header_changed(data: bytes, rng: random.Random) -> bytes:
    """Rename, drop, double or exchange names in the first lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    place = rng.randrange(min(len(lines), 2))
    words = list(CELL.finditer(lines[place]))
    if not words:
        return data
    word, other = rng.choice(words), rng.choice(words)
    new = rng.choice(
        (other[0], word[0].upper(), b"x" + word[0], b"", word[0] + b" [mW]", b" " + word[0], b"gpu")
    )
    lines[place] = lines[place][: word.start()] + new + lines[place][word.end() :]
    return b"".join(lines)


def _columns_moved(data: bytes, rng: random.Random) -> bytes:
    """Put the cells of every line in another order, the same for all; a separator may be doubled."""
    lines = data.split(b"\n")
    mark = max((b",", b"\t", b"|", b" "), key=lines[0].count)
    width = lines[0].count(mark) + 1
    order = rng.sample(range(width), width)
    if rng.random() < 0.2:
        order.append(rng.choice(order))
    rows = (line.split(mark) for line in lines)
    return b"\n".join(
        mark.join(row[i] for i in order if i < len(row)) if len(row) > 1 else row[0] for row in rows
    )


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _long_line(data: bytes, rng: random.Random) -> bytes:
    place = rng.randint(0, len(data))
    unit = rng.choice(
        (b"1", b"a", b",", b" ", b'"', b"\t", b"(", b"-", b"1,", b"a=", b"\x80", b"GPU ", b"9.", b"<a>")
    )
    return data[:place] + unit * (rng.choice((100, 5_000, 100_000)) // len(unit)) + data[place:]


def _deep(data: bytes, rng: random.Random) -> bytes:
    place = rng.randint(0, len(data))
    unit, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")")))
    times = rng.choice((3, 900, 20_000))
    return data[:place] + unit * times + end * rng.choice((0, times)) + data[place:]


def _line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(
        b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\x0b", b"\x85", b" \n", b""))
    )


def _repeated(data: bytes, rng: random.Random) -> bytes:
    return data * rng.choice((2, 3, 20))


def _mixed(data: bytes, other: bytes, rng: random.Random) -> bytes:
    lines, more = data.splitlines(keepends=True), other.splitlines(keepends=True)
    place, start = rng.randint(0, len(lines)), rng.randint(0, len(more))
    return b"".join([*lines[:place], *more[start : start + 3], *lines[place:]])


def _gzipped(data: bytes, _: random.Random) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def _gzip_cut(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return (
        packed[: -rng.choice((1, 4, 8, 9, 20))]
        if rng.random() < 0.6
        else packed[: rng.randint(0, len(packed))]
    )


def _gzip_damaged(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return rng.choice(
        (_flipped(packed, rng), packed + b"\0" * 9, packed + b"junk", packed * 2, gzip.compress(packed, 1))
    )


def _utf16(data: bytes, rng: random.Random) -> bytes:
    name, mark = rng.choice((("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)))
    packed = mark + data.decode("utf-8", errors="replace").encode(name)
    return packed if rng.random() < 0.7 else packed[:-1]


def _marked(data: bytes, rng: random.Random) -> bytes:
    return (
        rng.choice(
            (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE, b"\x1f\x8b", b"PAR1", b"\0" * 9)
        )
        + data
    )


CHANGES: tuple[Mutation, ...] = (
    _flipped, _byte_set, _inserted, _removed, _cell_replaced, _cell_swapped, _number_changed, _line_dropped,
    _line_doubled, _lines_shuffled, _lines_swapped, _header_changed, _columns_moved, _cut, _long_line, _deep,
    _line_ends, _repeated, _json_changed,
)  # fmt: skip
WEIGHTS = (6, 6, 6, 6, 30, 8, 25, 5, 4, 3, 4, 8, 3, 5, 2, 1, 3, 2, 1)
WRAPS: tuple[Mutation, ...] = (_gzipped, _gzip_cut, _gzip_damaged, _utf16, _marked)
