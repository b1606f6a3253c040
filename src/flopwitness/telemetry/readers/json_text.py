"""JSON of unknown origin: read whole, bounded, and forgiving only where a format is known to need it."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from flopwitness.telemetry.readers.cells import BLANK_NUMBERS, MISSING_TOKENS, NUMBER_PATTERN
from flopwitness.telemetry.readers.reading import Context

NUMBER = re.compile(NUMBER_PATTERN, re.ASCII)
STRING_OR_WORD = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(?P<sign>-?)(?P<word>\b(?:inf(?:inity)?|nan)\b)', re.IGNORECASE | re.DOTALL
)
"""A JSON string, which is passed over, or a word that C's ``printf`` writes for a number that is none."""


def json_of(context: Context, text: str, *, forgives_words: bool = False) -> Any:
    """Return what a JSON text holds; ``NaN`` and the infinities become floats, as Python reads them.

    Parameters
    ----------
    context : Context
        Names the file in errors.
    text : str
        The document.
    forgives_words : bool
        Whether bare ``inf`` and ``nan``, which are no JSON, are read as well.

    Raises
    ------
    BadInputError
        When it is no JSON, nested too deep, or holds an integer of thousands of digits.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if forgives_words and isinstance(error, json.JSONDecodeError):
            return json_of(context, STRING_OR_WORD.sub(_json_word, text))
        raise context.refused("", expected="JSON", got=_reason(error)) from None


def number_of(value: object) -> float | None:
    """Return a JSON value as a finite number; None where it holds none: a blank, a truth value, a list.

    Examples
    --------
    >>> number_of(3), number_of("17.0"), number_of("N/A"), number_of(True), number_of(float("inf"))
    (3.0, 17.0, None, None, None)
    """
    if isinstance(value, str):
        cell = value.strip().lower()
        if cell in MISSING_TOKENS or cell.lstrip("+-").startswith("nan") or not NUMBER.match(cell):
            return None
        found = float(cell)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    else:
        try:
            found = float(value)
        except OverflowError:
            return None
    return found if math.isfinite(found) and found not in BLANK_NUMBERS else None


def objects_in(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object of a document, the outer ones first, without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
            waiting.extend(reversed(found.values()))
        elif isinstance(found, list):
            waiting.extend(reversed(found))


def _json_word(match: re.Match[str]) -> str:
    word = match["word"]
    if word is None:
        return match[0]
    return "NaN" if word.lower() == "nan" else f"{match['sign']}Infinity"


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} in line {error.lineno}, character {error.colno}"
    return "a text nested too deep" if isinstance(error, RecursionError) else "an integer that has no end"
