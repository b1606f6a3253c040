"""One sample as a Trace, and cells as numbers: what cannot be a measurement is NaN, never clamped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.telemetry.samplers.sampled import BLANKS, SourceUnavailableError, number, one_sample

DEVICE = Device("GPU-a")
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)


@given(ANY_FLOAT)
def test_a_share_stays_as_it_is_or_becomes_nan(value: float):
    """Nothing outside 0..1 by more than rounding is a share; nothing is moved to the edge."""
    found = float(one_sample(DEVICE, 1, {"tensor_active_ratio": value})["tensor_active_ratio"][0])

    assert found == value if -0.02 <= value <= 1.02 else np.isnan(found)


@given(ANY_FLOAT)
def test_any_finite_gauge_is_kept(value: float):
    """A Trace refuses infinities; everything else passes bit for bit."""
    found = float(one_sample(DEVICE, 1, {"power_watts": value})["power_watts"][0])

    assert found == value if np.isfinite(value) else np.isnan(found)


@given(st.floats(min_value=-1e30, max_value=1e30))
def test_a_number_is_read_as_it_was_printed(value: float):
    """Whatever the notation, and with a unit behind it."""
    assert number(f" {value!r} W") == value


@pytest.mark.parametrize(
    "cell", ["", "-", "N/A", "[N/A]", "[Unknown Error]", "ERR!", "<<<NULL>>>", "0xZZ", "x"]
)
def test_words_for_no_answer_are_nan(cell: str):
    """A text that is no number is no zero."""
    assert np.isnan(number(cell))


@pytest.mark.parametrize("blank", sorted(BLANKS))
def test_blanks_of_dcgm_are_nan(blank: float):
    """They look like numbers, and are none."""
    assert np.isnan(number(f"{blank:.0f}"))


def test_an_unavailable_source_says_why_and_what_to_do():
    """One line: source, reason, remedy."""
    error = SourceUnavailableError("nvml", "no driver", remedy="load it")

    assert str(error) == "nvml: no driver; load it"
