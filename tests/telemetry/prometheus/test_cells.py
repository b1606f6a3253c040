"""Cells of JSON: one number in a stated notation, or none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.prometheus.cells import (
    MICROSECONDS_PER_MILLISECOND,
    MICROSECONDS_PER_SECOND,
    instants_of,
    numbers_of,
)

ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
MILLISECONDS = st.integers(0, 4_000_000_000_000)


@given(number=st.floats())
def test_a_number_written_as_text_comes_back_bit_for_bit(number: float):
    """What Go and Python write with enough digits is the same number again; NaN and infinities too."""
    written = repr(number)

    values, n_bad = numbers_of([written, written.replace("inf", "Inf").replace("nan", "NaN")])

    assert n_bad == 0
    np.testing.assert_array_equal(values, [number, number])


@pytest.mark.parametrize("cell", ["", " 1", "1_000", "0x10", "1,5", "٣", "12 W", True, [1], {}, 10**400])
def test_what_is_no_number_costs_itself(cell: object):
    """A cell is accepted only if it reads as exactly one value in a stated notation."""
    values, n_bad = numbers_of(["1", cell, "3"])

    assert n_bad == 1
    np.testing.assert_array_equal(values, [1.0, math.nan, 3.0])


def test_null_is_missing_and_not_bad():
    """A server writes null for NaN."""
    values, n_bad = numbers_of([None, 7])

    assert n_bad == 0
    np.testing.assert_array_equal(values, [math.nan, 7.0])


@given(milliseconds=MILLISECONDS)
def test_every_millisecond_survives_as_a_fraction_of_a_second(milliseconds: int):
    """Seconds as floats lose nothing of what servers keep."""
    of_seconds, _ = instants_of([milliseconds / 1000], microseconds_per_unit=MICROSECONDS_PER_SECOND)
    of_milliseconds, _ = instants_of([milliseconds], microseconds_per_unit=MICROSECONDS_PER_MILLISECOND)

    assert of_seconds.tolist() == of_milliseconds.tolist() == [milliseconds * 10**6]


@given(cells=st.lists(ANYTHING))
def test_any_cell_is_a_number_or_missing_and_an_instant_or_not(cells: list[object]):
    """Nothing from outside crashes a reader, and nothing makes an instant before 1970."""
    values, n_bad = numbers_of(cells)
    time_ns, is_instant = instants_of(cells, microseconds_per_unit=MICROSECONDS_PER_SECOND)

    assert len(values) == len(time_ns) == len(is_instant) == len(cells)
    assert n_bad <= int(np.isnan(values).sum())
    assert (time_ns >= 0).all()
