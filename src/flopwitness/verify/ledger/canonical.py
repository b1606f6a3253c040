"""JSON in one spelling only (RFC 8785), so that equal values have equal bytes and hence equal hashes."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import rfc8785

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.strict_json import object_of, refuse_constant

SAFE_INTEGER = 2**53 - 1
"""JSON numbers are doubles (RFC 8785, 3.2.2.3): larger whole numbers, such as instants, are kept as texts."""

PLAIN_FROM, PLAIN_BELOW = 1e-4, 1e21
"""ECMAScript writes doubles from 1e-6 to 1e21 without an exponent, Python's ``repr`` from 1e-4 to 1e16."""


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON, UTF-8, without a newline.

    Most values go through Python's own encoder, five times as fast as ``rfc8785``; what the two spell
    differently (small fractions, keys beyond ASCII) goes through ``rfc8785``.

    Raises
    ------
    InvalidNounError
        When it holds NaN, an infinite number, a whole number beyond 2^53, a lone surrogate, a key that is no
        text, or a type that JSON lacks.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": [1e20, None], "c": 1e-7})
    b'{"a":[100000000000000000000,null],"b":1,"c":1e-7}'
    """
    try:
        return _by_own_encoder(value)
    except _SpeltOtherwiseError:
        return _by_reference(value)
    except (UnicodeEncodeError, RecursionError) as error:
        raise InvalidNounError(f"no canonical JSON: {type(error).__name__}") from None


def parsed(line: bytes) -> dict[str, Any]:
    """Return the object that a line of JSON holds; whole numbers beyond 2^53 become doubles again.

    Raises
    ------
    InvalidNounError
        When it is no JSON object, or holds NaN or a key twice.
    """
    try:
        content = json.loads(
            line, parse_constant=refuse_constant, parse_int=_number, object_pairs_hook=object_of
        )
    except (ValueError, RecursionError) as error:
        raise InvalidNounError(f"no JSON: {error}") from None
    if not isinstance(content, dict):
        raise InvalidNounError(f"no JSON object but {type(content).__name__}")
    return content


class _SpeltOtherwiseError(Exception):
    """Python's encoder would not spell it as RFC 8785 does."""


_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,  # ``_spelt`` has walked through it all, and made it new
    separators=(",", ":"),
    sort_keys=True,
)


def _by_own_encoder(value: Any) -> bytes:
    return _ENCODER.encode(_spelt(value)).encode()


def _by_reference(value: Any) -> bytes:
    try:
        return rfc8785.dumps(_plain(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidNounError(f"no canonical JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Return a value whose objects are dicts, which ``rfc8785`` asks for."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _spelt(value: Any) -> Any:
    """Return a value that Python's encoder spells as ECMAScript would."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is float:
        return _spelt_float(value)
    if kind is dict:
        return {_spelt_key(key): _spelt(inner) for key, inner in value.items()}
    if kind is list or kind is tuple:
        return [_spelt(inner) for inner in value]
    if kind is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return value
    if isinstance(value, Mapping):
        return _spelt(dict(value))
    raise _SpeltOtherwiseError


def _spelt_float(value: float) -> float | int:
    size = abs(value)
    if size < PLAIN_BELOW and value.is_integer():
        return int(value) if size <= SAFE_INTEGER else int(Decimal(repr(value)))
    if PLAIN_FROM <= size < float("inf"):
        return value
    raise _SpeltOtherwiseError


def _spelt_key(key: Any) -> str:
    """Return a key that sorts by UTF-16 units as it does by code points."""
    if type(key) is str and key.isascii():
        return key
    raise _SpeltOtherwiseError


def _number(digits: str) -> int | float:
    value = int(digits)
    return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else float(digits)
