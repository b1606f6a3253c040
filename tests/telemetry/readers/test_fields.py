"""What a field is: channel, unit, and what is impossible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.channels import CANONICAL
from flopwitness.telemetry.readers.fields import Field, in_base_units, in_unit, percent, plain, possible

CELLS = st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("unit", "cell", "watts"),
    [("W", 412.1, 412.1), ("mW", 412_100.0, 412.1), ("kW", 0.5, 500.0), ("uW", 2e6, 2.0)],
)
def test_the_same_quantity_in_any_unit_is_the_same(unit: str, cell: float, watts: float):
    """Scaling the unit scales nothing else."""
    field = in_unit("power_watts", unit)

    assert field is not None
    assert in_base_units(field, np.array([cell]))[0].tolist() == [watts]


@given(cells=CELLS, channel=st.sampled_from(sorted(CANONICAL)))
def test_only_what_can_be_a_measurement_is_left(cells: list[float], channel: str):
    """Never clamped: what is impossible is NaN and marked."""
    values, is_impossible = in_base_units(plain(channel), np.array(cells))

    least, largest = possible(channel)
    known = values[~np.isnan(values)]
    assert ((known >= least) & (known <= largest)).all()
    assert np.isnan(values[is_impossible]).all()


def test_a_little_rounding_beyond_a_ratio_is_kept():
    """Two percent; further out it is no measurement."""
    values, is_impossible = in_base_units(percent("tensor_active_ratio"), np.array([101.9, 102.1, -3.0]))

    assert str(values.tolist()) == "[1.0190000000000001, nan, nan]"
    assert is_impossible.tolist() == [False, True, True]


def test_a_fields_own_blanks_are_missing_not_impossible():
    """A fan at -1 is not supported."""
    values, is_impossible = in_base_units(
        Field("temperature_celsius", blanks=(-1.0,)), np.array([-1.0, 40.0])
    )

    assert str(values.tolist()) == "[nan, 40.0]"
    assert not is_impossible.any()
