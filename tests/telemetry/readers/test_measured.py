"""Cells that carry more than a number."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.measured import read_measured, without_unit

VALUES = st.lists(st.integers(0, 10**7).map(lambda milli: milli / 1000), min_size=1, max_size=20)


@given(values=VALUES, unit=st.sampled_from(["W", "MHz", "%", "MiB"]), carried=st.data())
def test_a_unit_behind_a_number_changes_nothing(values: list[float], unit: str, carried: st.DataObject):
    """With a blank, without one, or not at all, row by row."""
    ends = [carried.draw(st.sampled_from(["", unit, f" {unit}"])) for _ in values]
    cells = pa.array([f"{value}{end}" for value, end in zip(values, ends, strict=True)])

    found = read_measured(cells, unit)

    assert found.values.tolist() == values
    assert not found.is_bad.any()


def test_another_unit_makes_a_cell_bad():
    """A milliwatt is no watt; the cell costs itself."""
    found = read_measured(pa.array(["412.10 W", "412 mW", "412 V"]), "W")

    assert found.is_bad.tolist() == [False, True, True]
    assert np.isnan(found.values[1:]).all()


def test_masks_remarks_and_blanks_are_told_apart():
    """Hexadecimal masks, numbers with a remark, missing tokens."""
    found = read_measured(pa.array(["0x0000000000000004", "20000000000(18.63GB/s)", "[N/A]", "0xZZ"]))

    assert str(found.values.tolist()) == "[4.0, 20000000000.0, nan, nan]"
    assert found.is_missing.tolist() == [False, False, True, False]


def test_a_cell_that_is_its_unit_alone_is_missing():
    """`` W`` holds no number."""
    assert without_unit(pa.array([" W"]), "W").to_pylist() == [""]
