"""Text cells to numbers and instants."""

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.cells import MISSING_TOKENS, read_instants, read_numbers

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(FLOATS, min_size=1))
def test_every_float_survives_its_text(values: list[float]):
    """The shortest text of a float reads as the same float."""
    blanks = {float(value) for value in (0x7FFFFFF0, 140737488355328, 0x7FFFFFFFFFFFFFF0)}
    values = [value for value in values if value not in blanks] or [1.0]

    assert read_numbers(pa.array(map(repr, values))).values.tolist() == values


@given(values=st.lists(st.floats(-1e30, 1e30), min_size=1), token=st.sampled_from(MISSING_TOKENS))
def test_one_missing_token_changes_no_other_cell(values: list[float], token: str):
    """The careful way of reading gives what the quick one gives."""
    plain = read_numbers(pa.array(f"{value:.6f}" for value in values))
    mixed = read_numbers(pa.array([*(f"{value:.6f}" for value in values), token.upper()]))

    assert mixed.values[:-1].tolist() == plain.values.tolist()
    assert mixed.is_missing.tolist() == [False] * len(values) + [True]


@given(texts=st.lists(st.text(max_size=12), min_size=1))
def test_any_text_is_a_number_or_missing_or_bad_or_infinite(texts: list[str]):
    """Nothing crashes, and each cell without a value has exactly one reason."""
    cells = read_numbers(pa.array(texts))

    reasons = cells.is_missing.astype(int) + cells.is_bad + cells.is_infinite
    assert reasons.tolist() == np.isnan(cells.values).astype(int).tolist()


@pytest.mark.parametrize(
    "text", ["1_0", "0x10", "1,5", "12 W", "1e", "--1", "1.2.3", "١٢", "1e999x", "20(1GB/s)", "true"]
)
def test_what_is_almost_a_number_is_bad(text: str):
    """A cell is accepted only if it reads as exactly one decimal number."""
    assert read_numbers(pa.array([text, "x"])).is_bad.tolist() == [True, True]


@given(nanoseconds=st.lists(st.integers(0, 9_223_372_035_999_999_999), min_size=1))
def test_every_nanosecond_survives_its_text(nanoseconds: list[int]):
    """Nine decimals are exact over the whole range of int64."""
    text = pa.array(str(Decimal(value) / 10**9) if value % 2 else f"{value // 10**9}.{value % 10**9:09d}"
                    for value in nanoseconds)  # fmt: skip

    time_ns, is_instant = read_instants(text, read_numbers(text))

    inside = [value for value, good in zip(nanoseconds, is_instant, strict=True) if good]
    assert time_ns[is_instant].tolist() == inside
    assert all(
        math.isclose(value, 9_223_372_036e9, rel_tol=1e-15) for value in set(nanoseconds) - set(inside)
    )


def test_more_decimals_than_nanoseconds_are_rounded():
    """Also in the company of cells that are none."""
    text = pa.array(["1.0000000004999999999", "1.0000000006", "+2.5", "x", "1e-30", "9223372036"])

    time_ns, is_instant = read_instants(text, read_numbers(text))

    assert time_ns.tolist() == [1_000_000_000, 1_000_000_001, 2_500_000_000, 0, 0, 0]
    assert is_instant.tolist() == [True, True, True, False, False, False]
