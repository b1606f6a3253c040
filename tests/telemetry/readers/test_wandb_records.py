"""JSON objects of W&B."""

import pytest

from contracts.format import codes
from flopwitness.telemetry.readers.inputs import Block, Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.wandb_records import is_blank, records


def context_of() -> Context:
    """Return a pass over nothing."""
    return Context(Input.of_bytes(b""))


def test_a_record_has_an_instant_and_numbers():
    """Objects and texts within are none; a blank is no number and no fault."""
    context = context_of()
    line = b'{"_timestamp": 1.5, "a": 1, "b": null, "c": {"d": 1}, "e": "word"}\n\n'

    (record,) = records(context, Block(line, 3))

    assert (record.line, record.time_ns) == (3, 1_500_000_000)
    assert str(record.numbers(context)) == "{'_timestamp': 1.5, 'a': 1.0, 'b': nan, 'e': nan}"
    assert codes(context.notes.findings()) == {"bad-cell"}


@pytest.mark.parametrize(
    "line", [b"[]", b"{}", b'{"_timestamp": -1}', b'{"_timestamp": 1e300}', b"[" * 100_000]
)
def test_a_line_without_an_instant_is_counted(line: bytes):
    """It costs itself."""
    context = context_of()

    assert list(records(context, Block(line + b"\n", 1))) == []
    assert codes(context.notes.findings()) == {"bad-row"}


@pytest.mark.parametrize(
    ("value", "expected"), [("NaN", True), ("-Infinity", True), (None, True), ("x", False)]
)
def test_words_for_no_number(value: object, expected: bool):
    """As W&B writes them."""
    assert is_blank(value) is expected
