"""Files of thresholds: TOML tables that say figure, convention, source and whether the source was read."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Threshold
from flopwitness.storage.atomic import read_bytes
from flopwitness.storage.documents import SHOWN_CHARACTERS

KIND, VERSION = "flopwitness-rules", 1
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_FLOP = 1e300
"""Beyond any computation, and still a float when doubled."""

TABLES = ("threshold", "without_figure")


@dataclass(frozen=True, slots=True)
class RuleWithoutFigure:
    """A rule whose threshold is not recorded: nothing can be weighed against it, yet it is known of.

    Attributes
    ----------
    name, title, jurisdiction, measured, status, citation : str
        As in ``Threshold``.
    """

    name: str
    title: str
    jurisdiction: str
    measured: str
    status: str
    citation: str


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What one file of rules holds, in its order."""

    thresholds: tuple[Threshold, ...]
    without_figure: tuple[RuleWithoutFigure, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a field must be."""

    expected: str
    fits: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


_TEXT = _Kind("a text that is not empty", _is_text)
_FLAG = _Kind("true or false", lambda value: isinstance(value, bool))
_NAME = _Kind(
    "lower-case words with hyphens between them",
    lambda value: isinstance(value, str) and NAME.fullmatch(value) is not None,
)
_FLOP = _Kind(
    "a positive finite number",
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < MOST_FLOP,
)
_TEXTS = _Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)))
_DATE = _Kind(
    "a date such as 2025-11-19", lambda value: isinstance(value, date) and not isinstance(value, datetime)
)

_COMMON: Mapping[str, _Kind] = MappingProxyType(
    {"name": _NAME} | dict.fromkeys(("title", "jurisdiction", "measured", "status", "citation"), _TEXT)
)
_REQUIRED: Mapping[str, _Kind] = MappingProxyType(
    {**_COMMON, "flop": _FLOP, "is_strict": _FLAG, "convention": _NAME, "conditions": _TEXTS}
)
_OPTIONAL: Mapping[str, _Kind] = MappingProxyType({"url": _TEXT, "text_date": _DATE, "is_verified": _FLAG})


def read_rules(path: Path) -> RuleFile:
    """Read a file of thresholds.

    Raises
    ------
    BadInputError
        Naming the file, the table and the field, when it cannot be read, is no such file, a field is missing,
        unknown or unfit, or a name stands twice.
    """
    content = _content(path)
    thresholds = tuple(_threshold(fields) for fields in _tables(content, path, table="threshold"))
    without = tuple(RuleWithoutFigure(**fields) for fields in _tables(content, path, table="without_figure"))
    names: set[str] = set()
    for name in [rule.name for rule in thresholds] + [rule.name for rule in without]:
        if name in names:
            raise BadInputError(str(path), f"rule {name!r}", expected="a name of its own", got="it twice")
        names.add(name)
    return RuleFile(thresholds, without)


def _content(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), "", expected="TOML", got=str(error)) from error
    for field, expected in (("format", KIND), ("version", VERSION)):
        if content.pop(field, None) != expected:
            raise BadInputError(str(path), f"field {field!r}", expected=repr(expected), got="another or none")
    if strange := sorted(set(content) - set(TABLES)):
        expected = " and ".join(f"[[{table}]]" for table in TABLES)
        raise BadInputError(str(path), "", expected=f"{expected} only", got=repr(strange[0]))
    if not any(content.values()):
        raise BadInputError(str(path), "", expected="at least one [[threshold]]", got="none")
    return content


def _tables(content: Mapping[str, Any], path: Path, *, table: str) -> list[dict[str, Any]]:
    found = content.get(table, [])
    if not isinstance(found, list) or not all(isinstance(fields, dict) for fields in found):
        raise BadInputError(str(path), table, expected=f"tables [[{table}]]", got="something else")
    for number, fields in enumerate(found, 1):
        _check(fields, path, place=f"{table} {number}", required=_REQUIRED if table == TABLES[0] else _COMMON)
    return found


def _check(fields: Mapping[str, Any], path: Path, *, place: str, required: Mapping[str, _Kind]) -> None:
    """Refuse a missing, an unknown or an unfit field, the name first: then messages can use it."""
    known = {**required, **(_OPTIONAL if required is _REQUIRED else {})}
    for field, kind in known.items():
        if field in fields and not kind.fits(fields[field]):
            got = repr(fields[field])[:SHOWN_CHARACTERS]
            raise BadInputError(str(path), f"{place}, field {field!r}", expected=kind.expected, got=got)
        if field in required and field not in fields:
            raise BadInputError(str(path), f"{place}, field {field!r}", expected=kind.expected, got="none")
        if field == "name":
            place = f"{place} ({fields[field]})"
    if strange := sorted(set(fields) - set(known)):
        expected = f"one of {', '.join(known)}"
        raise BadInputError(str(path), place, expected=expected, got=f"field {strange[0]!r}")


def _threshold(fields: Mapping[str, Any]) -> Threshold:
    return Threshold(**{**fields, "flop": float(fields["flop"]), "conditions": tuple(fields["conditions"])})
