"""Files of scopes: what is to be added up, who claims how much of it, and what else was declared. TOML."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flopwitness.core.account import Scope
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.verdict import Claim
from flopwitness.storage.atomic import read_bytes
from flopwitness.storage.documents import SHOWN_CHARACTERS

KIND, VERSION = "flopwitness-scope", 1
FIELDS = ("format", "version", "name", "devices", "chip", "start", "stop", "claim", "declared")
CLAIM_FIELDS = ("declarant", "flop", "convention", "margin")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """What a file says of a scope.

    Attributes
    ----------
    scope : Scope
        Devices and period.
    chip : str
        What devices are that no evidence speaks of; empty where the file does not say.
    claim : Claim or None
        What is claimed of the scope.
    declared : mapping of str to float
        What was declared beside it.
    """

    scope: Scope
    chip: str = ""
    claim: Claim | None = None
    declared: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def read_scope(path: Path) -> ScopeFile:
    """Read a scope.

    Raises
    ------
    BadInputError
        Naming the file and the field, when it cannot be read, a field is missing, unknown or unfit, an
        instant has no zone, or the period is empty.
    """
    content = _content(path)
    _require_known(content, FIELDS, path, place="")
    devices = _field(content, "devices", path, expected="a list of device UUIDs")
    if not isinstance(devices, list) or not all(isinstance(uuid, str) and uuid for uuid in devices):
        raise _unfit(path, "field 'devices'", expected="a list of device UUIDs", got=devices)
    try:
        scope = Scope(
            _text(content, "name", path),
            tuple(sorted(devices)),
            _instant_ns(content, "start", path),
            _instant_ns(content, "stop", path),
        )
    except InvalidNounError as error:
        raise BadInputError(str(path), "", expected="a scope of something", got=str(error)) from None
    chip = _text(content, "chip", path) if "chip" in content else ""
    return ScopeFile(scope, chip, _claim(content, path), _declared(content, path))


def _content(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), "", expected="TOML", got=str(error)) from error
    for name, expected in (("format", KIND), ("version", VERSION)):
        if content.get(name) != expected or isinstance(content[name], bool):
            raise _unfit(path, f"field {name!r}", expected=repr(expected), got=content.get(name))
    return content


def _claim(content: Mapping[str, Any], path: Path) -> Claim | None:
    if "claim" not in content:
        return None
    table = _table(content, "claim", path)
    _require_known(table, CLAIM_FIELDS, path, place="table [claim], ")
    where = "table [claim], "
    try:
        return Claim(
            _text(table, "declarant", path, where),
            _number(table, "flop", path, where),
            _text(table, "convention", path, where),
            _number(table, "margin", path, where) if "margin" in table else 0.0,
        )
    except InvalidNounError as error:
        raise BadInputError(str(path), "table [claim]", expected="a claim", got=str(error)) from None


def _declared(content: Mapping[str, Any], path: Path) -> Mapping[str, float]:
    table = _table(content, "declared", path) if "declared" in content else {}
    return MappingProxyType({name: _number(table, name, path, "table [declared], ") for name in table})


def _table(content: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    table = content[name]
    if not isinstance(table, dict):
        raise _unfit(path, name, expected=f"a table [{name}]", got=table)
    return table


def _require_known(table: Mapping[str, Any], names: tuple[str, ...], path: Path, *, place: str) -> None:
    """Refuse a field that nobody knows: a misspelt one must not be passed over."""
    if strange := sorted(set(table) - set(names)):
        expected = f"one of {', '.join(names)}"
        raise BadInputError(str(path), f"{place}field {strange[0]!r}", expected=expected, got="another")


def _field(table: Mapping[str, Any], name: str, path: Path, *, expected: str, place: str = "") -> Any:
    if name not in table:
        raise BadInputError(str(path), f"{place}field {name!r}", expected=expected, got="none")
    return table[name]


def _text(table: Mapping[str, Any], name: str, path: Path, place: str = "") -> str:
    expected = "a text that is not empty"
    value = _field(table, name, path, expected=expected, place=place)
    if not isinstance(value, str) or not value.strip():
        raise _unfit(path, f"{place}field {name!r}", expected=expected, got=value)
    return value


def _number(table: Mapping[str, Any], name: str, path: Path, place: str) -> float:
    expected = "a number"
    value = _field(table, name, path, expected=expected, place=place)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unfit(path, f"{place}field {name!r}", expected=expected, got=value)
    return float(value)


def _instant_ns(table: Mapping[str, Any], name: str, path: Path) -> int:
    """Return an instant; one without a zone could be anywhere within a day."""
    expected = "a date and time with a zone, such as 2026-11-30T09:00:00Z"
    value = _field(table, name, path, expected=expected)
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise _unfit(path, f"field {name!r}", expected=expected, got=value)
    since = value - EPOCH
    return (since.days * 86_400 + since.seconds) * NANOSECONDS_PER_SECOND + since.microseconds * 1_000


def _unfit(path: Path, where: str, *, expected: str, got: object) -> BadInputError:
    return BadInputError(str(path), where, expected=expected, got=repr(got)[:SHOWN_CHARACTERS])
