"""What two readers of one JSON text could take differently is refused."""

import json
from typing import Any

import pytest

from flopwitness.core.strict_json import object_of, refuse_constant


def read(text: str) -> Any:
    """Read a text as every document and ledger line is read."""
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=object_of)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_words_that_are_no_numbers_are_refused(text: str) -> None:
    """Python reads them; JSON has none."""
    with pytest.raises(ValueError, match="which is no JSON"):
        read(text)


def test_a_key_that_stands_twice_is_refused():
    """One reader takes the first value, another the last."""
    with pytest.raises(ValueError, match="twice"):
        read('{"a": 1, "b": {"c": 1, "c": 2}}')


def test_everything_else_is_read_as_it_is():
    """Order and nesting stay."""
    assert read('{"b": [1, 2.5, null], "a": {"c": "d"}}') == {"b": [1, 2.5, None], "a": {"c": "d"}}
