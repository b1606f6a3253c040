"""Free text, line by line."""

from contracts.format import codes
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.text_lines import text_lines


def test_blank_lines_are_passed_over_and_numbers_are_those_of_the_file():
    """Also in Windows' line ends and what is no UTF-8; a last line without an end is given up."""
    context = Context(Input.of_bytes(b"\r\n a \r\n\n\xff\nhalf"))

    (found,) = text_lines(context)

    assert found.text.to_pylist() == ["a", "\ufffd"]
    assert found.lines.tolist() == [2, 4]
    assert "truncated" in codes(context.notes.findings())
