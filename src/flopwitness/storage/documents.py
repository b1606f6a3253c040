"""Versioned JSON: a plain object that says its format and version; sorted, and without NaN."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopwitness.core.errors import BadInputError
from flopwitness.core.strict_json import object_of, refuse_constant
from flopwitness.storage.atomic import read_bytes, write_atomically

SHOWN_CHARACTERS = 60
"""How much of a foreign text a message repeats."""


def to_json(content: Mapping[str, Any], *, source: str, indent: int | None = None) -> bytes:
    """Return an object as UTF-8 JSON with sorted keys.

    Raises
    ------
    BadInputError
        When it holds a NaN, an infinite number, a key that is no text, or what JSON does not know.
    """
    try:
        _refuse_strange_keys(content)
        text = json.dumps(content, sort_keys=True, allow_nan=False, ensure_ascii=False, indent=indent)
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInputError(
            source, "", expected="finite numbers, texts, lists, objects", got=str(error)
        ) from error


def from_json(data: bytes, *, source: str, kind: str, version: int) -> dict[str, Any]:
    """Return the object in ``data`` after checking its format and version.

    Raises
    ------
    BadInputError
        When it is no JSON object, holds NaN or a key twice, or is of another format or version.
    """
    try:
        content = json.loads(data, parse_constant=refuse_constant, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        raise BadInputError(source, "", expected="JSON", got=str(error)) from error
    if not isinstance(content, dict) or content.get("format") != kind:
        got = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise BadInputError(source, "field 'format'", expected=repr(kind), got=repr(got)[:SHOWN_CHARACTERS])
    if content.get("version") != version or isinstance(content["version"], bool):
        got = repr(content.get("version"))[:SHOWN_CHARACTERS]
        raise BadInputError(source, "field 'version'", expected=str(version), got=got)
    return content


def write_document(path: Path, content: Mapping[str, Any], *, replace: bool = False) -> None:
    """Write an object as indented JSON, whole or not at all; errors of ``to_json`` and the disk."""
    data = to_json(content, source=str(path), indent=1)
    write_atomically(path, lambda out: out.write(data), replace=replace)


def read_document(path: Path, *, kind: str, version: int) -> dict[str, Any]:
    """Read an object of one format and version; errors of ``from_json`` and the disk."""
    return from_json(read_bytes(path), source=str(path), kind=kind, version=version)


def _refuse_strange_keys(value: Any) -> None:
    """Refuse keys that JSON would silently turn into texts: they would not come back."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"key {key!r}, which is no text")
            _refuse_strange_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_strange_keys(inner)
