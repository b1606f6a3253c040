"""Messages of protocol buffers without their schema."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.protobuf_wire import children, fields_of
from telemetry.readers.wandb_files import field


@given(fields=st.lists(st.tuples(st.integers(1, 2000), st.binary(max_size=20) | st.integers(0, 2**63))))
def test_fields_come_back_in_their_order(fields: list[tuple[int, bytes | int]]):
    """Numbers and contents, whatever they are."""
    message = b"".join(field(number, content) for number, content in fields)

    assert list(fields_of(message)) == fields


def test_fixed_widths_are_passed_over_as_bytes():
    """Doubles and floats have no length of their own."""
    assert list(fields_of(b"\x09" + b"12345678" + b"\x15" + b"abcd")) == [(1, b"12345678"), (2, b"abcd")]


def test_children_are_the_messages_of_one_number():
    """An integer under the same number is none."""
    assert list(children(field(3, b"a") + field(3, 7) + field(4, b"b") + field(3, b"c"), 3)) == [b"a", b"c"]


@pytest.mark.parametrize("message", [b"\x08", b"\x12\x05hi", b"\x0b", b"\x09123", b"\xff" * 11])
def test_bytes_that_are_no_message_are_refused(message: bytes):
    """Every length is checked."""
    with pytest.raises(ValueError, match=r"field|number"):
        list(fields_of(message))
