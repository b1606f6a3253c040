"""What damaged files hold: words that look like numbers and are none, numbers past every limit, odd JSON."""

import json
import random
from typing import Any

MISSING = (b"", b"N/A", b"[N/A]", b"-", b"nan", b"NaN", b"null", b"None", b"[Unknown Error]", b"ERR!")
HOSTILE = (
    *MISSING, b"inf", b"-inf", b"Infinity", b"1e400", b"-1e400", b"1e-400", b"-1", b"-0", b"0", b"1e308",
    b"5e-324", b"9223372036854775807", b"9223372036854775794", b"18446744073709551615", b"140737488355328",
    b"4294967295", b"9" * 400, b"1" + b"0" * 5000, b"0x7ffffff0", b"0x" + b"f" * 40, b"1,5", b"1.2.3",
    b"--1", b"+-5", b"1_000", b"0x1p3", b"true", b"false", b"{}", b"[]", b'""', b'"', b"'", b"\\",
    b"\\u0000", b"\x00", b"\xff\xfe", b"\xc3", "\u0661\u0662".encode(), "\uff11".encode(),
    "\u00bd".encode(), "\u2028".encode(), "\u202e".encode(), b"%s%n", "\U0001f4a9".encode(), b"=cmd()",
    b"<x>", b"<!DOCTYPE a>", b"&a;", b"2026-02-30", b"2026/13/01 25:61:61", b"12:60",
    b"0001-01-01 00:00:00", b"9999-12-31T23:59:59.999999999Z", b"1969-12-31 23:59:59",
    b"2026-02-03T04:05:60Z", b"1e18", b"-62135596800", b"253402300800", b"0.0000000000000000001",
    b"1770091506.", b".5", b"5.", b"GPU-", b"__proto__", b"a" * 300, b"\r", b"\x0b", b"\x1c", b"\x85",
    b"*", b"#", b"//", b"$HOME", b"1 2", b"1%", b"1W",
)  # fmt: skip

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 0.5, 1e308, -1e308, 10**30, 2**63, 2**64, 10**400, float("nan"), float("inf"),
    "", "N/A", "NaN", "+Inf", "1e400", "-1", "0", "a\nb", "\u2028", "\ud800", [], {}, [[]], [None],
    {"": None}, [1, "a"], 1770091506, 1e18,
)  # fmt: skip
ODD_KEYS = ("", "a", "value", "values", "timestamp", "__name__", "gpu", "0", "\n", "\0", "uuid", "x" * 200)


def json_changed(data: bytes, rng: random.Random) -> bytes | None:
    """Change a value or a key of the document, or of one of its lines; None for what is no JSON."""
    whole = data.strip()
    line = whole if rng.random() < 0.5 else rng.choice(whole.splitlines() or [b""])
    try:
        document = json.loads(line[:20_000])
    except (ValueError, RecursionError):
        return None
    holders = [each for each in _holders(document) if each]
    if not holders:
        return None
    holder = rng.choice(holders)
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if isinstance(holder, dict) and rng.random() < 0.25:
        holder[rng.choice(ODD_KEYS)] = holder.pop(key)
    elif rng.random() < 0.15:
        del holder[key]
    else:
        found = holder[key]
        holder[key] = rng.choice((*ODD_VALUES, [found], {"a": found}, str(found)))
    try:
        return data.replace(line, json.dumps(document).encode(), 1)
    except RecursionError:
        return None


def _holders(document: object) -> list[Any]:
    """Return every list and object of a document."""
    found, waiting = [], [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            found.append(each)
            waiting.extend(each.values() if isinstance(each, dict) else each)
    return found
