"""One value, one spelling: that of RFC 8785."""

import json
import math
import struct
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify.ledger.canonical import SAFE_INTEGER, canonical, parsed

NUMBERS = st.integers(-SAFE_INTEGER, SAFE_INTEGER) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(value=VALUES)
@example(value={"\ue000": 1, "\U0001f600": 2, "a": -0.0})
@example(value=[1e16, 123456789e12, 1e21, 1e-4, 9.999e-5, 1e-7, 5e-324, 1.7976931348623157e308])
def test_it_spells_as_the_reference_does(value: object):
    """The quick way and the package agree on every value."""
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)
def test_numbers_are_those_of_the_standards_appendix(bits: str, text: str):
    """RFC 8785, appendix B: doubles by their bits, and how they are spelt."""
    (number,) = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical(number).decode() == text


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_comes_back_as_it_was(number: float):
    """Also one that is spelt as a whole number beyond 2^53."""
    back = parsed(canonical({"x": number}))["x"]

    assert float(back) == number
    assert canonical({"x": back}) == canonical({"x": number})


def test_objects_of_any_mapping_are_spelt():
    """Also where the quick way gives up."""
    assert canonical(MappingProxyType({"a": MappingProxyType({"b": 1e-9})})) == b'{"a":{"b":1e-9}}'


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 2**53, {1: 2}, b"x", "\ud800", {"\ud800": 1}]
)
def test_what_has_no_canonical_form_is_refused(value: object):
    """Nothing is rounded or replaced silently."""
    with pytest.raises(InvalidNounError, match="canonical"):
        canonical({"x": value})


@pytest.mark.parametrize("line", [b"", b"[1]", b'{"x": NaN}', b'{"x":1,"x":1}', b'{"x":', b"\xff"])
def test_what_is_no_object_is_refused(line: bytes):
    """A key twice has two readings, NaN has none."""
    with pytest.raises(InvalidNounError):
        parsed(line)


def test_a_deep_nest_is_refused_and_no_crash():
    """Somebody else's file may hold anything."""
    with pytest.raises(InvalidNounError):
        parsed(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_instants_beyond_doubles_are_not_whole_numbers():
    """Nanoseconds since 1970 exceed 2^53: they are kept as texts."""
    with pytest.raises(InvalidNounError):
        canonical(1_800_000_000_000_000_001)
    assert json.loads(canonical(str(1_800_000_000_000_000_001))) == "1800000000000000001"
